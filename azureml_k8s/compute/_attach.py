"""Attaching and detaching: what is read, sent and sent again, so that nothing is done twice and nothing is lost.

A PUT overwrites an existing compute (published specification) and there is no ETag, so a compute is read before; and a
PUT or DELETE whose end is unknown is never repeated blindly: what the service holds then decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from azureml_k8s import _failures, _states, _wire
from azureml_k8s._operation import Pending, Wait
from azureml_k8s._retry import Tries, backoff_s, draw_jitter
from azureml_k8s._secrets import get_logger
from azureml_k8s._session import UnsettledError
from azureml_k8s._transport import Answer, Request
from azureml_k8s.compute import _body
from azureml_k8s.compute._configuration import KubernetesComputeAttachConfiguration, differences, of_body
from azureml_k8s.exceptions import ComputeTargetException, ConflictException, NotFoundException
from azureml_k8s.workspace import Workspace

_log = get_logger(__name__)

#: Within replace, a 409 is repeated for so many seconds: the service may go on detaching after it said it was done.
CONFLICT_PATIENCE_S = 300.0
#: createdOn and modifiedOn of a new compute are less apart; recorded ones are equal, and no wait ends before its first
#: look, a second after the request.
_SAME_MOMENT_S = 0.99
#: No attach is over sooner, so none fits between our look and our PUT when they are less apart.
_SHORTEST_ATTACH_S = 1.0

T = TypeVar("T")


@dataclass(frozen=True)
class Attached:
    """The outcome of an attach: the compute's body, its operation if one was started, and what was replaced."""

    body: Mapping[str, Any]
    pending: Pending | None = None
    replaced: KubernetesComputeAttachConfiguration | None = None


@dataclass(frozen=True)
class Attachment:
    """One attach of one configuration under one name."""

    workspace: Workspace
    name: str
    configuration: KubernetesComputeAttachConfiguration

    def run(self, *, replace: bool, replace_timeout_s: float | None) -> Attached:
        """Read, decide, and send what is needed; see `ComputeTarget.attach`."""
        present = _body.read_if_present(self.workspace, self.name)
        if present is None:
            looked_s = self.workspace._session.clock()
            return self._put(self._request(), looked_s)
        self._check_type(present)
        state = _states.canonical(_wire.STATE.raw(present))
        found = differences(self.configuration, present)
        if replace and (found or state in _states.FAILED or state == "Deleting"):
            return self._replace(present, state, replace_timeout_s)
        if found:
            raise self._conflict(found, "Detach it first, or attach with replace=True.")
        if state == "Deleting":
            raise self._leaving()
        if state in _states.FAILED:
            raise self._failed(present, state)
        _log.info("compute %s is there as asked, in state %s", self.name, state)
        return Attached(present)

    def _leaving(self) -> ConflictException:
        return ConflictException(
            f"compute {self.name} is being detached",
            target=self.name,
            last_state="Deleting",
            remedy="Wait for its end and run it again, or attach with replace=True, which waits.",
        )

    def _check_type(self, present: Mapping[str, Any]) -> None:
        kind = _wire.COMPUTE_TYPE.raw(present)
        if not isinstance(kind, str) or kind.casefold() != "kubernetes":
            raise ConflictException(
                f"compute {self.name} exists and is of type {_states.word(kind)}, not Kubernetes",
                target=self.name,
                remedy="Choose another name, or remove that compute with the tool that made it.",
            )

    def _conflict(self, found: list[Any], remedy: str) -> ConflictException:
        return ConflictException(
            f"compute {self.name} exists with other settings: {', '.join(one.field for one in found)}",
            target=self.name,
            details=[str(one) for one in found],
            differences=found,
            remedy=f"A Kubernetes compute can't be changed in place: it must be detached and attached anew. {remedy}",
        )

    def _failed(self, present: Mapping[str, Any], state: str) -> ComputeTargetException:
        errors = _wire.ERRORS.raw(present)
        failure = _failures.operation_failed(
            self.name, state, None, provisioning_errors=errors if isinstance(errors, list) else None, headers={}
        )
        advice = "Mend the cause, then attach with replace=True, which detaches it and attaches anew."
        if "replace=True" not in (failure.remedy or ""):
            _failures.advised(failure, advice)
        return failure

    def _replace(self, present: Mapping[str, Any], state: str, timeout_s: float | None) -> Attached:
        """Detach, wait, attach; an error on the way carries what was there."""
        old = of_body(present)
        request = self._request()  # may read the workspace; once the compute is detached, it is too late to fail
        try:
            pending = None if state == "Deleting" else self._patiently(lambda: remove(self.workspace, self.name))
            Wait(
                self.workspace._session,
                self.name,
                _body.path(self.workspace, self.name),
                pending=pending,
                is_removal=True,
                state="Deleting",
            ).run(timeout_s)
            attached = self._patiently(lambda: self._put(request, self.workspace._session.clock()))
        except ComputeTargetException as error:
            error.old_configuration = old
            raise
        except BaseException:  # Ctrl-C, which carries nothing
            _log.warning("compute %s: replacing it was interrupted; what was attached before: %r", self.name, old)
            raise
        return Attached(attached.body, attached.pending, old)

    def _patiently(self, send: Callable[[], T]) -> T:
        """Send, again while the service says that something else is still done to the compute."""
        session, repeats = self.workspace._session, 0
        give_up_s = session.clock() + CONFLICT_PATIENCE_S
        while True:
            try:
                return send()
            except ConflictException as error:
                pause_s = max(backoff_s(repeats, jitter=draw_jitter()), error.retry_after_s or 0.0)
                if error.status_code != 409 or session.clock() + pause_s > give_up_s:
                    raise
                _log.warning("compute %s: %s; trying again in %.1f s", self.name, error.message, pause_s)
                session.sleep(pause_s)
                repeats += 1

    def _request(self) -> Request:
        """The PUT; the workspace is read if its location is not known."""
        asked = {_wire.LOCATION: self.workspace.location, _wire.COMPUTE_TYPE: "Kubernetes"}
        url = self.workspace._session.url(_body.path(self.workspace, self.name))
        return Request("PUT", url, json=_wire.body_of(asked | self.configuration._asked()))

    def _put(self, request: Request, looked_s: float) -> Attached:
        """Send the PUT until its end is known; `looked_s` is when the compute was seen to be absent."""
        session = self.workspace._session
        started_s, tries = session.clock(), Tries()
        while True:
            try:
                with _body.naming(self.name):
                    answer = session.send(request, tries=tries)
            except UnsettledError as unsettled:
                present = _look(self.workspace, self.name, unsettled)
                tries = unsettled.tries
            except ConflictException:  # after a try of unknown end it may be our own attach that is in the way
                present = _body.read_if_present(self.workspace, self.name) if tries.repeats else None
                if present is None:
                    raise
            else:
                attached = self._accepted(answer, request, started_s)
                if tries.repeats == 0 and session.clock() - looked_s >= _SHORTEST_ATTACH_S:
                    self._check_age(attached)
                return attached
            if present is not None:
                return self._joined(present, started_s)

    def _joined(self, present: Mapping[str, Any], started_s: float) -> Attached:
        """A compute appeared though the PUT's answer was lost: ours, or somebody else's."""
        self._check_type(present)
        if _states.canonical(_wire.STATE.raw(present)) == "Deleting":
            raise self._leaving()
        if found := differences(self.configuration, present, with_instance_types=False):
            raise self._conflict(found, "Somebody else attached it meanwhile; agree with them, or use another name.")
        _log.info("compute %s was accepted, though the answer was lost", self.name)
        return Attached(present, Pending(is_removal=False, started_s=started_s))

    def _accepted(self, answer: Answer, request: Request, started_s: float) -> Attached:
        pending = Pending.of(answer, self.workspace._session, is_removal=False, started_s=started_s)
        _log.info("compute %s is being attached", self.name)
        body = answer.data if _body.is_compute(answer.data) else self._expected(request)
        return Attached(body, pending)

    def _check_age(self, attached: Attached) -> None:
        """Raise if the PUT overwrote a compute that somebody else attached after it was looked for."""
        if since := _overwritten_since(attached.body):
            raise ConflictException(
                f"compute {self.name} was attached by somebody else, at {since}, after it was looked for and before"
                " these settings arrived, which overwrite the others",
                target=self.name,
                operation_may_run=True,
                operation_id=attached.pending.operation_id if attached.pending else None,
                remedy="Agree with them on the settings, or use another name; what the service holds now:"
                f' KubernetesCompute.compare(workspace, "{self.name}", configuration).',
            )

    def _expected(self, request: Request) -> dict[str, Any]:
        """The body of a compute that was accepted without one."""
        properties = {**request.json["properties"], "provisioningState": "Creating"}
        where = self.workspace._workspace_id
        return {**request.json, "id": where.compute_id(self.name), "name": self.name, "properties": properties}


def _overwritten_since(body: Mapping[str, Any]) -> str | None:
    """When the compute was made, if that was before the PUT that this body answers; the absent was not absent.

    A PUT onto an existing compute is answered like one that makes it, but with the old createdOn (recorded traffic).
    """
    reading = _wire.Reading(body)
    created, modified = reading.value(_wire.CREATED_ON), reading.value(_wire.MODIFIED_ON)
    if created is None or modified is None or (created.tzinfo is None) != (modified.tzinfo is None):
        return None
    if (modified - created).total_seconds() <= _SAME_MOMENT_S:
        return None
    return created.isoformat(timespec="seconds")


def remove(workspace: Workspace, name: str) -> Pending:
    """Send the DELETE that detaches, until its end is known; a compute already gone is no error."""
    session = workspace._session
    url = session.url(_body.path(workspace, name), underlyingResourceAction="Detach")
    started_s, tries = session.clock(), Tries()
    while True:
        try:
            with _body.naming(name):
                answer = session.send(Request("DELETE", url), tries=tries)
        except NotFoundException:
            return _already_gone(name, started_s)
        except ConflictException:  # somebody may be detaching it already
            if not _settles(_body.read_if_present(workspace, name), is_removal=True):
                raise
            return Pending(is_removal=True, started_s=started_s)
        except UnsettledError as unsettled:
            if _settles(_look(workspace, name, unsettled, is_removal=True), is_removal=True):
                return Pending(is_removal=True, started_s=started_s)
            tries = unsettled.tries
        else:
            if answer.status == 204:  # it does not exist (published specification)
                return _already_gone(name, started_s)
            _log.warning(
                "compute %s is being detached; running jobs and objects in the cluster are not cleaned up", name
            )
            return Pending.of(answer, session, is_removal=True, started_s=started_s)


def _already_gone(name: str, started_s: float) -> Pending:
    _log.info("compute %s was already detached", name)
    return Pending(is_removal=True, started_s=started_s, first_look_s=0.0)


def _look(
    workspace: Workspace, name: str, unsettled: UnsettledError, *, is_removal: bool = False
) -> Mapping[str, Any] | None:
    """What is there after a PUT or DELETE of unknown end, after a pause.

    Raises:
        ComputeTargetException: No try is left, and what is there does not settle it; or it can't be read.
    """
    session = workspace._session
    if unsettled.pause_s:
        _log.warning(
            "compute %s: %s; looking what is there in %.1f s", name, unsettled.error.message, unsettled.pause_s
        )
        session.sleep(unsettled.pause_s)
    try:
        present = _body.read_if_present(workspace, name, purse=unsettled.tries.purse)
    except ComputeTargetException as error:
        raise _uncertain(error, name) from error.__cause__
    if unsettled.pause_s is None and not _settles(present, is_removal=is_removal):
        raise _uncertain(unsettled.error, name) from unsettled.error.__cause__
    return present


def _settles(present: Mapping[str, Any] | None, *, is_removal: bool) -> bool:
    if not is_removal:
        return present is not None
    return present is None or _states.canonical(_wire.STATE.raw(present)) == "Deleting"


def _uncertain(error: ComputeTargetException, name: str) -> ComputeTargetException:
    error.target = error.target or name
    error.operation_may_run = True
    return _failures.advised(
        error, f'The request may still take effect; see with ComputeTarget(workspace, "{name}"), then run it again.'
    )
