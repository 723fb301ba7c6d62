"""The errors: one base, azureml-core's constructor and properties, facts as attributes and as lines of text."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from azureml_k8s import exceptions
from azureml_k8s._secrets import masked_copy
from azureml_k8s.exceptions import (
    AuthenticationException,
    AzureMLException,
    ComputeTargetException,
    NotFoundException,
    OperationFailedException,
    OperationTimeoutException,
    ServiceException,
    ServiceReport,
    UnreachableException,
    UserErrorException,
)

CLASSES = [one for name in exceptions.__all__ if inspect.isclass(one := getattr(exceptions, name))]
ERRORS = [one for one in CLASSES if issubclass(one, Exception)]


@pytest.mark.parametrize("kind", [one for one in ERRORS if one is not AzureMLException])
def test_one_except_clause_is_enough(kind: type[AzureMLException]) -> None:
    """Scripts for azureml-core catch ComputeTargetException."""
    assert issubclass(kind, ComputeTargetException)
    assert issubclass(ComputeTargetException, AzureMLException)


def test_python_errors_are_kept_too() -> None:
    """A wrong argument is a ValueError, a time-out a TimeoutError; a missing token is a user's error as in v1."""
    assert issubclass(UserErrorException, ValueError)
    assert issubclass(OperationTimeoutException, TimeoutError)
    assert issubclass(AuthenticationException, UserErrorException)
    assert issubclass(NotFoundException, ServiceException)


@pytest.mark.parametrize("kind", ERRORS)
def test_azureml_cores_constructor_is_kept(kind: type[AzureMLException]) -> None:
    """By position and by name; message and inner_exception can be read and set."""
    inner = ValueError("inner")
    error = kind("it broke", inner, "k8s1", ["more"], "format", {"a": "b"}, "reference")
    assert (error.message, error.inner_exception, error.target, error.details) == ("it broke", inner, "k8s1", ["more"])
    assert error.message_format == "format"
    assert error.message_parameters == {"a": "b"}
    assert error.reference_code == "reference"
    error.inner_exception = None
    assert error.inner_exception is None
    assert kind(exception_message="x").message == kind("x").message == "x"
    assert error.args == ("it broke",)


def test_the_text_begins_with_the_message_and_goes_on_with_facts() -> None:
    """A line each, in an order that does not change; what is unknown has none."""
    report = ServiceReport(
        status=400,
        codes=("Outer", "Inner"),
        message="deepest",
        details=("Detail: d",),
        target="t",
        request_id="r",
        correlation_id="c",
        client_request_id="q",
    )
    error = OperationFailedException("deepest", report=report, elapsed_s=61.4, operation_id="op", remedy="do that")
    assert str(error).splitlines() == [
        "deepest",
        "  HTTP status: 400",
        "  error codes: Outer, Inner",
        "  detail: Detail: d",
        "  target: t",
        "  operation id: op",
        "  request id: r",
        "  correlation id: c",
        "  client request id: q",
        "  elapsed: 61 s",
        "  remedy: do that",
    ]
    assert (error.status_code, error.codes, error.request_id) == (400, ("Outer", "Inner"), "r")
    assert (error.correlation_id, error.client_request_id) == ("c", "q")
    assert str(ComputeTargetException("alone")) == "alone"
    assert repr(error) == "OperationFailedException('deepest')"


@pytest.mark.parametrize("kind", ERRORS)
def test_every_fact_is_an_attribute(kind: type[AzureMLException]) -> None:
    """None where it does not apply, so that code need not ask first."""
    error = kind("x")
    for name in exceptions.Facts.__annotations__:
        assert getattr(error, name) is None
    assert (error.status_code, error.codes, error.request_id) == (None, (), None)
    assert (error.correlation_id, error.client_request_id) == (None, None)


def test_an_unknown_fact_is_refused_by_name() -> None:
    """A misspelt one would be lost."""
    with pytest.raises(TypeError, match="remedi"):
        ComputeTargetException("x", remedi="y")  # type: ignore[call-arg]


def test_a_stack_trace_is_printed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    """azureml-core's method, to stderr."""
    ComputeTargetException("it broke").print_stacktrace()
    out, err = capsys.readouterr()
    assert out == ""
    assert "it broke" in err


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_travels_to_another_process(kind: type[AzureMLException]) -> None:
    """With its facts, as multiprocessing and job runners send it."""
    error = kind("x", target="t", remedy="r", report=ServiceReport(status=404, codes=("C",)))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.status_code == 404


def test_an_error_with_a_masked_cause_travels_too() -> None:
    """The copy of a foreign error keeps its name, text and notes on the way."""
    cause = UnicodeError("sign-in failed: password=hushhush")
    cause.add_note("a note")
    error = UnreachableException("x", masked_copy(cause))
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        inner = again.inner_exception
        assert (type(inner).__name__, str(inner)) == ("UnicodeError", "sign-in failed: password=***")
        assert inner.__notes__ == ["a note"]
