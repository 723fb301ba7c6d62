"""Where requests go, what they carry, and that nothing secret is shown."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from azureml_k8s import ComputeTarget, Workspace, __version__
from azureml_k8s import exceptions as e
from faults.harness import ORIGIN, SUB, TOKEN, Rig, about, check_secrecy, check_trust, texts_of

FOREIGN = (
    "https://evil.example/x?token=1",
    "http://management.azure.com/subscriptions",
    "https://management.azure.com:8443/subscriptions",
    "https://management.azure.com.evil.example/",
    "https://management.azure.com@evil.example/",
    "https://user:pw@management.azure.com/",
    "https://management.azure.com\\@evil.example/",
    "https://evil.example\\.management.azure.com/",
    "//evil.example/x",
    "ftp://management.azure.com/x",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://[::1/",
    "//[",
    "https://management.azure.com\r\nHost: evil.example/",
    "https://management\u3002azure.com/",
)


def with_json(**members: Any) -> Any:
    def edit(reply: Any) -> Any:
        return replace(reply, body=json.dumps({**reply.json, **members}).encode())

    return edit


@pytest.mark.parametrize("link", FOREIGN)
@pytest.mark.parametrize("kind", ["list", "workspaces"])
def test_a_foreign_next_link_is_refused_without_a_request(
    rig: Rig, kind: str, link: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A next link to another host raises and names it; nothing is sent there."""
    caplog.set_level(logging.DEBUG)
    rig.faults.add(about(kind), every=1, edit=with_json(nextLink=link))
    with pytest.raises(e.UnreachableException, match="next link points to") as caught:
        _ = rig.workspace.compute_targets if kind == "list" else Workspace.list(SUB, **rig.settings)
    assert len(rig.sent) == 1
    check_trust(rig.sent)
    check_secrecy(caught.value, caplog.records)


def test_a_link_in_plain_http_is_told_by_its_scheme(rig: Rig) -> None:
    """Not as a host that is not itself."""
    rig.faults.add(about("list"), edit=with_json(nextLink="http://management.azure.com/x"))
    with pytest.raises(e.UnreachableException, match=f"points to http://management.azure.com, which is not {ORIGIN}"):
        ComputeTarget.list(rig.workspace)


@pytest.mark.parametrize("header", ["Azure-AsyncOperation", "Operation-Location", "Location"])
@pytest.mark.parametrize("link", [one for one in FOREIGN if "\r" not in one and one.isascii()])
@pytest.mark.parametrize("kind", ["put", "delete"])
def test_a_foreign_operation_url_is_refused_without_a_request(rig: Rig, kind: str, link: str, header: str) -> None:
    """An operation URL of another host raises, names it, and says that the operation may run."""
    attach = partial(ComputeTarget.attach, rig.workspace, "k8s1", rig.configuration)
    act = rig.attached().detach if kind == "delete" else attach
    changes: dict[str, str | None] = {"Azure-AsyncOperation": None}
    rig.faults.add(about(kind), headers={**changes, header: link})
    with pytest.raises(e.UnreachableException, match="operation URL points to") as caught:
        act()
    assert caught.value.operation_may_run
    assert rig.kinds()[-1] == kind
    check_trust(rig.sent)


def test_a_redirect_is_named_and_not_followed(rig: Rig) -> None:
    """No redirect is followed, wherever it leads, so no credential goes along."""
    for status in (301, 302, 303, 307, 308):
        rig.faults.add(about("list"), status=status, headers={"Location": "https://evil.example/a?sig=1"})
        with pytest.raises(e.UnreachableException, match=r"redirects to evil\.example;") as caught:
            ComputeTarget.list(rig.workspace)
        assert "sig=1" not in texts_of(caught.value)
    assert len(rig.sent) == 5
    check_trust(rig.sent)


@pytest.mark.parametrize(
    "where", ["http://[evil.example", "//[", "\xff\xfe//evil", "http://a\x1b[31mb", "x" * 9000, "\\\\evil\\x"]
)
@pytest.mark.parametrize("kind", ["list", "put"])
def test_a_redirect_to_an_odd_address_is_refused_like_any(rig: Rig, kind: str, where: str) -> None:
    """What is no address is not followed either, and its strange characters are not shown."""
    rig.faults.add(about(kind), status=302, headers={"Location": where})
    attach = partial(ComputeTarget.attach, rig.workspace, "k8s1", rig.configuration)
    act = partial(ComputeTarget.list, rig.workspace) if kind == "list" else attach
    with pytest.raises(e.UnreachableException, match="redirects to") as caught:
        act()
    assert rig.count(kind) == 1
    assert "\x1b" not in str(caught.value)
    assert len(caught.value.message) < 500


@pytest.mark.parametrize(
    "link", ["https://a\x1b[31mb/", "https://a\u202eb/", f"https://{'a' * 9000}/", "https://a\ud800b/"]
)
def test_a_foreign_host_is_shown_without_strange_characters(rig: Rig, link: str) -> None:
    """A host's name from outside can't command a terminal, turn a line around or fill a screen."""
    rig.faults.add(about("list"), every=1, edit=with_json(nextLink=link))
    with pytest.raises(e.UnreachableException, match="next link points to") as caught:
        ComputeTarget.list(rig.workspace)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 500


def test_a_traceback_with_variables_shows_no_operation_url(rig: Rig) -> None:
    """Neither do debuggers and error collectors, which show the variables of each call: nor the token."""
    target = ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration)
    rig.faults.add(about("operation", "compute"), every=1, status=401)
    with pytest.raises(e.AuthenticationException) as caught:
        target.wait_for_completion()
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "_read" in shown
    assert "&s=" not in shown
    assert TOKEN not in shown


# Paging


def page(names: list[str], link: Any = None) -> dict[str, Any]:
    path = f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.MachineLearningServices/workspaces/ws"
    items = [{"id": f"{path}/computes/{name}", "name": name, "properties": {"computeType": "AKS"}} for name in names]
    return {"value": items, **({} if link is None else {"nextLink": link})}


def script(rig: Rig, *pages: Any) -> None:
    for number, one in enumerate(pages, start=1):
        rig.faults.add(about("list"), nth=number, status=200, body=one)


@pytest.mark.parametrize("link", ["?api-version=2024-04-01&$skip=x%2By", None])
@pytest.mark.parametrize("end", ["", None])
def test_pages_are_read_to_the_end(rig: Rig, link: str | None, end: str | None) -> None:
    """Relative links are resolved, their queries kept; empty or null is the end; an empty page with a link goes on."""
    absolute = (
        f"{ORIGIN}/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.MachineLearningServices/workspaces/ws"
        "/computes?api-version=2024-04-01&$skip=x%2By&other=a%20b"
    )
    script(rig, page(["a"], link or absolute), page([], absolute + "1"), {**page(["b"]), "nextLink": end})
    assert [target.name for target in ComputeTarget.list(rig.workspace)] == ["a", "b"]
    assert rig.sent[1].url.endswith(link or absolute)
    check_trust(rig.sent)


@pytest.mark.parametrize("link", ["?api-version=2024-04-01&$skip=1", ""])
def test_a_link_seen_before_raises(rig: Rig, link: str) -> None:
    """A list that leads back to itself raises; it must not look whole."""
    url = "?api-version=2024-04-01"
    script(rig, page(["a"], link or url), page(["b"], url), page(["c"], url))
    with pytest.raises(e.UnreachableException, match="already followed"):
        ComputeTarget.list(rig.workspace)


@pytest.mark.parametrize("link", [7, True, ["x"], {"a": 1}])
def test_a_link_that_is_no_text_raises(rig: Rig, link: Any) -> None:
    """A list that can't be read to its end raises."""
    script(rig, page(["a"], link))
    with pytest.raises(e.UnreachableException, match="next link"):
        ComputeTarget.list(rig.workspace)


def test_a_list_without_end_raises(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Always new links do not hang the client."""
    monkeypatch.setattr("azureml_k8s._session._MOST_PAGES", 20)
    count = iter(range(1000))
    rig.faults.add(
        about("list"),
        every=1,
        edit=lambda reply: with_json(nextLink=f"?api-version=2024-04-01&$skip={next(count)}")(reply),
    )
    with pytest.raises(e.UnreachableException, match="more than 20 pages"):
        ComputeTarget.list(rig.workspace)
    assert len(rig.sent) == 20


def test_a_failing_second_page_raises(rig: Rig) -> None:
    """A cut list must not look whole: no partial result when a later page fails."""
    script(rig, page(["a"], "?api-version=2024-04-01&$skip=1"))
    rig.faults.add(about("list"), nth=2, times=100, status=500)
    with pytest.raises(e.ServiceException):
        ComputeTarget.list(rig.workspace)


# What requests carry


def test_requests_say_who_sent_them_and_which_they_are(rig: Rig) -> None:
    """User-Agent azureml-k8s/VERSION, and an x-ms-client-request-id that is new for each request and each repeat."""
    rig.faults.add(about("compute"), status=500)
    target = rig.attached()
    rig.faults.add(about("compute"), status=500, times=2)
    target.get_status()
    assert {one.headers["User-Agent"] for one in rig.sent} == {f"azureml-k8s/{__version__}"}
    assert len({one.headers["x-ms-client-request-id"] for one in rig.sent}) == len(rig.sent) == 3


def test_the_ids_of_a_request_are_in_its_error(rig: Rig) -> None:
    """The id that we sent, and the service's, are attributes of the error and in its text."""
    rig.faults.add(about("compute"), status=403, headers={"x-ms-request-id": "their-id"}, every=1)
    with pytest.raises(e.ForbiddenException) as caught:
        ComputeTarget(rig.workspace, "k8s1")
    assert caught.value.request_id == "their-id"
    assert caught.value.client_request_id == rig.sent[-1].headers["x-ms-client-request-id"]
    assert caught.value.client_request_id in str(caught.value)


def test_each_request_has_one_debug_line(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """Method, path, status, milliseconds and request id, at debug, under azureml_k8s."""
    caplog.set_level(logging.DEBUG, "azureml_k8s")
    rig.faults.add(about("list"), delay_s=0.25, headers={"x-ms-request-id": "id-7"})
    ComputeTarget.list(rig.workspace)
    (line,) = [
        record for record in caplog.records if record.levelno == logging.DEBUG and record.name.startswith("azureml_k8s")
    ]
    text = line.getMessage()
    assert text.startswith("GET /subscriptions/")
    assert "/computes -> 200 in 250 ms (id-7)" in text
    assert "?" not in text


def test_a_request_without_an_answer_has_its_line_too(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """The line of a request that got no answer has the reason in place of the status."""
    caplog.set_level(logging.DEBUG, "azureml_k8s")
    rig.faults.add(about("list"), reset=True)
    ComputeTarget.list(rig.workspace)
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert len(lines) == 2
    assert rig.sent[0].headers["x-ms-client-request-id"] in lines[0]
    assert " ms " in lines[0]


# Tokens


def test_a_401_passes_the_claims_on(rig: Rig) -> None:
    """The claims of WWW-Authenticate reach the credential, decoded."""
    claims = '{"access_token":{"nbf":{"essential":true,"value":"1"}}}'
    rig.faults.unauthorized_once(about("list"), claims=claims)
    ComputeTarget.list(rig.workspace)
    assert rig.credential.asked == [{}, {"claims": claims}]


@pytest.mark.parametrize("junk", ["", "%%%", "====", "A", base64.b64encode(b"\xff\xfe").decode()])
def test_claims_that_are_none_are_left_out(rig: Rig, junk: str) -> None:
    """A challenge that can't be read is a plain 401."""
    rig.faults.add(about("list"), status=401, headers={"WWW-Authenticate": f'Bearer claims="{junk}"'})
    ComputeTarget.list(rig.workspace)
    assert rig.credential.asked == [{}, {}]


def test_an_identical_token_is_not_sent_again(rig: Rig) -> None:
    """A credential that gives the rejected token again: one request, and the error says so."""
    rig.credential.tokens = ("opaqueOne",)
    rig.faults.add(about("list"), status=401, every=1)
    with pytest.raises(e.AuthenticationException, match="same one again") as caught:
        ComputeTarget.list(rig.workspace)
    assert len(rig.sent) == 1
    assert caught.value.status_code == 401
    check_secrecy(caught.value, [])


def test_one_token_serves_the_whole_workspace(rig: Rig) -> None:
    """A wait of 100 polls, a list of three pages, two objects: one token request; one more near its end
    (azure-sdk-for-python#40636)."""
    rig.credential.life_s = 3600
    rig.emulator.pace.page_size = 1
    rig.faults.provisioning(polls=100)
    for name in ("a1", "b1", "c1"):
        ComputeTarget.attach(rig.workspace, name, rig.configuration)
    ComputeTarget(rig.workspace, "c1").wait_for_completion()
    assert len(ComputeTarget.list(rig.workspace)) == 3
    assert ComputeTarget(rig.workspace, "a1").get_status()
    assert len(rig.credential.asked) == 1
    rig.clock.sleep(1000 + 3480 - rig.clock())
    ComputeTarget.list(rig.workspace)
    assert len(rig.credential.asked) == 2


def test_a_failing_token_call_is_no_storm(rig: Rig) -> None:
    """A credential that fails is not asked again by each of many calls (azure-sdk-for-python#40636)."""
    calls = []

    def fail(*scopes: str) -> None:
        calls.append(scopes)
        raise RuntimeError("az is not installed")

    rig.credential.get_token = fail  # type: ignore[method-assign,assignment]  # signed out
    for _ in range(50):
        with pytest.raises(e.AuthenticationException, match="az is not installed"):
            ComputeTarget.list(rig.workspace)
    assert len(calls) == 1
    assert rig.sent == []


# Masking


SECRETS = {
    "sas": "https://a.blob.core.windows.net/c?sv=1&sig=opaqueSig%2B",
    "operation": "https://management.azure.com/s/op?api-version=1&t=opaque1&c=opaque2&s=opaque3&h=opaque4",
    "connection": "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=opaqueKey=",
    "password": "password=opaquePassword",
    "bearer": "Authorization: Bearer opaqueBearer",
    "json": '{"relayConnectionString": "opaqueRelay", "clientSecret": "opaqueSecret"}',
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("status", [400, 403, 500])
def test_a_secret_in_an_error_body_is_masked_everywhere(
    rig: Rig, secret: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Message, details, body, traceback, repr, logs: none shows a secret that the service put into an error."""
    caplog.set_level(logging.DEBUG)
    text = SECRETS[secret]
    error = {"code": "X", "message": f"Failed: {text}", "target": text, "details": [{"code": "Y", "message": text}]}
    rig.faults.add(about("compute"), status=status, body={"error": error}, every=1)
    with pytest.raises(e.ServiceException) as caught:
        ComputeTarget(rig.workspace, "k8s1")
    check_secrecy(caught.value, caplog.records)
    assert "opaque" not in repr(caught.value.report)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_a_failed_operation_is_masked_everywhere(
    rig: Rig, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The same for an operation's error."""
    caplog.set_level(logging.DEBUG)
    text = SECRETS[secret]
    target = ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration)
    rig.faults.add(about("operation"), every=1, body={"status": "Failed", "error": {"code": "X", "message": text}})
    with pytest.raises(e.OperationFailedException) as caught:
        target.wait_for_completion()
    check_secrecy(caught.value, caplog.records)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_provisioning_errors_is_masked_everywhere(
    rig: Rig, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The same for the compute's own errors, which the error carries as data."""
    caplog.set_level(logging.DEBUG)
    target = rig.attached()
    failed = target.get()
    told = [{"error": {"code": "X", "message": SECRETS[secret], "accessToken": "opaqueToken"}}]
    failed["properties"] |= {"provisioningState": "Failed", "provisioningErrors": told}
    rig.faults.add(about("compute"), every=1, body=failed)
    attach = partial(ComputeTarget.attach, rig.workspace, "k8s1", rig.configuration)
    for step in (target.wait_for_completion, attach):
        with pytest.raises(e.OperationFailedException) as caught:
            step()
        assert caught.value.provisioning_errors
        assert caught.value.provisioning_errors[0]["error"]["code"] == "X"
        check_secrecy(caught.value, caplog.records)


def test_a_secret_of_a_compute_that_stays_is_masked(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """A detach that does not end tells the compute's errors, too."""
    target = rig.attached()
    stays = target.get()
    stays["properties"] |= {"provisioningState": "Failed", "provisioningErrors": [{"message": SECRETS["sas"]}]}
    target.detach()
    rig.faults.add(about("compute"), every=1, status=200, body=stays)
    with pytest.raises(e.ConflictException, match="still attached") as caught:
        target.wait_for_completion()
    assert caught.value.provisioning_errors
    check_secrecy(caught.value, caplog.records)


def test_the_operation_urls_signature_is_shown_nowhere(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    """Neither a failing poll nor a time-out shows more of the operation URL than its id."""
    caplog.set_level(logging.DEBUG)
    rig.faults.stuck_operation()
    target = ComputeTarget.attach(rig.workspace, "k8s1", rig.configuration)
    pending = target._pending
    assert pending
    assert pending.url
    signature = pending.url.rpartition("&s=")[2][:40]
    rig.faults.add(about("operation"), reset=True, times=3)
    with pytest.raises(e.OperationTimeoutException) as caught:
        target.wait_for_completion(timeout=20)
    shown = texts_of(caught.value) + caplog.text + repr(target) + repr(pending) + json.dumps(target.serialize())
    assert signature not in shown
    assert pending.operation_id in str(caught.value)
