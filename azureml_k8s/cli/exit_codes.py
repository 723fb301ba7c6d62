"""The exit code of every cause, in one place.

====  ==============  ==========================================================================================
Code  Name            Cause
====  ==============  ==========================================================================================
0     OK              Done: what was asked for is so.
1     ERROR           Anything that has no code of its own, a fault of this program included.
2     USAGE           A wrong option, argument or configuration; nothing was sent.
3     NOT_FOUND       The compute or the workspace is absent, or invisible to the caller.
4     AUTHENTICATION  No token could be had, or the service does not accept it.
5     FORBIDDEN       The service knows the caller and refuses: a role is missing.
6     CONFLICT        The compute exists with other settings, or in a state that forbids the request.
7     FAILED          The operation was accepted, and ended as Failed or Canceled.
8     TIMED_OUT       We stopped waiting; the operation goes on.
9     UNREACHABLE     No usable answer came, or the service asked for a longer pause than allowed.
130   INTERRUPTED     Ctrl-C.
141   STDOUT_CLOSED   Whoever read our output went away first, as ``| head -1`` does.
====  ==============  ==========================================================================================
"""

from __future__ import annotations

from enum import IntEnum

from azureml_k8s import exceptions

__all__ = ["ExitCode", "exit_code_of"]


class ExitCode(IntEnum):
    """What the process ends with; the module's docstring tells when."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOT_FOUND = 3
    AUTHENTICATION = 4
    FORBIDDEN = 5
    CONFLICT = 6
    FAILED = 7
    TIMED_OUT = 8
    UNREACHABLE = 9
    INTERRUPTED = 130
    STDOUT_CLOSED = 141


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
