"""Requests and answers on the wire, against the fake API server; the numbers are those of the list of cases."""

import json
import sys
import threading
import traceback

import pytest

from azureml_k8s.cluster_resolver import ExecutableLocation, KubernetesApiError, KubernetesClusterResolver

from .fake_api import Answer, FakeApiServer, status_answer
from .helpers import json_pod

UNAVAILABLE = status_answer(503, "ServiceUnavailable", "apiserver is shutting down")


def workers(resolver):
    return [address.removesuffix(":8470") for address in resolver.cluster_spec().job_tasks("worker")]


def test_case_73_kubeconfig(server, api, resolver):
    """With a kubeconfig, the list is asked for with its token, and the selector as it is."""
    api.put(json_pod("w-0", "10.0.0.1"), json_pod("other", labels={"job-name": "x"}))
    assert workers(resolver(executable_location=ExecutableLocation.OFF_CLUSTER)) == ["10.0.0.1"]
    (request,) = api.seen
    assert request.path == "/api/v1/pods"
    assert request.query == {"labelSelector": "job-name=tensorflow", "limit": "500"}
    assert request.headers["authorization"].lower() == "bearer good-token"


def test_selectors_go_word_for_word(server, api, resolver):
    """Set-based selectors arrive as they were given, and work."""
    for i, tier in enumerate("abc"):
        api.put(json_pod(f"w-{i}", f"10.0.0.{i}", labels={"tier": tier}))
    assert workers(resolver({"worker": ["tier in (a, c),!x"]})) == ["10.0.0.0", "10.0.0.2"]
    assert api.seen[0].query["labelSelector"] == "tier in (a, c),!x"


def test_bad_selector_is_explained(server, resolver):
    """A selector that the server cannot parse is a RuntimeError with 400 and the parser's words; it is not repeated."""
    with pytest.raises(RuntimeError, match="unable to parse requirement: found '-'") as caught:
        resolver({"worker": "-"}).cluster_spec()
    assert caught.value.status == 400
    assert len(server.api.seen) == 1


def test_case_74_forbidden_everywhere(server, api, resolver):
    """403 at the cluster's scope points to namespace= and a ClusterRole; nothing else is tried instead."""
    api.forbidden.add(("list", None))
    with pytest.raises(KubernetesApiError, match=r"HTTP 403: pods is forbidden.*namespace=.*ClusterRole") as caught:
        resolver().cluster_spec()
    assert caught.value.status == 403
    assert [request.path for request in api.seen] == ["/api/v1/pods"]


def test_case_74_forbidden_in_namespace(server, api, resolver):
    """403 in a namespace points to a Role there."""
    api.forbidden.add(("list", "team-a"))
    with pytest.raises(KubernetesApiError, match=r"in namespace 'team-a'.*HTTP 403.*get a Role in that namespace"):
        resolver(namespace="team-a").cluster_spec()


def test_namespaced_path(server, api, resolver):
    """A namespace is asked for by its own path; one that does not exist is empty."""
    api.put(json_pod("w", "10.0.0.1", namespace="team-a"), json_pod("w", "10.0.0.2"))
    assert workers(resolver(namespace="team-a")) == ["10.0.0.1"]
    assert workers(resolver(namespace="nobody")) == []
    assert [request.path for request in api.seen] == [
        "/api/v1/namespaces/team-a/pods",
        "/api/v1/namespaces/nobody/pods",
    ]


def test_own_namespace_of_the_kubeconfig(server, api, kubeconfig):
    """namespace="own" is the current context's namespace, else default."""
    api.put(json_pod("w", "10.0.0.1", namespace="team-a"), json_pod("w", "10.0.0.2"))
    kubeconfig(server.url, namespace="team-a")
    assert workers(KubernetesClusterResolver(namespace="own")) == ["10.0.0.1"]
    kubeconfig(server.url)
    assert workers(KubernetesClusterResolver(namespace="own")) == ["10.0.0.2"]


def test_case_75_global_configuration_is_left_alone(server, api, resolver):
    """The package's own default configuration and client are as before."""
    from kubernetes import client

    mine = client.Configuration()
    mine.host = "https://mine.example"
    client.Configuration.set_default(mine)
    try:
        resolver().cluster_spec()
        assert client.Configuration.get_default_copy().host == "https://mine.example"
    finally:
        client.Configuration.set_default(None)


def test_case_76_service_account(tls_server, service_account):
    """In a pod, the service account's token goes over TLS to the service's host."""
    service_account(tls_server)
    tls_server.api.put(json_pod("w", "10.0.0.1"))
    for location in (ExecutableLocation.DETECT, ExecutableLocation.WITHIN_CLUSTER):
        assert workers(KubernetesClusterResolver(executable_location=location)) == ["10.0.0.1"]
    assert {request.headers["authorization"].lower() for request in tls_server.api.seen} == {"bearer good-token"}


def test_own_namespace_of_the_service_account(tls_server, service_account):
    """In a pod, "own" is the service account's namespace."""
    service_account(tls_server, namespace="team-a")
    tls_server.api.put(json_pod("w", "10.0.0.1", namespace="team-a"), json_pod("w", "10.0.0.2"))
    assert workers(KubernetesClusterResolver(namespace="own")) == ["10.0.0.1"]


def many(api, number):
    api.put(*[json_pod(f"w-{i}", f"10.{i // 65536}.{i // 256 % 256}.{i % 256}") for i in range(number)])


@pytest.mark.parametrize("expiring", [0, 1, 2, 3])
def test_case_77_pages(server, api, resolver, expiring):
    """1,200 pods come in order, though page tokens expire; after two restarts the list comes in one piece."""
    many(api, 1200)
    api.expiring_tokens = expiring
    spec = resolver().cluster_spec()
    assert spec.num_tasks("worker") == 1200
    assert spec.task_address("worker", 1199) == "10.0.4.175:8470"
    assert max(len(request.query.get("limit", "")) for request in api.seen) == 3
    assert ("limit" in api.seen[-1].query) is (expiring < 2)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
@pytest.mark.parametrize("retry_after", [None, "3"])
def test_case_78_repeated(server, api, resolver, clock, status, retry_after):
    """429 and 5xx are repeated, after the pause that the server asks for or a short one."""
    api.put(json_pod("w", "10.0.0.1"))
    headers = {"Retry-After": retry_after} if retry_after else {}
    api.script += [status_answer(status, "Busy", "busy", headers=headers)] * 2
    assert workers(resolver()) == ["10.0.0.1"]
    if retry_after:
        assert clock.naps_s == [3.0, 3.0]
    else:
        assert 0 < clock.naps_s[0] <= clock.naps_s[1] <= 4


def test_patience_ends(server, api, resolver, clock):
    """A server that stays unavailable is an error with the status, after a limited number of tries."""
    api.script += [UNAVAILABLE] * 50
    with pytest.raises(KubernetesApiError, match="HTTP 503: apiserver is shutting down") as caught:
        resolver().cluster_spec()
    assert caught.value.status == 503
    assert len(api.seen) < 10
    assert sum(clock.naps_s) <= 60


def test_a_very_long_pause_is_not_taken(server, api, resolver, clock):
    """Where the server asks for an hour, the error says so at once."""
    api.script.append(status_answer(429, "TooManyRequests", "later", headers={"Retry-After": "3600"}))
    with pytest.raises(KubernetesApiError) as caught:
        resolver().cluster_spec()
    assert (caught.value.status, caught.value.retry_after_s, clock.naps_s) == (429, 3600.0, [])


def test_case_79_rotated_token(tls_server, service_account):
    """A token that was rotated is read again when the old one is refused."""
    folder = service_account(tls_server, token="old-token")
    tls_server.api.users = {"old-token": "a"}
    resolver = KubernetesClusterResolver()
    resolver.cluster_spec()
    tls_server.api.users = {"new-token": "a"}
    (folder / "token").write_text("new-token")
    resolver.cluster_spec()
    sent = [request.headers["authorization"].split()[-1] for request in tls_server.api.seen]
    assert sent == ["old-token", "old-token", "new-token"]


def test_refused_for_good(server, api, resolver, clock):
    """A 401 is tried once more with credentials read again, then told."""
    api.users = {}
    with pytest.raises(KubernetesApiError, match=r"HTTP 401: Unauthorized; the credentials are not accepted") as caught:
        resolver().cluster_spec()
    assert (caught.value.status, len(api.seen), clock.naps_s) == (401, 2, [])


def test_no_token_at_all(server, kubeconfig):
    """Without a token one is anonymous, which is a 403 that says so."""
    kubeconfig(server.url, user={})
    with pytest.raises(KubernetesApiError, match="system:anonymous"):
        KubernetesClusterResolver().cluster_spec()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<html>please log in</html>", "no JSON but begins '<html>please log in</html>'"),
        ("", "no JSON but begins ''"),
        ("[" * 100_000, "no JSON but begins"),
        ("[]", "no list of pods"),
        ("null", "no list of pods"),
        ('{"kind":"PodList","items":{}}', "no list of pods"),
        ('{"kind":"Whatever"}', "no list of pods"),
    ],
)
def test_garbage(server, api, resolver, body, text):
    """An answer that is no list of pods is a RuntimeError that shows its beginning."""
    api.script.append(Answer(200, body))
    with pytest.raises(KubernetesApiError, match=text) as caught:
        resolver().cluster_spec()
    assert caught.value.status == 200
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "items", ['{"items":null}', '{"items":[],"metadata":null}', '{"items":[],"metadata":{"continue":""}}']
)
def test_empty_lists(server, api, resolver, items):
    """An empty list may be written as null, and need no metadata."""
    api.script.append(Answer(200, items))
    assert workers(resolver()) == []


def test_items_of_strange_types(server, api, resolver):
    """A pod whose fields have other types than documented counts as one without them."""
    api.script.append(Answer(200, {"items": [3, {"metadata": [], "spec": "x", "status": {"phase": ["Running"]}}]}))
    with pytest.raises(RuntimeError, match='Pod "" is not running; phase: "None"'):
        resolver().cluster_spec()


def test_plain_text_404(server, api, resolver):
    """A 404 in plain text, as of a path that the server does not know, is told with its text."""
    api.script.append(Answer(404, "404 page not found\n", {"Content-Type": "text/plain"}))
    with pytest.raises(KubernetesApiError, match=r"HTTP 404: 404 page not found") as caught:
        resolver().cluster_spec()
    assert caught.value.status == 404


@pytest.mark.parametrize("body", [b"\xff\xfe", "", "[]", '{"message": 3}', '"text"'])
def test_errors_of_any_shape(server, api, resolver, body):
    """An error's body may be anything."""
    api.script.append(Answer(400, body))
    with pytest.raises(KubernetesApiError, match="HTTP 400") as caught:
        resolver().cluster_spec()
    assert caught.value.status == 400


def test_truncated_answer_is_asked_for_again(server, api, resolver):
    """A body that breaks off is asked for again."""
    api.put(json_pod("w", "10.0.0.1"))
    api.script.append(Answer(200, {"items": [], "metadata": {}}, cut=10))
    assert workers(resolver()) == ["10.0.0.1"]
    assert len(api.seen) == 2


def test_redirect_is_not_followed(server, api, resolver):
    """A redirect is an error: the token goes to the configured host only."""
    with FakeApiServer() as other:
        api.script.append(Answer(302, "", {"Location": f"{other.url}/api/v1/pods"}))
        with pytest.raises(KubernetesApiError, match="HTTP 302"):
            resolver().cluster_spec()
        assert other.api.seen == []


def test_nobody_listens(kubeconfig, clock):
    """A server that is not there is an error without a status, after some tries."""
    with FakeApiServer() as server:
        url = server.url
    kubeconfig(url)
    with pytest.raises(KubernetesApiError, match="the API server cannot be reached") as caught:
        KubernetesClusterResolver(clock=clock, sleep=clock.sleep).cluster_spec()
    assert caught.value.status is None
    assert len(clock.naps_s) > 1


def test_unknown_certificate_fails_at_once(tls_server, kubeconfig, clock):
    """A certificate that is not trusted is told at once, and the token is not sent."""
    kubeconfig(tls_server.url)
    with pytest.raises(KubernetesApiError, match=r"cannot be reached.*CERTIFICATE_VERIFY_FAILED"):
        KubernetesClusterResolver(clock=clock, sleep=clock.sleep).cluster_spec()
    assert (clock.naps_s, tls_server.api.seen) == ([], [])


def test_tokens_appear_nowhere(server, api, resolver, caplog):
    """The token is in no message, log line or traceback of an error."""
    caplog.set_level(0, logger="azureml_k8s")
    api.users = {}
    made = resolver()
    with pytest.raises(KubernetesApiError) as caught:
        made.cluster_spec()
    text = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(made) + repr(vars(caught.value))
    assert "good-token" not in text


def test_threads_share_a_resolver(server, api, resolver):
    """Eight threads that use one resolver all get the whole cluster, over one client."""
    many(api, 600)
    made = resolver()
    results, errors = [], []

    def run():
        try:
            results.append(made.cluster_spec())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all(spec == results[0] for spec in results)
    assert len(results) == 8
    assert results[0].num_tasks("worker") == 600


def test_importing_loads_no_kubernetes():
    """Importing the resolver and making one with a client imports neither the package nor TensorFlow."""
    import subprocess

    code = (
        "import sys, json\n"
        "from azureml_k8s.cluster_resolver import KubernetesClusterResolver\n"
        "class C:\n"
        "    def list_pod_for_all_namespaces(self, label_selector):\n"
        "        return type('L', (), {'items': []})\n"
        "KubernetesClusterResolver(override_client=C()).cluster_spec().as_cluster_def()\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"kubernetes", "tensorflow", "urllib3", "requests", "yaml"} & set(json.loads(done.stdout))


def test_literal_with_our_own_client(server, api, resolver):
    """Literally, our own client gives what TensorFlow reads of a pod."""
    leaving = json_pod("w-10", "10.0.0.2", metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})
    api.put(json_pod("w-9", "10.0.0.1"), leaving)
    assert resolver(literal=True).cluster_spec() == {"worker": {0: "198.51.100.1:8470", 1: "198.51.100.1:8470"}}


def test_faults_of_our_own_are_not_dressed_up(server, resolver, monkeypatch):
    """An error that is no answer and no broken connection passes as it is."""
    made = resolver()
    monkeypatch.setattr("azureml_k8s.cluster_resolver.listing.read_list", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        made.cluster_spec()


@pytest.mark.parametrize("kind", ["SSLError", "ReadTimeoutError", "ProtocolError"])
def test_broken_connections(server, api, resolver, clock, monkeypatch, kind):
    """A broken connection is tried again, one that took too long once, one that is not trusted never."""
    urllib3 = pytest.importorskip("urllib3.exceptions")
    arguments = {"ReadTimeoutError": (None, "url", "slow")}.get(kind, ("broken",))
    from azureml_k8s.cluster_resolver.listing import PodClient

    def fail(*_):
        raise getattr(urllib3, kind)(*arguments)

    monkeypatch.setattr(PodClient, "_get", fail)
    with pytest.raises(KubernetesApiError, match=f"cannot be reached: {kind}") as caught:
        resolver().cluster_spec()
    assert caught.value.status is None
    assert len(clock.naps_s) == {"SSLError": 0, "ReadTimeoutError": 1}.get(kind, len(clock.naps_s))
    assert (len(clock.naps_s) > 1) is (kind == "ProtocolError")
