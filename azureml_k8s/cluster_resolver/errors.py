"""Errors of the resolver: TensorFlow's types, with facts as attributes.

RuntimeError
├── KubernetesApiError      our own client got no usable answer
├── PodCannotRunError       a wait ended early: a pod will not come up
└── WaitTimeoutError        a wait took too long; also a TimeoutError

A pod that does not run, or has no address, is a plain RuntimeError with TensorFlow's text; a wrong argument is a
ValueError or TypeError; a missing package is an ImportError. Errors of a client given by the caller pass unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["KubernetesApiError", "PodCannotRunError", "WaitTimeoutError"]


class KubernetesApiError(RuntimeError):
    """The API server refused, or could not be reached, or its answer cannot be read.

    Attributes:
        status: HTTP status of the answer; None if there was none.
        retry_after_s: Seconds that the server asked to wait, if it did.
    """

    def __init__(self, message: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after_s = status, retry_after_s


class PodCannotRunError(RuntimeError):
    """A wait ended before its time, because a pod cannot come up.

    Attributes:
        pod: The pod's name.
        reason: Why it cannot, as Kubernetes tells it.
    """

    def __init__(self, message: str, *, pod: str, reason: str) -> None:
        super().__init__(message)
        self.pod, self.reason = pod, reason


class WaitTimeoutError(RuntimeError, TimeoutError):
    """The pods were not all there in time.

    Attributes:
        ready: Names of the pods that run and have an address, by job.
        missing: How many more were waited for, by job; jobs that are complete are left out.
        waited_s: Seconds waited.
    """

    def __init__(
        self, message: str, *, ready: Mapping[str, list[str]], missing: Mapping[str, int], waited_s: float
    ) -> None:
        super().__init__(message)
        self.ready, self.missing, self.waited_s = dict(ready), dict(missing), waited_s
