"""Error bodies: every shape that services and proxies send gives a report, and none raises."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from azureml_k8s._error_body import read_error, read_error_value, report_text
from azureml_k8s.exceptions import ServiceReport

SECRET = "Zx9Qw7Lk3Vb5"
GENERIC = "An internal server error occurred. Please try again. If the problem persists, contact support"
ARM = {"error": {"code": "C", "message": "m"}}


def read(body: object, *, status: int = 400, **headers: str) -> ServiceReport:
    """Read a body given as bytes, text or JSON data."""
    raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    return read_error(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


@pytest.mark.parametrize(
    ("body", "codes", "message"),
    [
        (ARM, ("C",), "m"),
        ({"Error": {"Code": "C", "Message": "m"}}, ("C",), "m"),
        ({"Code": "X", "Message": "y"}, ("X",), "y"),
        ({"error": "s"}, (), "s"),
        ({"error": {"error": {"code": "C", "message": "m"}}}, ("C",), "m"),
        ({"error": {"code": "C", "message": "m", "innererror": {"code": "D"}}}, ("C", "D"), "m"),
        ({"error": {"code": "C", "message": "m", "innerError": {"code": "D", "message": "n"}}}, ("C", "D"), "n"),
        ({"error": {"code": "C", "inner_error": {"code": "D", "innererror": {"code": "E"}}}}, ("C", "D", "E"), None),
        ({"odata.error": {"code": "C", "message": {"lang": "en-US", "value": "m"}}}, ("C",), "m"),
        ({"error": "invalid_client", "error_description": "AADSTS7: m"}, ("invalid_client",), "AADSTS7: m"),
        ({"status": 404, "error": "NotFound", "message": "m"}, ("NotFound",), "m"),
        ({"title": "Invalid", "detail": "m", "status": 400}, (), "m"),
        ({"title": "Invalid", "errors": {"Name": ["too long", "odd"]}}, (), "Name: too long odd"),
        ({"errors": [{"code": "C", "message": "m"}]}, ("C",), "m"),
        ({"error": {"code": "C", "details": {"code": "D", "message": "m"}}}, ("C", "D"), "m"),
        ({"error": {"code": "C", "details": "m"}}, ("C",), "m"),
        ({"error": {"code": "C", "details": ["m", 7, None]}}, ("C",), "m"),
        ({"error": [{"code": "C", "message": "m"}]}, ("C",), "m"),
        ([{"error": {"code": "C", "message": "m"}}], ("C",), "m"),
        ({"error": {"code": 404, "message": "m"}}, (), "m"),
        ({"error": {"code": "C", "message": 12}}, ("C",), "12"),
        ({"error": {"code": None, "message": None, "details": None, "innerError": None, "target": None}}, (), None),
        ({"error": 42}, (), None),
        ({"details": {"network": {"code": "C", "message": "m"}}}, ("C",), "m"),
        ({"message": 'see {"a": 1}'}, (), 'see {"a": 1}'),
        ({"error": {"code": "C", "message": json.dumps(ARM)}}, ("C",), "m"),
        ({"error": {"code": "B", "message": json.dumps(json.dumps(ARM))}}, ("B", "C"), "m"),
        ({"message": f"Response: {json.dumps(ARM)}"}, ("C",), "m"),
        (f"Operation returned an error: {json.dumps(ARM)}", ("C",), "m"),
        ({"error": {"code": "C", "message": "set {x} in {y}"}}, ("C",), "set {x} in {y}"),
        ({"error": {"code": "C", "message": "C"}}, ("C",), None),
        ('"nope"', (), "nope"),
        ("<Error><Code>C</Code><Message>m &amp; n</Message></Error>", ("C",), "m & n"),
    ],
)
def test_shapes(body: object, codes: tuple[str, ...], message: str | None) -> None:
    """AML's, ARM's, OData's, Entra's, a framework's, a proxy's: codes and the deepest message are found in each."""
    report = read(body)
    assert report.codes == codes
    assert report.message == message
    assert report.status == 400


def test_several_details_follow_the_first() -> None:
    """The first detail is the message; the outer sentence and the other details are told with their codes."""
    details = [{"code": "A", "message": "one"}, {"code": "B", "message": "two"}, {"message": "three"}]
    report = read({"error": {"code": "Bad", "message": "outer", "details": details}})
    assert report.message == "one"
    assert report.codes == ("Bad", "A", "B")
    assert report.details == ("Bad: outer", "B: two", "three")


def test_equal_messages_are_told_once() -> None:
    """MachineLearningNotebooks#251: levels that repeat one another differ in case, blanks or a full stop only."""
    report = read_error_value({"code": "A", "message": "Same  text.", "error": {"code": "A", "message": "same text"}})
    assert (report.codes, report.message, report.details) == (("A",), "same text", ())


def test_hybrid_provisioning_error() -> None:
    """MachineLearningNotebooks#251: a sentence in the place of a code is a sentence; the innermost text is shown."""
    inner = {"code": GENERIC, "message": "Connection failed to establish within 30000 milliseconds."}
    error = {"code": "InternalServerError", "statusCode": 500, "message": GENERIC, "details": [inner]}
    report = read_error_value({"code": "InternalServerError", "message": GENERIC, "error": error})
    assert report.status is None
    assert report.codes == ("InternalServerError",)
    assert report.message == "Connection failed to establish within 30000 milliseconds."
    assert report.details == (f"InternalServerError: {GENERIC}",)


def test_a_generic_inner_sentence_does_not_hide_the_outer_one() -> None:
    """That an internal error occurred says less than what stands around it."""
    inner = {"code": "InternalServerError", "message": "An internal error occurred."}
    report = read({"error": {"code": "BadRequest", "message": "version 1.12.4 is too old", "innererror": inner}})
    assert report.message == "version 1.12.4 is too old"
    assert report.details == ("InternalServerError: An internal error occurred.",)


def test_the_detail_of_a_failed_operation() -> None:
    """azure-cli-extensions#515: without a message of its own, an error has that of its detail."""
    detail = {"code": "BadRequestFormat", "message": "version 1.12.4 not supported"}
    report = read_error_value({"code": "BadRequest", "details": [detail]})
    assert report.codes == ("BadRequest", "BadRequestFormat")
    assert report_text(report) == "version 1.12.4 not supported"


def test_azure_ml_envelope_with_null_members() -> None:
    """The recorded envelope: members are null, innerError has a capital, ids stand beside the error."""
    names = (
        "severity messageFormat messageParameters referenceCode detailsUri target innerError debugInfo additionalInfo"
    )
    error = {"code": "UserError", "message": "no secrets", "details": [], **dict.fromkeys(names.split())}
    report = read({"error": error, "correlation": {"operation": "op", "request": "rq"}, "componentName": "x"})
    assert (report.codes, report.message, report.details) == (("UserError",), "no secrets", ())
    assert (report.request_id, report.correlation_id) == ("rq", "op")


def test_ids_of_the_headers_come_first() -> None:
    """Header names count in any case; what the body says is second."""
    body = {"error": {"code": "C", "requestId": "b1", "correlationId": "b2"}}
    report = read(body, X_MS_Request_Id="h1", x_ms_CORRELATION_request_id="h2")
    assert (report.request_id, report.correlation_id) == ("h1", "h2")
    report = read(body)
    assert (report.request_id, report.correlation_id) == ("b1", "b2")
    assert read({"error": {}, "correlation": {"RequestId": "b3"}}).request_id == "b3"
    assert read_error(400, {}, b"", client_request_id="mine").client_request_id == "mine"


def test_policy_details_are_told() -> None:
    """What forbade the request stands in additionalInfo, and the target beside it."""
    info = {"policyAssignmentDisplayName": "Allow eastus only", "parameters": {}, "sasToken": SECRET}
    error = {"code": "RequestDisallowedByPolicy", "target": "k8s1", "message": "disallowed"}
    report = read({"error": {**error, "additionalInfo": [{"type": "PolicyViolation", "info": info}, None]}})
    assert report.target == "k8s1"
    assert report.message == "disallowed"
    assert report.details == ("PolicyViolation: policyAssignmentDisplayName=Allow eastus only, sasToken=***",)


def test_an_error_code_header_is_a_code() -> None:
    """A refusal without a body may still have its code in a header."""
    report = read(b"", status=409, x_ms_error_code="ResourceIsLocked")
    assert report.codes == ("ResourceIsLocked",)
    assert report_text(report) == "ResourceIsLocked"


def test_plain_text_is_the_body() -> None:
    """autorest.python#791: a text that is no JSON is shown as it is."""
    report = read("no such thing", content_type="text/plain")
    assert (report.codes, report.message, report.body) == ((), None, "no such thing")
    assert report_text(report) == "no such thing"


def test_html_is_reduced_to_what_a_person_reads() -> None:
    """autorest.python#791: the title is the message; scripts, styles, comments and tags are left out."""
    page = """<!DOCTYPE html><html><head><title>502 Bad&nbsp;Gateway</title><style>p {color: red}</style>
      <script>if (a < b && c > d) { steal() }</script></head>
      <body><!-- hidden --><h1>Sorry</h1><p>The proxy &lt;p1&gt; <b>failed</b>.</p></body></html>"""
    report = read(page, status=502, content_type="text/html; charset=utf-8")
    assert report.message == "502 Bad Gateway"
    assert report.body == "502 Bad Gateway Sorry The proxy <p1> failed ."


@pytest.mark.parametrize("page", ["<html><body>Sorry</body>", "<p>Sorry", "\ufeff <html>\n<h1>Sorry</h1"])
def test_broken_html_is_read_too(page: str) -> None:
    """Without a title there is no message, and a page needs no end, nor a content type."""
    report = read(page, status=502)
    assert report.message is None
    assert report_text(report).startswith("Sorry")


def test_text_that_begins_with_an_angle_is_text() -> None:
    """Not every `<` begins a page."""
    assert read("< 3 tries left >").body == "< 3 tries left >"


@pytest.mark.parametrize(
    ("raw", "content_type"),
    [
        (b"\xef\xbb\xbf" + json.dumps({"message": "m\u00fc"}).encode(), ""),
        (json.dumps({"message": "m\u00fc"}, ensure_ascii=False).encode("utf-16"), ""),
        (b'{"message": "m\xfc"}', "application/json; charset=ISO-8859-1"),
        (b'{"message": "m\xc3\xbc"}', "application/json; charset=iso-8859-12"),
        (b'{"message": "m\xc3\xbc"}', "application/json; charset=hex"),
    ],
)
def test_encodings(raw: bytes, content_type: str) -> None:
    """Byte order marks and declared charsets are honoured; unknown ones are not believed."""
    assert read(raw, content_type=content_type).message == "m\u00fc"


def test_bad_bytes_are_replaced() -> None:
    """Invalid UTF-8 hides nothing but itself."""
    assert read(b'{"message": "a\xff\xfeb"}').message == "a\ufffd\ufffdb"
    assert read(b"\x00\x80\xffplain").body.endswith("plain")


def test_control_characters_and_surrogates_are_removed() -> None:
    """A message can neither steer a terminal nor break printing."""
    report = read('{"message": "a\\u001b[31mred\\u0007\\ud800 \\u202eback", "code": "C\\u001b"}')
    assert report.message is not None
    assert report.message.encode()
    assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(str(asdict(report)) + report.message)
    assert "\n" not in report_text(read({"message": "one\r\ntwo"}))


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (ServiceReport(status=500), "HTTP 500 without a body"),
        (ServiceReport(), "the service gave no reason"),
        (ServiceReport(codes=("A", "B"), body="{}"), "B"),
        (ServiceReport(codes=("A",), message="one\n  two"), "one two"),
        (ServiceReport(body="a\tb"), "a b"),
    ],
)
def test_one_line(report: ServiceReport, text: str) -> None:
    """The sentence is the message, else the innermost code, else the body, else the status, on one line."""
    assert report_text(report) == text


@pytest.mark.parametrize("body", [b"", b"  \n", b"\xef\xbb\xbf"])
def test_empty_bodies(body: bytes) -> None:
    """Nothing is made of nothing."""
    report = read(body, status=500)
    assert (report.codes, report.message, report.body) == ((), None, "")
    assert report_text(report) == "HTTP 500 without a body"


@pytest.mark.parametrize("value", [None, [], {}, 3, True, "", {1: {2, 3}}, {("a",): object()}])
def test_values_without_an_error(value: object) -> None:
    """A failed operation that does not say why gives an empty report."""
    report = read_error_value(value)
    assert (report.codes, report.message, report.details) == ((), None, ())


def test_a_list_of_provisioning_errors() -> None:
    """Both recorded shapes in one list: the first is the message, the other a detail."""
    report = read_error_value([{"error": {"code": "A", "message": "one"}}, {"code": "B", "message": "two"}])
    assert (report.codes, report.message, report.details) == (("A", "B"), "one", ("B: two",))


def test_bodies_are_cut_and_bounded() -> None:
    """The body is shown to 500 characters, messages and details are bounded, whatever the size of the answer."""
    many = [{"code": f"C{number}", "message": f"m{number} " + "x" * 9_000} for number in range(100)]
    report = read({"error": {"code": "C", "message": "m", "details": many}})
    assert len(report.body) == 500
    assert report.body.endswith("...")
    assert report.message is not None
    assert len(report.message) == 4_000
    assert len(report.details) <= 30
    assert len(report.codes) <= 30
    assert len(read(b"y" * 3_000_000).body) == 500


@pytest.mark.parametrize("depth", [10, 500, 50_000])
@pytest.mark.parametrize("level", ['{"error":%s}', '{"innererror":%s}', "[%s]", '{"details":[%s]}', '{"x":%s}'])
def test_any_depth(depth: int, level: str) -> None:
    """Nesting beyond any sense costs little and raises nothing; ten levels are read to the end."""
    begin, end = level.split("%s")
    report = read((begin * depth + '{"code": "Deep", "message": "down here"}' + end * depth).encode())
    if depth == 10 and "x" not in level:
        assert (report.codes, report.message) == (("Deep",), "down here")
    assert report.body
    assert report_text(report)


def test_secrets_are_masked_everywhere() -> None:
    """Messages, codes, details, target, ids and body: in each a secret would go on into logs and tickets."""
    url = f"https://host/op?t=1&c={SECRET}&s={SECRET}&h={SECRET}"
    details = [{"code": "A", "message": f"at {url}"}, {"code": f"sig={SECRET}", "message": f"Bearer {SECRET}"}]
    error = {"code": "C", "target": url, "message": f"AccountKey={SECRET};", "details": details, "password": SECRET}
    report = read({"error": error}, x_ms_request_id=f"token={SECRET}", x_ms_correlation_request_id=url)
    assert SECRET not in str(asdict(report))
    assert report.message == "at https://host/op?t=***&c=***&s=***&h=***"
    for body in (
        f"Bearer {SECRET}",
        f"<title>{url}</title>",
        f'"password={SECRET}"',
        f'{{"pass\\u0077ord": "{SECRET}"}}',
    ):
        assert SECRET not in str(asdict(read(body)))
    assert SECRET not in str(asdict(read_error_value({"message": json.dumps({"message": f"token={SECRET}"})})))


def test_a_secret_at_the_cut_is_masked_first() -> None:
    """Half a secret at the end of a cut body would be recognised by nobody."""
    text = "x" * 470 + f" Authorization: Bearer {SECRET}{SECRET}"
    assert SECRET[:5] not in read(text).body


_TEXT = st.text() | st.sampled_from(("C", "a sentence here", "{", '{"code": "C"}', '"', "[{", "<p>", "Bearer x"))
_WORDS = (
    "error Error code Code message Message details innererror innerError target errors odata.error value "
    "additionalInfo info correlation requestId title detail messageFormat"
)
_NAMES = st.text() | st.sampled_from(_WORDS.split())
_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | _TEXT
_JSON = st.recursive(_PLAIN, lambda inner: st.lists(inner) | st.dictionaries(_NAMES, inner), max_leaves=30)
_HEADERS = st.dictionaries(st.text() | st.just("Content-Type"), st.text() | st.just("text/html; charset=utf-16"))


def check(report: ServiceReport) -> None:
    """What holds for every report."""
    assert all(isinstance(code, str) and code and " " not in code.strip() for code in report.codes)
    assert len(set(report.codes)) == len(report.codes)
    assert report.message is None or report.message.strip()
    assert len(report.body) <= 500
    line = report_text(report)
    assert line
    assert len(line.splitlines()) == 1
    assert line.encode()
    assert json.dumps(asdict(report)).encode()


@given(_JSON)
@example({"error": {"code": "\ud800", "message": {"value": {"value": "x"}}}})
@settings(max_examples=400)
def test_any_json_is_read(value: Any) -> None:
    """Random JSON, sown with the names that mean something, in a body or inside one."""
    check(read_error(500, {}, json.dumps(value).encode()))
    check(read_error_value(value))


@given(st.integers(100, 599), _HEADERS, st.binary() | _TEXT.map(lambda text: text.encode("utf-8", "replace")))
@example(400, {}, b"<![if x]><?a<!b<!--<p")
@example(400, {"content-type": "text/html"}, b"<script><script></script>x<style>")
def test_any_bytes_are_read(status: int, headers: dict[str, str], body: bytes) -> None:
    """Random bytes under random headers."""
    report = read_error(status, headers, body)
    check(report)
    assert report.status == status


@given(_JSON, st.sampled_from(("code", "message", "target", "details", "anything")))
def test_a_secret_never_comes_through(value: Any, name: str) -> None:
    """Wherever a recognisable secret stands in a body, the report does not have it."""
    body = {"error": {"inner": value, name: f"see ?sig={SECRET}", "innererror": {name: [{"accessKey": SECRET}]}}}
    assert SECRET not in str(asdict(read(body)))
