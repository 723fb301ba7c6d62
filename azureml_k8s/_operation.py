"""The only loop that waits for an operation.

It looks at the operation URL verbatim while that answers, and else at the compute itself, whose state decides in the
end.
Rules: the resource-provider contract for asynchronous operations (end states; anything else is running; a resource
without provisioningState counts as Succeeded; a failing status read says nothing of the operation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

from azureml_k8s import _failures, _retry, _states, _wire
from azureml_k8s._failures import RequestFailed
from azureml_k8s._secrets import SecretText, get_logger, mask_json
from azureml_k8s._session import Session
from azureml_k8s._transport import Answer, Request
from azureml_k8s.exceptions import (
    AuthenticationException,
    ComputeTargetException,
    ConflictException,
    NotFoundException,
    OperationTimeoutException,
)

_log = get_logger(__name__)

#: A compute that was accepted may be absent from reads for so many seconds (replicas lag).
APPEARANCE_GRACE_S = 60.0
#: A compute may stay in an end state for so many seconds after the service said that it is detached.
REMOVAL_GRACE_S = 60.0
#: The last look at a deadline gets so many seconds, though none are left.
LAST_LOOK_S = 5.0


@dataclass(frozen=True)
class Pending:
    """An accepted request whose operation runs.

    Attributes:
        is_removal: Whether gone means done.
        started_s: On the session's clock, when it was sent.
        url: The operation URL, if the service gave one; a secret.
        is_status_url: Whether the URL answers with a status (Azure-AsyncOperation), not with the result (Location).
        first_look_s: Seconds after the start before which there is nothing to see.
        headers: Of the accepting answer, for request ids.
    """

    is_removal: bool
    started_s: float
    url: str | None = field(default=None, repr=False)
    is_status_url: bool = True
    first_look_s: float = 1.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, answer: Answer | None, session: Session, *, is_removal: bool, started_s: float) -> Pending:
        """From the accepting answer; an operation URL of another host is refused by name, a relative one resolved.

        Raises:
            UnreachableException: The URL is not the cloud's. Nothing is sent to it; the operation may run.
        """
        headers = answer.headers if answer else {}
        status_url = headers.get("azure-asyncoperation") or headers.get("operation-location")
        url = status_url or headers.get("location")
        if answer and url:
            url = _absolute(url, answer)
            try:
                session.trusted(url, "the operation URL")
            except ComputeTargetException as error:
                error.operation_may_run = True
                raise
        pause_s = max(1.0, (answer.retry_after_s if answer else None) or 0.0)
        return cls(is_removal, started_s, SecretText(url) if url else None, bool(status_url), pause_s, headers)

    @property
    def operation_id(self) -> str | None:
        """The id at the end of the URL's path, which is no secret."""
        return urlsplit(self.url).path.rstrip("/").rpartition("/")[2] or None if self.url else None


@dataclass(frozen=True)
class Progress:
    """What ``on_progress`` is given after each look.

    Attributes:
        name: The compute.
        state: The state seen, for example Creating; the last one where a look failed.
        elapsed_s: Seconds since the request, or since the wait began.
        problem: Why the look failed, None where it did not.
    """

    name: str
    state: str
    elapsed_s: float
    problem: str | None = None


@dataclass
class _Trouble:
    """Looks that failed in a row."""

    count: int = 0
    since_s: float = 0.0

    def add(self, now_s: float) -> None:
        self.since_s = now_s if self.count == 0 else self.since_s
        self.count += 1


class Wait:
    """One wait for one compute.

    Args:
        session: Sends the looks.
        name: The compute's.
        path: The compute's ARM path.
        pending: The operation, if one was started from this object.
        is_removal: Whether gone means done.
        state: The last known state, shown until the first look.
        on_progress: Called after each look.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        path: str,
        *,
        pending: Pending | None,
        is_removal: bool,
        state: str,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> None:
        self._session, self._name, self._path = session, name, path
        self._pending, self._is_removal, self._state, self._on_progress = pending, is_removal, state, on_progress
        self._url = pending.url if pending else None
        self.last_body: Mapping[str, Any] | None = None  # of the compute, whenever a look saw it
        self._began_s = session.clock()
        self._started_s = pending.started_s if pending else self._began_s
        self._was_seen = pending is None
        self._absent_since_s: float | None = None
        self._settled_since_s: float | None = None
        self._trouble = _Trouble()
        self._headers: Mapping[str, str] = pending.headers if pending else {}

    def run(self, timeout_s: float | None) -> Mapping[str, Any] | None:
        """Look until the end; the compute's last body, or None when it is gone.

        Args:
            timeout_s: Seconds from now; 0 is one look; None: no limit.

        Raises:
            OperationTimeoutException: The time is over; the operation goes on.
            OperationFailedException: Failed or Canceled.
            ComputeTargetException: Reading went wrong for good.
        """
        deadline_s = None if timeout_s is None else self._began_s + timeout_s
        first_s = self._pending.first_look_s if self._pending else 0.0
        due_s = self._started_s + (first_s if deadline_s is not None else min(first_s, self._session.max_wait_s))
        while True:
            is_last = self._sleep_until(due_s, deadline_s)
            over, body, retry_after_s = self._look_safely(deadline_s)
            if over:
                return body
            if is_last or (deadline_s is not None and self._session.clock() >= deadline_s):
                raise self._timed_out(timeout_s)
            pause_s = self._pause_s(retry_after_s, has_deadline=deadline_s is not None)
            if self._trouble.count:
                _log.warning("%s: the next look is in %.1f s", self._name, pause_s)
            due_s = self._session.clock() + pause_s

    def _sleep_until(self, due_s: float, deadline_s: float | None) -> bool:
        """Sleep; True when the deadline comes first."""
        now_s = self._session.clock()
        until_s = due_s if deadline_s is None else min(due_s, deadline_s)
        if until_s > now_s:
            self._session.sleep(until_s - now_s)
        return deadline_s is not None and due_s >= deadline_s

    def _pause_s(self, retry_after_s: float | None, *, has_deadline: bool) -> float:
        jitter = _retry.draw_jitter()
        elapsed_s = self._session.clock() - self._started_s
        if retry_after_s is not None and not has_deadline:  # a look before its time harms nothing, a hang does
            retry_after_s = min(retry_after_s, self._session.max_wait_s)
        pause_s = _retry.poll_pause_s(elapsed_s=elapsed_s, retry_after_s=retry_after_s, jitter=jitter)
        if self._trouble.count:
            pause_s = max(pause_s, _retry.backoff_s(self._trouble.count, jitter=jitter))
        return pause_s

    def _look_safely(self, deadline_s: float | None) -> tuple[bool, Mapping[str, Any] | None, float | None]:
        """One look: (over, body, Retry-After). A passing failure is trouble, not an end."""
        try:
            over, body, retry_after_s = self._look(deadline_s)
        except RequestFailed as failed:
            self._note_trouble(failed)
            return False, None, failed.outcome.retry_after_s
        except AuthenticationException as error:
            raise self._explained(error) from error.__cause__
        self._trouble = _Trouble()
        self._tell(None)
        return over, body, retry_after_s

    def _look(self, deadline_s: float | None) -> tuple[bool, Mapping[str, Any] | None, float | None]:
        asked_s = None
        if self._url:
            try:
                answer = self._read(self._url, deadline_s, is_ours=False)
            except RequestFailed as failed:
                if not self._is_lost(failed):
                    raise
                _log.warning(
                    "%s: the operation URL is lost (%s); now the compute decides", self._name, failed.error.message
                )
                self._url = None
            else:
                asked_s = answer.retry_after_s
                if self._goes_on(answer):
                    return False, None, asked_s
        over, body, retry_after_s = self._look_at_compute(deadline_s)
        return over, body, retry_after_s if asked_s is None else max(asked_s, retry_after_s or 0.0)

    def _read(self, url: str, deadline_s: float | None, *, is_ours: bool = True) -> Answer:
        left_s = None if deadline_s is None else max(LAST_LOOK_S, deadline_s - self._session.clock())
        return self._session.send_once(Request("GET", url, is_ours=is_ours), time_left_s=left_s)

    def _is_lost(self, failed: RequestFailed) -> bool:
        """Whether the operation URL is of no more use: refused, or failing again and again."""
        if failed.outcome.is_passing:
            return failed.outcome.status != 429 and self._trouble.count >= _retry.MAX_REPEATS
        return 400 <= (failed.outcome.status or 0) < 500

    def _goes_on(self, answer: Answer) -> bool:
        """Whether the operation's own answer says that it runs; raises when it says that it failed."""
        if self._pending and not self._pending.is_status_url and not _has_status(answer):
            return answer.status == 202
        status = answer.data.get("status") if isinstance(answer.data, dict) else None
        word = _states.canonical(status)
        if word in _states.FAILED:
            self._headers = {**self._headers, **_ids_of(answer)}
            raise self._failed(word, answer.data.get("error"), self._errors_of_compute())
        if word == _states.SUCCEEDED:
            self._url = None
            return False
        if word in _states.RUNNING:
            self._note_state(word if word != _states.IN_PROGRESS else self._state)
            return True
        return False  # no status or a strange one: the compute's own state decides, this time

    def _errors_of_compute(self) -> list[Any] | None:
        """The compute's provisioning errors, read once after a failure; what can't be read is left out."""
        try:
            data = self._read(self._session.url(self._path), None).data
        except (RequestFailed, ComputeTargetException):
            return None
        if isinstance(data, dict) and isinstance(data.get("properties"), dict):
            self.last_body = data
        errors = _wire.ERRORS.raw(data) if isinstance(data, dict) else None
        return errors if isinstance(errors, list) else None

    def _look_at_compute(self, deadline_s: float | None) -> tuple[bool, Mapping[str, Any] | None, float | None]:
        try:
            answer = self._read(self._session.url(self._path), deadline_s)
        except RequestFailed as failed:
            if failed.outcome.is_passing or failed.outcome.fault is not _retry.Fault.STATUS:
                raise
            return self._absent(failed), None, None
        data = answer.data
        if not isinstance(data, dict) or not isinstance(data.get("properties"), dict):
            raise RequestFailed(_retry.Outcome(_retry.Fault.FOREIGN), _failures.no_compute(self._name))
        self._was_seen, self._absent_since_s, self.last_body = True, None, data
        self._headers = {**self._headers, **_ids_of(answer)}
        return self._judge(data), data, answer.retry_after_s

    def _absent(self, failed: RequestFailed) -> bool:
        """The compute's read was refused: done, or not yet there, or an error."""
        if not isinstance(failed.error, NotFoundException):
            raise self._explained(failed.error) from failed.error.__cause__
        if self._is_removal or (self._pending is None and self._state == "Deleting"):
            return True
        if self._was_seen:
            raise failed.error from None
        now_s = self._session.clock()
        self._absent_since_s = now_s if self._absent_since_s is None else self._absent_since_s
        if now_s - self._absent_since_s < APPEARANCE_GRACE_S:
            return False
        error = NotFoundException(
            f"the service accepted compute {self._name}, but it never appeared",
            target=self._name,
            report=failed.error.report,
        )
        raise self._explained(error) from None

    def _judge(self, body: Mapping[str, Any]) -> bool:
        """Whether the compute's own state is the end."""
        raw = _wire.STATE.raw(body)
        state = _states.canonical(raw)
        self._note_state(state)
        if not _states.is_end(raw):
            self._settled_since_s = None
            return False
        if self._is_removal:
            self._check_removal(body)
            return False
        if state in _states.FAILED:
            raise self._failed(state, None, _wire.ERRORS.raw(body))
        return True

    def _note_state(self, state: str) -> None:
        if state != self._state:
            _log.info("compute %s: %s", self._name, state)
        self._state = state

    def _check_removal(self, body: Mapping[str, Any]) -> None:
        now_s = self._session.clock()
        self._settled_since_s = now_s if self._settled_since_s is None else self._settled_since_s
        if now_s - self._settled_since_s < REMOVAL_GRACE_S:
            return
        error = ConflictException(
            f"compute {self._name} is still attached, in state {self._state}, {REMOVAL_GRACE_S:g} s after its removal"
            " should have shown",
            target=self._name,
            remedy="Detach it again; if that does not help, see the compute's page in Azure ML studio.",
            provisioning_errors=mask_json(_wire.ERRORS.raw(body), texts=True),
        )
        raise self._explained(error)

    def _note_trouble(self, failed: RequestFailed) -> None:
        now_s = self._session.clock()
        self._trouble.add(now_s)
        self._tell(failed.error.message)
        _log.warning("%s: a look at the operation failed: %s", self._name, failed.error.message)
        asked_s = failed.outcome.retry_after_s or 0.0
        lasts_s = now_s - self._trouble.since_s + min(asked_s, self._session.max_wait_s)
        if self._trouble.count > _retry.MAX_REPEATS and lasts_s >= self._session.max_wait_s:
            raise self._explained(failed.error) from failed.error.__cause__
        if failed.outcome.fault is _retry.Fault.CERTIFICATE:
            raise self._explained(failed.error) from failed.error.__cause__

    def _tell(self, problem: str | None) -> None:
        if self._on_progress:
            elapsed_s = self._session.clock() - self._started_s
            self._on_progress(Progress(self._name, self._state, elapsed_s, problem))

    def _failed(self, state: str, error: Any, provisioning_errors: Any) -> ComputeTargetException:
        errors = provisioning_errors if isinstance(provisioning_errors, list) else None
        failure = _failures.operation_failed(
            self._name, state, error, provisioning_errors=errors, headers=self._headers
        )
        self._place(failure)
        return failure

    def _timed_out(self, timeout_s: float | None) -> OperationTimeoutException:
        error = OperationTimeoutException(
            f"timed out after {timeout_s:g} s: compute {self._name} is still {self._state}; the operation goes on",
            target=self._name,
            last_state=self._state,
        )
        self._explained(error)
        error.elapsed_s = self._session.clock() - self._began_s
        return error

    def _explained(self, error: ComputeTargetException) -> ComputeTargetException:
        """The error with what is known of the operation, which was not seen to fail, and how to go on."""
        error.target = error.target or self._name
        error.operation_may_run = True
        self._place(error)
        return _failures.advised(
            error,
            "The operation was not seen to fail and may still run; go on with"
            f' ComputeTarget(workspace, "{self._name}").wait_for_completion()',
        )

    def _place(self, error: ComputeTargetException) -> None:
        """Say of which operation the error is, and how long it has been going on."""
        error.elapsed_s = self._session.clock() - self._started_s
        error.operation_id = self._pending.operation_id if self._pending else None


def _absolute(url: str, answer: Answer) -> str:
    """An absolute URL verbatim; a relative one, which is legal for Location (RFC 9110), resolved."""
    if "://" in url.partition("?")[0]:
        return url
    try:
        return urljoin(answer.request.url, url)
    except ValueError:  # no URL at all, which the check of its host says
        return url


def _ids_of(answer: Answer) -> dict[str, str]:
    """The headers with a request's ids; what a later answer lacks, for example a correlation id, an earlier one had."""
    return {**answer.headers, "x-ms-client-request-id": answer.client_request_id}


def _has_status(answer: Answer) -> bool:
    return isinstance(answer.data, dict) and "status" in answer.data
