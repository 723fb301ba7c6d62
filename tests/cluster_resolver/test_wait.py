"""Waiting for pods: by watching, by listing, and how it ends."""

import json
import math
import threading
from types import SimpleNamespace

import pytest

from azureml_k8s.cluster_resolver import (
    KubernetesApiError,
    KubernetesClusterResolver,
    PodCannotRunError,
    WaitTimeoutError,
)

from .fake_api import Answer, status_answer
from .helpers import INDEX, Client, json_pod, typed_pod


@pytest.fixture
def given(clock):
    """Return a function that makes a resolver of a client, whose pods at each time a function gives."""

    def make(*pods, jobs=None, at=None, **options):
        client = Client(*pods)
        if at:
            clock.on_sleep = lambda now_s: setattr(client, "pods", at(now_s))
        made = KubernetesClusterResolver(jobs, override_client=client, clock=clock, sleep=clock.sleep, **options)
        return made, client

    return make


def watches(api):
    return [request for request in api.seen if "watch" in request.query]


def test_enough_pods_at_once(given, clock):
    """Where enough pods run, one list is all."""
    made, client = given(typed_pod("w-0", "10.0.0.1"))
    assert made.wait(1, timeout=0).as_dict() == {"worker": ["10.0.0.1:8470"]}
    assert (len(client.calls), clock.naps_s) == (1, [])


def test_listing_a_given_client(given, clock):
    """A given client is listed every second, later less often, until all pods run with addresses."""

    def at(now_s):
        first = typed_pod("w-0", "10.0.0.1") if now_s >= 5 else typed_pod("w-0", None, "Pending")
        return [first, *([typed_pod("w-1", "10.0.0.2" if now_s >= 30 else None)] if now_s >= 2 else [])]

    made, client = given(at=at)
    assert made.wait(2, timeout=60).as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}
    assert 30 <= clock.now_s < 36
    assert clock.naps_s[0] == 1
    assert clock.naps_s == sorted(clock.naps_s)
    assert len(client.calls) == len(clock.naps_s) + 1


def test_watch_wakes_the_wait(server, api, resolver, clock):
    """With our own client, a watch from the list's version tells when the last pod is ready; nobody sleeps."""
    api.put(json_pod("w-0", "10.0.0.1"), json_pod("w-1", None, "Pending"))
    api.on_watch = lambda: api.put(json_pod("w-1", "10.0.0.2"))
    spec = resolver().wait(2, timeout=600)
    assert spec.as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}
    assert clock.naps_s == []
    first, second = (request.query for request in api.seen if request in watches(api) or request is api.seen[0])
    assert "watch" not in first
    assert second["resourceVersion"] == "102"
    assert (second["timeoutSeconds"], second["allowWatchBookmarks"].lower()) == ("60", "true")
    assert len(api.seen) == 3


def test_watch_of_several_lists_takes_turns(server, api, resolver, clock):
    """Two jobs are watched in turn, for a short while each, and only those that miss pods."""
    api.longest_watch_s = 0.05
    api.put(*[json_pod(f"{job}-0", labels={"job": job}) for job in "abc"])
    late = [json_pod("a-1", labels={"job": "a"}), json_pod("b-1", labels={"job": "b"})]
    clock.on_sleep = lambda now_s: api.put(late.pop()) if late and now_s >= 2 else None
    spec = resolver({job: f"job={job}" for job in "abc"}).wait({"a": 2, "b": 2, "c": 1}, timeout=100)
    assert {job: spec.num_tasks(job) for job in "abc"} == {"a": 2, "b": 2, "c": 1}
    assert {request.query["labelSelector"] for request in watches(api)} == {"job=a", "job=b"}
    assert {request.query["timeoutSeconds"] for request in watches(api)} == {"10"}


def test_bookmarks_and_deletions_are_no_pods(server, api, resolver):
    """Bookmarks are passed over, and a pod that is deleted while waiting counts no more."""
    api.bookmarks = True
    api.put(json_pod("w-0", "10.0.0.1"), json_pod("w-1", None, "Pending"))

    def change():
        api.delete("w-0")
        api.put(json_pod("w-1", "10.0.0.2"))
        api.put(json_pod("w-0", "10.0.0.3"))

    api.on_watch = change
    assert resolver().wait(2, timeout=60).as_dict() == {"worker": ["10.0.0.3:8470", "10.0.0.2:8470"]}


def test_forbidden_watch_falls_back_to_lists(server, api, resolver, clock):
    """A role that may list but not watch makes the wait list again and again; watching is tried once."""
    api.forbidden.add(("watch", None))
    api.put(json_pod("w-0", None, "Pending"))
    clock.on_sleep = lambda now_s: api.put(json_pod("w-0", "10.0.0.1")) if now_s >= 3 else None
    assert resolver().wait(1, timeout=60).num_tasks("worker") == 1
    assert len(watches(api)) == 1
    assert clock.naps_s == [1.0, 1.0, 1.0]


def test_version_that_is_gone(server, api, resolver, clock):
    """A watch whose version is too old (ERROR with 410) is begun anew from a new list."""
    api.put(json_pod("w-0", None, "Pending"))
    stale = {"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": [json_pod("w-0", None, "Pending")]}
    api.script.append(Answer(200, stale))
    api.on_watch = lambda: api.put(json_pod("w-0", "10.0.0.1"))
    assert resolver().wait(1, timeout=60).num_tasks("worker") == 1
    assert [request.query["resourceVersion"] for request in watches(api)] == ["1", "101"]
    assert clock.now_s == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, "no json\n"),
        Answer(200, '{"type":"ERROR","object":null}\n'),
        Answer(200, '[1]\n{"type":"NEWS","object":{}}\n'),
        Answer(200, '{"type":"MODIFIED","object":{"met', cut=20),
        Answer(200, ""),
        status_answer(503, "ServiceUnavailable", "busy"),
        status_answer(410, "Expired", "too old"),
    ],
)
def test_broken_watches(server, api, resolver, clock, answer):
    """A watch that breaks off or talks nonsense is followed by a new list after a second."""
    api.put(json_pod("w-0", None, "Pending"))
    api.script += [lambda handler: handler._answer("/api/v1/pods", {}), answer]
    clock.on_sleep = lambda now_s: api.put(json_pod("w-0", "10.0.0.1"))
    assert resolver().wait(1, timeout=60).num_tasks("worker") == 1
    assert 0 < clock.now_s <= 1.0


def test_watch_that_contradicts_the_list(server, api, resolver, clock):
    """A watch that tells of a pod which the lists do not show makes the wait look once at once, then at a pace."""
    api.put(json_pod("w-0", None, "Pending"))
    ready = json.dumps({"type": "MODIFIED", "object": json_pod("w-0", "10.0.0.1")}) + "\n"
    api.script += [lambda handler: handler._answer("/api/v1/pods", {}), Answer(200, ready)] * 6
    with pytest.raises(WaitTimeoutError):
        resolver().wait(1, timeout=3)
    assert clock.naps_s == [1.0, 1.0, 1.0]
    assert len(watches(api)) == 4


def waiting(reason, message=None):
    return {"state": {"waiting": {"reason": reason, **({"message": message} if message else {})}}}


UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        pytest.param(json_pod("w-1", None, "Failed", reason="Evicted"), "Failed (Evicted)", id="failed"),
        pytest.param(json_pod("w-1", None, "Succeeded"), "Succeeded", id="ended"),
        pytest.param(
            json_pod("w-1", None, "Pending", conditions=[UNSCHEDULABLE]), "Unschedulable: 0/3 nodes", id="unschedulable"
        ),
        pytest.param(
            json_pod("w-1", None, "Pending", containerStatuses=[waiting("ImagePullBackOff", "no such image")]),
            "ImagePullBackOff: no such image",
            id="image",
        ),
        pytest.param(
            json_pod("w-1", "10.0.0.9", containerStatuses=[{}, waiting("CrashLoopBackOff")]),
            "CrashLoopBackOff",
            id="crash",
        ),
        pytest.param(
            json_pod("w-1", None, "Pending", initContainerStatuses=[waiting("ErrImagePull")]), "ErrImagePull", id="init"
        ),
    ],
)
def test_early_end(server, api, resolver, clock, pod, reason):
    """A pod that cannot come up ends the wait at once, with Kubernetes' reason, seen in a list or in a watch."""
    api.put(json_pod("w-0", "10.0.0.1"))
    api.on_watch = lambda: api.put(pod)
    for _ in range(2):  # the second time, it is there from the start
        with pytest.raises(PodCannotRunError) as caught:
            resolver().wait(2, timeout=600)
        assert str(caught.value) == f"Pod \"w-1\" of job 'worker' cannot come up: {reason}"
        assert (caught.value.pod, caught.value.reason) == ("w-1", reason)
    assert isinstance(caught.value, RuntimeError)
    assert clock.naps_s == []


def test_early_end_with_typed_pods(given):
    """The same is read from typed pods."""
    status = SimpleNamespace(state=SimpleNamespace(waiting=SimpleNamespace(reason="CrashLoopBackOff", message="bad")))
    made, _ = given(typed_pod("w-0", container_statuses=[status]))
    with pytest.raises(PodCannotRunError, match="CrashLoopBackOff: bad"):
        made.wait(1)


def test_skipped_pods_end_no_wait(given, clock):
    """With not_running="skip", pods that ended are passed over, and keep their place."""
    ended = typed_pod("w-0", None, "Failed")
    made, _ = given(ended, not_running="skip", at=lambda now_s: [ended, typed_pod("w-1", "10.0.0.1")])
    assert made.wait(1, timeout=10).as_dict() == {"worker": {1: "10.0.0.1:8470"}}
    assert clock.now_s == 1.0


def test_further_pods_leave_gaps(given):
    """More pods than waited for, that are not ready, do not move the others' indices."""
    pods = [typed_pod("w-0", None, "Pending"), typed_pod("w-1", "10.0.0.1"), typed_pod("w-2", "10.0.0.2")]
    made, _ = given(*pods)
    assert made.wait(2, timeout=0).as_dict() == {"worker": {1: "10.0.0.1:8470", 2: "10.0.0.2:8470"}}


def test_only_the_jobs_named(given):
    """Jobs that are not named are not waited for."""
    client = Client(by_selector={"w": [typed_pod("w")], "p": []})
    made = KubernetesClusterResolver({"worker": "w", "ps": "p"}, override_client=client)
    assert made.wait({"worker": 1}, timeout=0).as_dict() == {"worker": ["10.0.0.1:8470"], "ps": {}}


def test_pods_that_nobody_waits_for_end_no_wait(clock):
    """A pod that cannot come up is of no interest in jobs that are not named, or have enough others."""
    pods = {"w": [typed_pod("w-0", None, "Pending")], "p": [typed_pod("p-0"), typed_pod("p-1", None, "Failed")]}
    clock.on_sleep = lambda now_s: pods["w"].__setitem__(0, typed_pod("w-0"))
    made = KubernetesClusterResolver(
        {"worker": "w", "ps": "p"}, override_client=Client(by_selector=pods), clock=clock, sleep=clock.sleep
    )
    for counts in ({"worker": 1}, {"worker": 1, "ps": 1}):
        pods["w"][0] = typed_pod("w-0", None, "Pending")
        assert made.wait(counts, timeout=10).jobs == ["worker", "ps"]
    with pytest.raises(PodCannotRunError, match="p-1"):
        made.wait(2, timeout=10)


def test_time_out_tells_what_was_seen(given, clock):
    """The time-out lists, for each job that is not complete, who is ready, who is not and why, and the selectors."""
    container = SimpleNamespace(
        state=SimpleNamespace(waiting=SimpleNamespace(reason="ContainerCreating", message=None))
    )
    pods = [
        typed_pod("w-0"),
        typed_pod("w-1", None, "Pending", container_statuses=[container]),
        typed_pod("w-2", None),
    ]
    client = Client(by_selector={"job=w": pods, "job=ps": [], "job=chief": [typed_pod("c")]})
    jobs = {"worker": ["job=w"], "ps": ["job=ps"], "chief": "job=chief"}
    made = KubernetesClusterResolver(jobs, override_client=client, clock=clock, sleep=clock.sleep)
    with pytest.raises(WaitTimeoutError) as caught:
        made.wait({"worker": 3, "ps": 1, "chief": 1}, timeout=30)
    assert str(caught.value).splitlines() == [
        "timed out after 30 s waiting for pods",
        "  job 'worker' has 1 of 3 (ready: w-0; not ready: w-1 (Pending, ContainerCreating), "
        "w-2 (Running, no IP address yet)); selectors 'job=w' in all namespaces",
        "  job 'ps' has 0 of 1: no pod matches selectors 'job=ps' in all namespaces",
    ]
    assert isinstance(caught.value, TimeoutError)
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.missing == {"worker": 2, "ps": 1}
    assert caught.value.ready == {"worker": ["w-0"], "ps": [], "chief": ["c"]}
    assert caught.value.waited_s == clock.now_s == 30


def test_time_out_of_many_pods_is_short(given):
    """Of very many pods, some are named."""
    made, _ = given(*[typed_pod(f"w-{i}", None, "Pending") for i in range(500)])
    with pytest.raises(WaitTimeoutError, match="and 480 more") as caught:
        made.wait(500, timeout=0)
    assert len(str(caught.value)) < 1000


def test_time_out_of_a_watch(server, api, resolver, clock):
    """A watch does not outlast the wait, and there is one look at the deadline."""
    api.longest_watch_s = 0.02
    api.put(json_pod("w-0", None, "Pending"))
    with pytest.raises(WaitTimeoutError):
        resolver().wait(1, timeout=3)
    assert clock.now_s == 3.0
    assert [request.query["timeoutSeconds"] for request in watches(api)] == ["3", "2", "1"]
    assert "watch" not in api.seen[-1].query


def test_errors_of_lists_end_the_wait(server, api, resolver):
    """A list that is refused ends the wait."""
    api.forbidden.add(("list", None))
    with pytest.raises(KubernetesApiError, match="403"):
        resolver().wait(1, timeout=60)


def test_nothing_is_repeated_after_the_deadline(server, api, resolver, clock):
    """A list is not repeated for longer than the wait may last."""
    api.script += [status_answer(503, "ServiceUnavailable", "busy")] * 20
    with pytest.raises(KubernetesApiError, match="503"):
        resolver().wait(1, timeout=2)
    assert clock.now_s <= 2


@pytest.mark.parametrize(("address", "wanted"), [("host_ip", "198.51.100.1:8470"), ("dns", "w-0.s.default.svc:8470")])
def test_other_addresses_are_waited_for(given, address, wanted):
    """What is waited for is the address that is asked for: the node's and the DNS name need no address of the pod."""
    made, _ = given(typed_pod("w-0", None, hostname="w-0", subdomain="s"), address=address)
    assert made.wait(1, timeout=0).task_address("worker", 0) == wanted


def test_counts_of_zero(given):
    """Nobody to wait for: one look."""
    made, client = given()
    assert made.wait(0) == {"worker": {}}
    assert len(client.calls) == 1


@pytest.mark.parametrize(
    ("counts", "error", "text"),
    [
        (-1, ValueError, "count of job 'worker' is negative: -1"),
        ({"worker": -2}, ValueError, "negative"),
        ({"chief": 1}, ValueError, "there is no job 'chief'; the jobs are 'worker', 'none'"),
        (True, TypeError, "whole number, not True"),
        ("2", TypeError, "whole number, not '2'"),
        (1.5, TypeError, "whole number, not 1.5"),
        (None, TypeError, "whole number, not None"),
        ({"worker": None}, TypeError, "whole number, not None"),
        ({"none": 1}, ValueError, "job 'none' has no selector"),
    ],
)
def test_bad_counts(given, counts, error, text):
    """Counts that make no sense are refused before any request."""
    made, client = given(jobs={"worker": ["w"], "none": []})
    with pytest.raises(error, match=f"counts: .*{text}"):
        made.wait(counts)
    assert client.calls == []


@pytest.mark.parametrize(
    ("timeout", "error"), [(-1, ValueError), (math.nan, ValueError), (True, TypeError), ("5", TypeError)]
)
def test_bad_timeouts(given, timeout, error):
    """A time-out that is no number of seconds is refused before any request."""
    made, client = given()
    with pytest.raises(error, match="timeout"):
        made.wait(1, timeout=timeout)
    assert client.calls == []


def test_endless_wait(given, clock):
    """Without a time-out, or with an infinite one, the wait lasts as long as it takes."""
    for timeout in (None, math.inf):
        now_s = clock.now_s
        made, _ = given(at=lambda at_s, now_s=now_s: [typed_pod("w")] if at_s > now_s + 100_000 else [])
        assert made.wait(1, timeout).num_tasks("worker") == 1


def test_cancelled_wait_leaves_nothing_open(server, api, resolver, clock):
    """Ctrl-C during a nap passes, and the resolver works afterwards."""
    api.longest_watch_s = 0.02
    made = resolver()

    def interrupt(now_s):
        raise KeyboardInterrupt

    clock.on_sleep = interrupt
    with pytest.raises(KeyboardInterrupt):
        made.wait(1, timeout=60)
    api.put(json_pod("w-0"))
    assert made.cluster_spec().num_tasks("worker") == 1


def test_wait_finds_the_own_task(given, monkeypatch):
    """After a wait, the own task is known, too."""
    monkeypatch.setenv("HOSTNAME", "w-1")
    made, _ = given(typed_pod("w-0", None, "Pending"), typed_pod("w-1"))
    made.wait(1, timeout=0)
    assert (made.task_type, made.task_id) == ("worker", 1)


def test_wait_by_index_labels(server, api, resolver):
    """Indices come from labels while waiting, too: pod 1 may run before pod 0 exists."""

    def pod(i):
        return json_pod(f"train-{i}-x{9 - i}", f"10.0.0.{i}", labels={"job-name": "tensorflow", INDEX: str(i)})

    api.put(pod(1))
    api.on_watch = lambda: api.put(pod(0))
    assert resolver().wait(2, timeout=60).as_dict() == {"worker": ["10.0.0.0:8470", "10.0.0.1:8470"]}


def test_two_threads_wait(server, api, resolver):
    """Two waits of one resolver do not disturb each other."""
    api.put(json_pod("w-0", None, "Pending"))
    made, specs = resolver(), []
    threads = [threading.Thread(target=lambda: specs.append(made.wait(1, timeout=60))) for _ in range(2)]
    for thread in threads:
        thread.start()
    api.put(json_pod("w-0", "10.0.0.1"))
    for thread in threads:
        thread.join()
    assert specs == [{"worker": {0: "10.0.0.1:8470"}}] * 2
