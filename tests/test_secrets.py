"""Masking: no secret survives, ordinary text does, and nothing raises."""

from __future__ import annotations

import copy
import gc
import io
import json
import logging
import threading
import time
import traceback
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
import requests
from hypothesis import example, given, settings
from hypothesis import strategies as st

from azureml_k8s._secrets import (
    MASK,
    MaskingFilter,
    get_logger,
    is_secret_name,
    mask_json,
    mask_log_records_of,
    mask_text,
    masked_copy,
)

JWT = "eyJhbGciOiJSUzI1NiIsIng1dCI6Ik1uQ.eyJhdWQiOiJodHRwczovL21hbmFn.c2lnbmF0dXJl-_x"
SECRET = "Zx9Qw7Lk3Vb5"
OPERATION_URL = (
    "https://management.azure.com/subscriptions/0/providers/Microsoft.MachineLearningServices/locations/westeurope/"
    f"computeOperationsStatus/op1?api-version=2024-04-01&service=new&t=638{SECRET}&c=MII{SECRET}&s={SECRET}_-&h={SECRET}"
)

# Each holds SECRET, in a form that is met in headers, logs, error bodies or tracebacks.
WITH_SECRET = [
    f"Authorization: Bearer {SECRET}",
    f"authorization: bearer  {SECRET}\r\nAccept: */*",
    f"{{'Authorization': 'Bearer {SECRET}', 'Accept': '*/*'}}",
    f"send: b'GET / HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {SECRET}\\r\\n\\r\\n'",
    f"('Proxy-Authorization', 'Basic {SECRET}==')",
    f'{{"x-ms-authorization-auxiliary": "Bearer {SECRET}"}}',
    f"got a token: Bearer {SECRET}.",
    OPERATION_URL,
    OPERATION_URL.replace("&", "&amp;"),
    OPERATION_URL.replace("&", "\\u0026"),
    f"http://127.0.0.1/login?next={urllib.parse.quote(OPERATION_URL, safe='')}",
    f"url: /container/blob?sv=2024&sig={SECRET}%2B%3D&se=2025",
    f"https://login/callback?code={SECRET}&state=1",
    f"client_id=1&client_secret={SECRET}&grant_type=client_credentials",
    f"https://x/?access_token={SECRET}#top",
    f"https://x/y?subscription-key={SECRET}",
    f"t=638&c={SECRET}&s={SECRET}&h={SECRET}",
    f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={SECRET}==;EndpointSuffix=core.windows.net",
    f"Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey={SECRET}=;EntityPath=hc",
    f"Server=db;User Id=me;Password=a b {SECRET};Encrypt=true",
    f"Password=a {SECRET} b;Server=db",
    f"Server=db;Pwd={SECRET}",
    f'{{"relayConnectionString": "Endpoint=sb://x/;{SECRET}"}}',
    f'{{"Password" : "a\\"{SECRET}"}}',
    f"{{'password': \"it's {SECRET}\"}}",
    f'"{{\\"clientSecret\\": \\"a\\\\\\"{SECRET}\\"}}"',
    json.dumps(json.dumps(json.dumps({"a": [{"adminPassword": f'q"{SECRET}'}]}))),
    f'{{"key": ["{SECRET}", {{"a": "]{SECRET}"}}], "b": 1}}',
    f'cut off: {{"token": "{SECRET}',
    f'{{"secret": {{"a": "{SECRET}',
    f"https://me:{SECRET}@host/path",
    f"https://me:p@{SECRET}@host:8080/path",
    f"https:\\/\\/me:{SECRET}@host",
    f"Ocp-Apim-Subscription-Key: {SECRET}",
    f"client_secret: {SECRET}",
    f"password: {SECRET}",
    f"connect(user='u', password='{SECRET}')",
    f"-----BEGIN RSA PRIVATE KEY-----\nMII{SECRET}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\nMII{SECRET}",
]

ORDINARY = [
    "",
    "the token endpoint is down",
    "key: value pairs",
    "Bearer token is missing",
    "The 'Authorization' header is missing",
    'Bearer authorization_uri="https://login.microsoftonline.com/x", error="invalid_token", error_description="x"',
    "could not get_token: AADSTS7000215: Invalid client secret provided",
    "password: required",
    "a key == b",
    "/subscriptions/0/resourceGroups/rg/providers/Microsoft.KeyVault/vaults/key/secrets/password",
    "https://management.azure.com/subscriptions/0/resourceGroups?api-version=2024-04-01&$skip=20",
    "https://host:443/path mail me@host",
    '{"password": null, "token": "", "key": true, "secret": {}, "secrets": [1], "code": "BadRequest", "t": "x"}',
    "Expected one of 'key', 'token': found neither",
    "max retries exceeded (t=3, c=4)",
    "microsoft.machinelearningservices.workspaces.computes.kubernetes",
    f"already {MASK}",
]


@pytest.mark.parametrize("text", WITH_SECRET)
def test_text_with_a_secret_is_masked(text: str) -> None:
    """The secret is gone, a mask stands in its place, and masking again changes nothing."""
    masked = mask_text(text)
    assert SECRET not in masked
    assert MASK in masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    """Words that only speak of secrets are left alone."""
    assert mask_text(text) == text


@pytest.mark.parametrize("text", [JWT, f"({JWT})", f"x.{JWT}", f'"{JWT}"', f"user-{JWT}", f"token {JWT[:50]}"])
def test_a_web_token_is_masked_wherever_it_stands(text: str) -> None:
    """A JSON Web Token needs no name beside it to be recognised, and may be cut."""
    assert "eyJ" not in mask_text(text)


def test_what_is_beside_the_secret_stays_readable() -> None:
    """Only values go: names, hosts, paths and harmless parameters are needed to understand a message."""
    assert mask_text(OPERATION_URL).startswith(OPERATION_URL.partition("&t=")[0])
    assert mask_text(OPERATION_URL).endswith("&t=***&c=***&s=***&h=***")
    assert mask_text('{"token": "x", "n": [1, 2], "p": "q"}') == '{"token": "***", "n": [1, 2], "p": "q"}'
    assert mask_text('a \\"key\\": \\"b\\", \\"c\\": 1') == 'a \\"key\\": \\"***\\", \\"c\\": 1'
    assert mask_text("https://me:pw@host/x") == "https://me:***@host/x"
    assert mask_text("A=1;AccountKey=x==;B=2") == "A=1;AccountKey=***;B=2"
    assert mask_text('{"key": 12, "n": 1}') == '{"key": ***, "n": 1}'
    assert mask_text('"a \\"key\\": \\"cut", "c": 1') == '"a \\"key\\": \\"***", "c": 1'
    assert mask_text("x Bearer abc1, next") == "x Bearer ***, next"


def test_operation_url_in_a_log_line_is_masked() -> None:
    """urllib3 logs path and query without the host."""
    path = OPERATION_URL.removeprefix("https://management.azure.com")
    line = f'https://management.azure.com:443 "GET {path} HTTP/1.1" 200 None'
    assert SECRET not in mask_text(line)
    assert mask_text(line).endswith('&h=*** HTTP/1.1" 200 None')


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_NAMES = st.sampled_from(("relayConnectionString", "PASSWORD", "client_secret", "Token", "access-token", "accountKey"))
_PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
_JSON = st.recursive(_PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
# Pieces of which hostile or unlucky texts are made.
_WORDS = (
    "password,key,token,\",',\\,:,=,;,&,?, ,\n,://,@,{,},[,],a,Bearer ,eyJ,.,sig=,t=,%3D,%26,%25,***,1,&amp;,\\u0026,"
    "-----BEGIN PRIVATE KEY-----,authorization: basic "
)
_PIECES = st.sampled_from(_WORDS.split(","))
_UNLUCKY = st.lists(_PIECES, max_size=25).map("".join)


@given(st.text() | _UNLUCKY)
@example("Bearer Bearer x")
@settings(max_examples=500)
def test_masking_text_twice_is_masking_it_once(text: str) -> None:
    """mask_text takes any text, and its own output is a text without secrets."""
    masked = mask_text(text)
    assert mask_text(masked) == masked


@given(name=_NAMES, filling=st.text() | _UNLUCKY, around=_JSON, depth=st.integers(0, 3))
@settings(max_examples=300)
def test_a_json_member_is_masked_in_any_escaping(name: str, filling: str, around: Any, depth: int) -> None:
    """A secret member is masked however often its document was put into another as a string, whatever its value."""
    value = f"{filling}{SECRET}"
    document: Any = {"around": around, "list": [{name: value}], "after": "still here"}
    text = json.dumps(document)
    for _ in range(depth):
        text = json.dumps({"message": text})
    masked = mask_text(text)
    assert SECRET not in masked


@given(st.sampled_from(("sig", "t", "c", "s", "h", "code", "client_secret", "password")), st.text(min_size=1))
def test_a_query_part_is_masked_whatever_its_value(name: str, filling: str) -> None:
    """A query's secret part is masked for every properly quoted value, and the other parts stay."""
    query = urllib.parse.urlencode({"api-version": "1", name: filling + SECRET, "z": "end"})
    masked = mask_text(f"GET https://host/path?{query} failed")
    assert SECRET not in masked
    assert masked.endswith("&z=end failed")


@given(st.text(alphabet=_LETTERS + "-._~+/", min_size=4), st.sampled_from(("Bearer", "bearer", "BEARER")))
def test_a_bearer_value_in_a_header_is_masked(value: str, scheme: str) -> None:
    """Whatever follows the scheme in a header is masked, even if it looks like a word."""
    assert mask_text(f"{{'Authorization': '{scheme} {value}'}}") == f"{{'Authorization': '{scheme} {MASK}'}}"


_HOSTILE = (
    "eyJ|eyJ-|eyJa.|Bearer |bearer|'key':'|\"key\":{|\\|key=|key=a |;key= |?t=|t=&|://a:|://|%25|%26t%3D|<|;|a|{|'key':[|"
    'authorization: basic|-----BEGIN PRIVATE KEY-----| |password: |x-key: a|\'|"|t="|&|[A|&amp;|a-key:|pwd=a;|=|%|token'
)


@pytest.mark.parametrize("piece", _HOSTILE.split("|"))
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Ten times the text takes about ten times as long, not a hundred times."""
    mask_text(piece * 100)
    quick, slow = _seconds_for(piece * 2_000), _seconds_for(piece * 20_000)
    assert slow < 0.05 or slow < 45 * quick


def _seconds_for(text: str) -> float:
    def once() -> float:
        started = time.process_time()
        mask_text(text)
        return time.process_time() - started

    return min(once() for _ in range(3))


def test_json_secrets_are_masked_at_any_depth() -> None:
    """Names count by their end, in any case and below lists; what tells nothing stays."""
    given = {
        "relayConnectionString": "Endpoint=..",
        "properties": [{"ADMINPASSWORD": 7, "name": "x"}, {"client_secret": ["a"], "sasToken": {"a": "b"}}],
        "accountKey": 0,
        "primary-key": "k",
        "token": None,
        "key": "",
        "secret": True,
        "password": [],
        "keys": ["seen"],
        "tokens": 3,
    }
    assert mask_json(given) == {
        "relayConnectionString": MASK,
        "properties": [{"ADMINPASSWORD": MASK, "name": "x"}, {"client_secret": MASK, "sasToken": MASK}],
        "accountKey": MASK,
        "primary-key": MASK,
        "token": None,
        "key": "",
        "secret": True,
        "password": [],
        "keys": ["seen"],
        "tokens": 3,
    }


def test_texts_in_json_are_masked_on_demand() -> None:
    """A text may hold a secret whatever its key; by default only the keys count."""
    given = {"message": "password=hush", "list": ["Bearer abc.def", 7]}
    assert mask_json(given) == given
    assert mask_json(given, texts=True) == {"message": f"password={MASK}", "list": [f"Bearer {MASK}", 7]}


def test_json_keeps_its_order() -> None:
    """The members come out in the order in which they went in."""
    assert list(mask_json({"z": 1, "token": "x", "a": {"c": 1, "b": 2}})) == ["z", "token", "a"]


@given(_JSON)
def test_masking_json_is_a_deep_copy_and_idempotent(value: Any) -> None:
    """The input is not touched and shares nothing with the output; masking again changes nothing."""
    before = copy.deepcopy(value)
    masked = mask_json(value)
    assert value == before
    assert mask_json(masked) == masked
    assert masked is not value or not isinstance(value, (dict, list))


@given(_JSON, _NAMES, st.text())
def test_no_secret_survives_in_json(value: Any, name: str, filling: str) -> None:
    """Whatever stands beside it, the value of a secret name does not come out."""
    document = {"before": value, "list": [[{name: filling + SECRET}, {name: {"deeper": [filling + SECRET]}}]]}
    assert SECRET not in json.dumps(mask_json(document))


def test_json_may_be_deeper_than_the_stack() -> None:
    """A document of a hundred thousand levels is masked to its end."""
    value: Any = {"password": SECRET}
    for _ in range(100_000):
        value = [value]
    masked = mask_json(value)
    for _ in range(100_000):
        masked = masked[0]
    assert masked == {"password": MASK}
    _unwind(value)


def _unwind(value: Any) -> None:
    """Take a deep list apart level by level; freeing it at once is hard on the C stack of some versions."""
    while isinstance(value, list) and value:
        value = value.pop()


@pytest.mark.parametrize(("name", "secret"), [("connection_string", True), ("Key", True), ("keyVault", False)])
def test_a_name_is_secret_by_its_end(name: str, secret: bool) -> None:
    """The rule is public to the other parts, which mark fields by it."""
    assert is_secret_name(name) is secret


class Holder(Exception):
    """An error that holds a request, as those of requests do."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.request = {"Authorization": f"Bearer {SECRET}"}


def _raised(fail: Callable[[], object]) -> BaseException:
    try:
        fail()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def _fail_with_chain() -> None:
    token = f"Bearer {SECRET}"  # a local variable, which tools that show variables would print
    try:
        try:
            raise Holder(f"inner {token}")  # noqa: TRY301 (several frames deep is another test)
        except Holder as error:
            raise ConnectionError(f"middle ?sig={SECRET}") from error
    except ConnectionError:
        raise Holder(f"outer password={SECRET}")  # noqa: B904 (an implicit context is what is tried)


def test_a_copied_error_reads_alike_without_secrets() -> None:
    """Type names, messages, lines and chain show as before; str, repr, args and traceback are masked."""
    error = _raised(_fail_with_chain)
    masked = masked_copy(error)
    shown = "".join(traceback.format_exception(masked))
    plain = "".join(traceback.format_exception(error))
    assert SECRET in plain
    for text in (shown, str(masked), repr(masked), repr(masked.args)):
        assert SECRET not in text
    assert shown == plain.replace(f"Bearer {SECRET}", "Bearer ***").replace(SECRET, MASK)
    assert f"{__name__}.Holder: inner Bearer ***" in shown
    assert "direct cause" in shown


def test_a_copied_error_holds_nothing_of_the_original() -> None:
    """Neither its attributes nor its frames' variables lead to the error, its request or a secret."""
    masked = _handled()
    assert vars(masked) == {}
    assert not isinstance(masked, Holder)
    shown = "".join(traceback.TracebackException.from_exception(masked, capture_locals=True).format())
    assert SECRET not in shown
    assert not any(isinstance(one, Holder) for one in _reachable(masked))


def _handled() -> BaseException:
    """Copy an error as code does that chains it: the name of the original ends with the `except`."""
    try:
        _fail_with_chain()
    except Holder as error:
        return masked_copy(error)
    raise AssertionError("nothing was raised")


def _reachable(root: object) -> Iterator[object]:
    """Everything that an error leads to, modules, functions and classes aside."""
    seen, pending = {id(root)}, [root]
    while pending:
        for one in gc.get_referents(pending.pop()):
            if id(one) not in seen and not isinstance(one, (type, type(gc), type(_reachable))):
                seen.add(id(one))
                pending.append(one)
                yield one


def test_a_requests_error_is_copied() -> None:
    """The real thing, urllib3's chain included: no query secret in the traceback, no request or response attached."""
    error = _raised(
        lambda: requests.get(
            f"http://127.0.0.1:1/x?t={SECRET}", headers={"Authorization": f"Bearer {SECRET}"}, timeout=5
        )
    )
    masked = masked_copy(error)
    shown = "".join(traceback.format_exception(masked))
    assert SECRET in "".join(traceback.format_exception(error))
    assert SECRET not in shown
    assert "requests.exceptions.ConnectionError: " in shown
    assert "urllib3.exceptions.NewConnectionError: " in shown
    assert not hasattr(masked, "request")


def test_notes_and_suppression_are_kept() -> None:
    """Notes are shown, masked; `raise ... from None` stays without a context."""
    error = ValueError("x")
    error.add_note(f"token={SECRET}")
    error.__context__ = KeyError("hidden")
    error.__suppress_context__ = True
    shown = "".join(traceback.format_exception(masked_copy(error)))
    assert "token=***" in shown
    assert "hidden" not in shown


def test_a_copy_ends_where_the_chain_goes_round_or_on_for_ever() -> None:
    """Cycles and long chains end after ten links."""
    error: BaseException = ValueError("0")
    error.__context__ = error
    assert masked_copy(error).__context__ is None
    for number in range(50):
        outer = ValueError(str(number))
        outer.__cause__ = error
        error = outer
    links, one = 0, cast("BaseException | None", masked_copy(error))
    while one is not None:
        links, one = links + 1, one.__cause__
    assert links == 10


def test_copying_does_not_touch_the_error_that_is_being_handled() -> None:
    """Called within `except`, the copy leaves the original's traceback and chain as they are."""
    error = _raised(_fail_with_chain)
    before = traceback.format_exception(error)
    try:
        raise error
    except Holder:
        handled = traceback.format_exception(error)
        masked_copy(error)
    assert traceback.format_exception(error) == handled != before


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), KeyError(f"sig={SECRET}&"), OSError(2, f"token={SECRET}"), SystemExit(3)]
)
def test_any_kind_of_error_is_copied(error: BaseException) -> None:
    """Base exceptions and those with odd constructors become plain exceptions of the same name."""
    masked = masked_copy(error)
    assert isinstance(masked, Exception)
    assert type(masked).__qualname__ == type(error).__qualname__
    assert SECRET not in str(masked)


def test_an_error_without_a_readable_text_is_copied() -> None:
    """An error whose own text raises does not stop the report of it."""

    class Unreadable(Exception):
        def __str__(self) -> str:
            raise RuntimeError(SECRET)

    assert str(masked_copy(Unreadable())) == "<Unreadable without a readable text>"


def test_a_recursion_error_is_copied() -> None:
    """A thousand frames are cut, not walked into."""

    def again() -> None:
        again()

    masked = masked_copy(_raised(again))
    assert "RecursionError" in "".join(traceback.format_exception(masked))
    assert len(traceback.extract_tb(masked.__traceback__)) <= 60


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A masked logger of its own, and what its handler writes."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger = get_logger("azureml_k8s.tests.secrets")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    yield logger, written
    logger.removeHandler(handler)


def test_log_records_are_masked(log: tuple[logging.Logger, io.StringIO]) -> None:
    """A secret that is split over the format and its arguments is found in the formatted line."""
    logger, written = log
    logger.debug(
        '%s://%s:%s "%s %s %s" %s %s', "https", "host", 443, "GET", f"/x?t={SECRET}&c=1", "HTTP/1.1", 200, None
    )
    logger.info("password=%s;", SECRET)
    logger.info("done %(token)s", {"token": f"Bearer {SECRET}"})
    logger.info({"password": SECRET})
    logger.info("100 %")
    assert SECRET not in written.getvalue()
    assert '"GET /x?t=***&c=*** HTTP/1.1" 200 None' in written.getvalue()
    assert "INFO 100 %\n" in written.getvalue()


def test_logged_errors_are_masked(log: tuple[logging.Logger, io.StringIO]) -> None:
    """exc_info is masked too, and the traceback keeps its lines."""
    logger, written = log
    try:
        _fail_with_chain()
    except Holder:
        logger.exception("failed")
    assert SECRET not in written.getvalue()
    assert "_fail_with_chain" in written.getvalue()


class Stubborn:
    """An argument that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


@pytest.mark.parametrize(
    "arguments", [("%s %s", f"token={SECRET}"), ("%d", f"sig={SECRET}"), ("x", 1), ("%s", Stubborn()), (Stubborn(), 1)]
)
def test_malformed_records_pass_and_raise_nothing(
    log: tuple[logging.Logger, io.StringIO], arguments: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Arguments that do not fit their format, or cannot be shown, give a masked line and no complaint on stderr."""
    logger, written = log
    logger.warning(*arguments)
    assert written.getvalue().startswith("WARNING ")
    assert SECRET not in written.getvalue()
    assert capsys.readouterr().err == ""


def test_every_field_of_a_record_is_masked() -> None:
    """Cached tracebacks, stack infos and extras are strings that a formatter may write."""
    record = logging.makeLogRecord(
        {"msg": "x", "exc_text": f"token={SECRET}", "stack_info": f"token={SECRET}", "url": f"/?sig={SECRET}", "n": 1}
    )
    assert MaskingFilter().filter(record) is True
    assert SECRET not in str(vars(record))
    assert record.n == 1


@given(st.text() | _UNLUCKY, st.lists(_PLAIN).map(tuple) | st.dictionaries(st.text(), _PLAIN).map(lambda one: (one,)))
def test_the_filter_takes_any_record(message: str, arguments: tuple[Any, ...]) -> None:
    """Whatever was logged, the record passes and can be formatted."""
    record = logging.LogRecord("x", logging.INFO, "f", 1, message, arguments, None)
    assert MaskingFilter().filter(record)
    assert logging.Formatter().format(record) == record.getMessage() == mask_text(record.getMessage())


def test_a_logger_is_masked_once_from_many_threads() -> None:
    """Asking again, at the same time, adds no second filter."""
    name = "azureml_k8s.tests.many"
    threads = [threading.Thread(target=mask_log_records_of, args=(name, f"{name}.child")) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert get_logger(name) is logging.getLogger(name)
    for one in (name, f"{name}.child"):
        assert [type(each) for each in logging.getLogger(one).filters] == [MaskingFilter]
