"""Every error that this library raises.

AzureMLException
└── ComputeTargetException              base of all that we raise; scripts written for azureml-core catch this
    ├── UserErrorException              a wrong argument or configuration; also a ValueError; raised before any request
    │   └── AuthenticationException     no token, or the service does not accept it
    ├── WorkspaceException              a workspace name that fits several workspaces
    ├── ProjectSystemException          the workspace (or its group or subscription) is absent
    ├── ServiceException                the service answered, and refused
    │   ├── NotFoundException           404: no such compute
    │   ├── ForbiddenException          403: the caller may not do that
    │   ├── ConflictException           409, or the compute exists with other settings
    │   ├── ThrottledException          429, or a delay longer than we may wait
    │   └── OperationFailedException    it accepted the request, and ended the operation as Failed or Canceled
    ├── UnreachableException            no usable answer: network, TLS, time-out of one request, strange format
    └── OperationTimeoutException       we stopped waiting, the operation goes on; also a TimeoutError

Names in the first three lines of the tree, and ProjectSystemException, WorkspaceException and ServiceException, are
azureml-core's. There, not all of them are ComputeTargetException; here they are, so that one ``except`` is enough.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, Unpack

if TYPE_CHECKING:
    from azureml_k8s.compute.kubernetescompute import Difference, KubernetesComputeAttachConfiguration

__all__ = [
    "AuthenticationException",
    "AzureMLException",
    "ComputeTargetException",
    "ConflictException",
    "ForbiddenException",
    "NotFoundException",
    "OperationFailedException",
    "OperationTimeoutException",
    "ProjectSystemException",
    "ServiceException",
    "ServiceReport",
    "ThrottledException",
    "UnreachableException",
    "UserErrorException",
    "WorkspaceException",
]

#: azureml-core's, of things that this library does not do.
_ELSEWHERE = frozenset(
    {
        "ActivityFailedException",
        "AzureMLAggregatedException",
        "DatasetTimestampMissingError",
        "DiscoveryUrlNotFoundException",
        "ExperimentExecutionException",
        "ModelNotFoundException",
        "ModelPathNotFoundException",
        "ParallelRunException",
        "RunConfigurationException",
        "RunEnvironmentException",
        "SnapshotException",
        "TrainingException",
        "WebserviceException",
        "WorkspacePrivateEndpointException",
    }
)


@dataclass(frozen=True, kw_only=True)
class ServiceReport:
    """What the service said of one failure, read from any shape of error body, with secrets masked.

    Attributes:
        status: HTTP status of the answer, None where the failure was told inside a body (an operation's end).
        codes: Every error code, outermost first, each once.
        message: The deepest message that says something, or None.
        details: The other messages, each as ``CODE: message``.
        target: What the service says the error is about.
        request_id: ``x-ms-request-id``, which Azure support asks for.
        correlation_id: ``x-ms-correlation-request-id``.
        client_request_id: The id that we sent as ``x-ms-client-request-id``.
        body: The answer's text, trimmed.
    """

    status: int | None = None
    codes: tuple[str, ...] = ()
    message: str | None = None
    details: tuple[str, ...] = ()
    target: str | None = None
    request_id: str | None = None
    correlation_id: str | None = None
    client_request_id: str | None = None
    body: str = ""


class Facts(TypedDict, total=False):
    """What an error may carry beside its sentence; each is an attribute, None where it does not apply.

    Attributes:
        report: What the service said.
        remedy: What the reader can do.
        retry_after_s: Seconds that the service asked us to wait.
        elapsed_s: Seconds since the operation was first seen or started.
        operation_id: The id at the end of the operation URL (the URL itself is a secret).
        operation_may_run: True where the service may still be working on what was asked.
        provisioning_errors: The compute's provisioningErrors as the service sent them, with secrets masked.
        differences: Settings that the compute has otherwise than asked.
        old_configuration: What was attached before ``replace=True`` detached it, ready to attach again.
        last_state: The last state seen of the operation or the compute.
    """

    report: ServiceReport | None
    remedy: str | None
    retry_after_s: float | None
    elapsed_s: float | None
    operation_id: str | None
    operation_may_run: bool | None
    provisioning_errors: Sequence[Any] | None
    differences: Sequence[Difference] | None
    old_configuration: KubernetesComputeAttachConfiguration | None
    last_state: str | None


class AzureMLException(Exception):
    """Base of the errors, with azureml-core's constructor and properties.

    ``str(error)`` gives the message on its first line, then what is known of: HTTP status, error codes, details,
    target, ids, elapsed time and the remedy, a line each.

    Args:
        exception_message: The sentence shown first.
        inner_exception: The error behind this one, if any.
        target: What the error is about, for example the compute's name.
        details: Further sentences.
        message_format: Kept for callers of azureml-core, stored as it is; so are the next two.
        message_parameters: See message_format.
        reference_code: See message_format.
        **facts: See `Facts`.
    """

    report: ServiceReport | None = None
    remedy: str | None = None
    retry_after_s: float | None = None
    elapsed_s: float | None = None
    operation_id: str | None = None
    operation_may_run: bool | None = None
    provisioning_errors: Sequence[Any] | None = None
    differences: Sequence[Difference] | None = None
    old_configuration: KubernetesComputeAttachConfiguration | None = None
    last_state: str | None = None

    def __init__(
        self,
        exception_message: str = "",
        inner_exception: BaseException | None = None,
        target: str | None = None,
        details: Sequence[str] | None = None,
        message_format: str | None = None,
        message_parameters: Mapping[str, str] | None = None,
        reference_code: str | None = None,
        **facts: Unpack[Facts],
    ) -> None:
        super().__init__(exception_message)
        report = facts.get("report")
        self.message = exception_message
        self.inner_exception = inner_exception
        self.target = target or (report.target if report else None)
        self.details = list(details if details is not None else report.details if report else ())
        self.message_format = message_format
        self.message_parameters = message_parameters
        self.reference_code = reference_code
        if unknown := sorted(facts.keys() - Facts.__annotations__.keys()):
            raise TypeError(f"{type(self).__name__} got unexpected keyword arguments: {', '.join(unknown)}")
        vars(self).update(facts)

    @property
    def status_code(self) -> int | None:
        """HTTP status of the service's answer."""
        return self.report.status if self.report else None

    @property
    def codes(self) -> tuple[str, ...]:
        """Every error code that the service gave, outermost first."""
        return self.report.codes if self.report else ()

    @property
    def request_id(self) -> str | None:
        """The service's id of the request, which Azure support asks for."""
        return self.report.request_id if self.report else None

    @property
    def correlation_id(self) -> str | None:
        """The service's correlation id."""
        return self.report.correlation_id if self.report else None

    @property
    def client_request_id(self) -> str | None:
        """The id that this library gave the request."""
        return self.report.client_request_id if self.report else None

    def __str__(self) -> str:
        lines = [f"  {label}: {value}" for label, value in self._facts() if value not in (None, "", ())]
        return "\n".join([self.message, *lines])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    def _facts(self) -> Iterator[tuple[str, object]]:
        yield "HTTP status", self.status_code
        yield "error codes", ", ".join(self.codes)
        for detail in self.details:
            yield "detail", detail
        yield "target", self.target
        yield "operation id", self.operation_id
        yield "request id", self.request_id
        yield "correlation id", self.correlation_id
        yield "client request id", self.client_request_id
        yield "elapsed", None if self.elapsed_s is None else f"{self.elapsed_s:.0f} s"
        yield "the service asked to wait", None if self.retry_after_s is None else f"{self.retry_after_s:g} s"
        yield "remedy", self.remedy

    def print_stacktrace(self) -> None:
        """Print the traceback of this error to stderr, as azureml-core's method does."""
        traceback.print_exception(self)


class ComputeTargetException(AzureMLException):
    """Base of every error that this library raises."""


class UserErrorException(ComputeTargetException, ValueError):
    """An argument or a configuration is wrong; nothing was sent because of it."""


class AuthenticationException(UserErrorException):
    """No token could be had, or the service does not accept the one it got."""


class WorkspaceException(ComputeTargetException):
    """Several workspaces have the name."""


class ProjectSystemException(ComputeTargetException):
    """The workspace, its resource group or its subscription is absent, or invisible to the caller."""


class ServiceException(ComputeTargetException):
    """The service answered, and refused; `status_code` and `codes` tell how."""


class NotFoundException(ServiceException):
    """There is no such compute in the workspace."""


class ForbiddenException(ServiceException):
    """The caller lacks a role."""


class ConflictException(ServiceException):
    """The compute exists with other settings or in a state that forbids the request; see `differences`."""


class ThrottledException(ServiceException):
    """The service asked for a longer pause than allowed; `retry_after_s` tells which."""


class OperationFailedException(ServiceException):
    """The operation ended as Failed or Canceled, or the compute is in such a state; see `provisioning_errors`."""


class UnreachableException(ComputeTargetException):
    """No usable answer came: network, TLS, time-out of one request, or an answer that is not the service's."""


class OperationTimeoutException(ComputeTargetException, TimeoutError):
    """We stopped waiting; the operation goes on."""


def __getattr__(name: str) -> NoReturn:
    if name in _ELSEWHERE:
        raise ImportError(
            f"{name} is not part of azureml_k8s, which never raises it: use azureml.exceptions, or leave it out."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
