"""The exit code of every cause, in one place; ``azureml-k8s --help`` prints this table."""

from __future__ import annotations

from enum import IntEnum

from azureml_k8s import exceptions

__all__ = ["ExitCode", "exit_code_of"]


class ExitCode(IntEnum):
    """What the process ends with; `cause` says when."""

    cause: str

    def __new__(cls, value: int, cause: str) -> ExitCode:
        """Make a member of its number and its cause."""
        code = int.__new__(cls, value)
        code._value_ = value
        code.cause = cause
        return code

    OK = 0, "Done: what was asked for is so."
    ERROR = 1, "Anything without a code of its own, a fault of this program included."
    USAGE = 2, "A wrong option, argument or configuration; nothing was sent."
    NOT_FOUND = 3, "The compute or the workspace is absent, or invisible to the caller."
    AUTHENTICATION = 4, "No token could be had, or the service does not accept it."
    FORBIDDEN = 5, "The service knows the caller, who lacks a role."
    CONFLICT = 6, "The compute has other settings, or is in a state that forbids the request."
    FAILED = 7, "The operation was accepted, and ended as Failed or Canceled."
    TIMED_OUT = 8, "We stopped waiting; the operation goes on."
    UNREACHABLE = 9, "No usable answer came, or the service asked for a longer pause than allowed."
    INTERRUPTED = 130, "Ctrl-C."
    STDOUT_CLOSED = 141, "Whoever read the output went away first, as '| head -1' does."


_CODES: dict[type[BaseException], ExitCode] = {
    exceptions.AuthenticationException: ExitCode.AUTHENTICATION,
    exceptions.ConflictException: ExitCode.CONFLICT,
    exceptions.ForbiddenException: ExitCode.FORBIDDEN,
    exceptions.NotFoundException: ExitCode.NOT_FOUND,
    exceptions.OperationFailedException: ExitCode.FAILED,
    exceptions.OperationTimeoutException: ExitCode.TIMED_OUT,
    exceptions.ProjectSystemException: ExitCode.NOT_FOUND,
    exceptions.ThrottledException: ExitCode.UNREACHABLE,
    exceptions.UnreachableException: ExitCode.UNREACHABLE,
    exceptions.UserErrorException: ExitCode.USAGE,
    exceptions.WorkspaceException: ExitCode.USAGE,
    KeyboardInterrupt: ExitCode.INTERRUPTED,
    TimeoutError: ExitCode.TIMED_OUT,
}


def exit_code_of(error: BaseException) -> ExitCode:
    """The code for an error: that of the nearest class that has one, else `ExitCode.ERROR`."""
    return next((_CODES[kind] for kind in type(error).__mro__ if kind in _CODES), ExitCode.ERROR)
