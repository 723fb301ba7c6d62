"""ComputeTarget: any compute of a workspace, and the base of those that can be attached."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, cast

from azureml_k8s import _arm, _states, _wire
from azureml_k8s._adopt import adopt
from azureml_k8s._operation import Pending, Progress, Wait
from azureml_k8s._secrets import get_logger
from azureml_k8s.compute import _body
from azureml_k8s.compute._progress import Printer
from azureml_k8s.compute._status import KubernetesComputeStatus
from azureml_k8s.exceptions import ComputeTargetException, OperationFailedException, UserErrorException

if TYPE_CHECKING:
    from azureml_k8s.compute.kubernetescompute import KubernetesCompute
    from azureml_k8s.workspace import Workspace

__all__ = [
    "ComputeTarget",
    "ComputeTargetAttachConfiguration",
    "ComputeTargetException",
    "ComputeTargetProvisioningConfiguration",
    "ComputeTargetUpdateConfiguration",
    "UserErrorException",
]

_log = get_logger(__name__)
#: So many seconds are no limit: thirty years.
_FOR_EVER_S = 1e9


class ComputeTargetAttachConfiguration:
    """Base of the settings that `ComputeTarget.attach` takes.

    Args:
        type: The computeType, for example Kubernetes.
    """

    def __init__(self, type: builtins.type[ComputeTarget] | str) -> None:
        vars(self)["_compute_type"] = type

    def validate_configuration(self) -> None:
        """Raise UserErrorException if a setting is wrong."""
        raise NotImplementedError(f"{type(self).__name__} must say how it is checked")


class ComputeTargetUpdateConfiguration(ComputeTargetAttachConfiguration):
    """azureml-core's base of update settings, kept for code that derives from it; a Kubernetes compute has none."""


class ComputeTargetProvisioningConfiguration(ComputeTargetAttachConfiguration):
    """azureml-core's base of the settings of `ComputeTarget.create`; a Kubernetes compute has none.

    Args:
        type: The computeType.
        location: The region.
    """

    def __init__(self, type: builtins.type[ComputeTarget] | str, location: str | None) -> None:
        super().__init__(type)
        self.location = location


class ComputeTarget:
    """A compute of a workspace, as last read.

    Making one sends one GET and gives the class of the type found: `KubernetesCompute` for a Kubernetes compute, this
    class for all others. Only the methods send requests; attributes and repr never do.

    Args:
        workspace: A `Workspace`, an ``azureml.core.Workspace`` or an ``azure.ai.ml.MLClient``.
        name: The compute's name.

    Raises:
        NotFoundException: There is no such compute.
        ProjectSystemException: There is no such workspace.
        ForbiddenException: The caller may not read it.
        UserErrorException: The name can't be one; nothing was sent.
    """

    _types: ClassVar[dict[str, builtins.type[ComputeTarget]]] = {}
    _compute_type: ClassVar[str | None] = None  # of classes that are for one type
    _workspace: Workspace
    _reading: _wire.Reading
    _name: str
    _pending: Pending | None

    def __init_subclass__(cls, compute_type: str | None = None) -> None:
        if compute_type:
            cls._compute_type = compute_type
            ComputeTarget._types[compute_type.casefold()] = cls

    def __new__(cls, workspace: Workspace, name: str) -> Self:
        """Read the compute; see the class."""
        ours, name = adopt(workspace), _arm.check_part("name", name)
        return cls._of(ours, _body.read(ours, name), name)

    @classmethod
    def _of(cls, workspace: Workspace, body: Mapping[str, Any], name: str | None = None) -> Self:
        """The target that a body describes, of the class for its type; refused if this class is for another type."""
        reading = _wire.Reading(body)
        compute_type = reading.text(_wire.COMPUTE_TYPE)
        found = ComputeTarget._types.get((compute_type or "").casefold(), ComputeTarget)
        if cls._compute_type and (compute_type or "").casefold() != cls._compute_type.casefold():
            shown = _states.word(compute_type)
            raise ComputeTargetException(
                f"compute {name or reading.text(_wire.NAME)} is of type {shown}, not {cls._compute_type}",
                target=name,
                remedy="ComputeTarget(workspace, name) reads computes of every type.",
            )
        target = object.__new__(cls if issubclass(cls, found) else found)
        target._workspace, target._reading, target._pending = workspace, reading, None
        target._name = _body.name_of(body, name)
        return cast("Self", target)  # a class that is for one type was checked above; any other is the base

    @staticmethod
    def attach(
        workspace: Workspace,
        name: str,
        attach_configuration: ComputeTargetAttachConfiguration,
        *,
        replace: bool = False,
        replace_timeout: float = 600,
    ) -> KubernetesCompute:
        """Attach a cluster under a name, and return the target while the service still works on it.

        Safe to run again: the compute is read first. If it exists with the settings asked for, nothing is sent and it
        is returned (joined, if its operation still runs). Requests: a GET of the compute, a GET of the workspace if its
        location is not known, and a PUT.

        Args:
            workspace: A `Workspace`, an ``azureml.core.Workspace`` or an ``azure.ai.ml.MLClient``.
            name: The compute's name. Which names the service takes differs by compute type; it is not checked here.
            attach_configuration: From `KubernetesCompute.attach_configuration`.
            replace: Detach a compute of other settings, or one that failed, and attach anew.
            replace_timeout: Seconds that the detach may take, default 600.

        Returns:
            The target; call its `wait_for_completion`.

        Raises:
            ConflictException: The compute exists with other settings (`differences` tells which), as another type,
                or is being detached.
            OperationFailedException: The compute exists and is in state Failed or Canceled.
            ServiceException: The service refused.
            UserErrorException: An argument is wrong; nothing was sent.
        """
        from azureml_k8s.compute.kubernetescompute import KubernetesCompute  # the base gives what the derived makes

        return KubernetesCompute._attach(
            workspace, name, attach_configuration, replace=replace, replace_timeout_s=replace_timeout
        )

    @staticmethod
    def create(workspace: Workspace, name: str, provisioning_configuration: object) -> NoReturn:
        """Raise: clusters are attached, not created.

        Raises:
            ComputeTargetException: Always; it points to `attach`.
        """
        raise ComputeTargetException(
            "create is not supported: azureml_k8s makes no clusters",
            remedy="Attach an existing one: ComputeTarget.attach(workspace, name,"
            " KubernetesCompute.attach_configuration(resource_id)).",
        )

    @classmethod
    def list(cls, workspace: Workspace, compute_type: str | None = None) -> builtins.list[Self]:
        """Return the workspace's computes, of `KubernetesCompute` the Kubernetes ones: one GET for each page.

        Args:
            workspace: As for `ComputeTarget`.
            compute_type: Only those of this computeType, in any letter case, for example Kubernetes.

        Raises:
            ServiceException: The service refused.
        """
        ours = adopt(workspace)
        if compute_type is not None and not isinstance(compute_type, str):
            raise TypeError(f"compute_type must be a text, not {type(compute_type).__name__}")
        wanted = None if compute_type is None else compute_type.casefold()
        targets = [ComputeTarget._of(ours, body) for body in _body.each(ours)]
        found = [target for target in targets if wanted is None or (target.type or "").casefold() == wanted]
        return [cast("Self", target) for target in found if cls._compute_type is None or isinstance(target, cls)]

    @classmethod
    def deserialize(cls, workspace: Workspace, object_dict: Mapping[str, Any]) -> Self:
        """Return the target that `serialize` described. Sends nothing.

        Args:
            workspace: As for `ComputeTarget`.
            object_dict: From `serialize`.

        Raises:
            UserErrorException: It is of another workspace, of another type, or no compute.
        """
        ours = adopt(workspace)
        body = _body.checked(ours, object_dict)
        try:
            return cls._of(ours, body)
        except ComputeTargetException as error:
            raise UserErrorException(f"object_dict: {error.message}", target="object_dict") from None

    # What is known, without a request.

    @property
    def workspace(self) -> Workspace:
        """The workspace."""
        return self._workspace

    @property
    def name(self) -> str:
        """The compute's name."""
        return self._name

    @property
    def id(self) -> str | None:
        """The compute's ARM id."""
        return self._reading.text(_wire.ID)

    @property
    def type(self) -> str | None:
        """The computeType, for example AmlCompute."""
        return self._reading.text(_wire.COMPUTE_TYPE)

    @property
    def location(self) -> str | None:
        """The region of the record, which is the workspace's."""
        return self._reading.text(_wire.LOCATION)

    @property
    def provisioning_state(self) -> str:
        """The state when last read; see `KubernetesComputeStatus` for the words."""
        return _states.canonical(_wire.STATE.raw(self._reading.body))

    @property
    def status(self) -> KubernetesComputeStatus:
        """The status when last read."""
        return _body.status(self._reading)

    cluster_resource_id = _wire.RESOURCE_ID
    tags = _wire.TAGS
    created_on = _wire.CREATED_ON
    modified_on = _wire.MODIFIED_ON
    provisioning_errors = _wire.ERRORS

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(name={self.name!r}, workspace={self._workspace.name!r}, type={self.type!r},"
            f" provisioning_state={self.provisioning_state!r}, location={self.location!r})"
        )

    # Verbs: these send requests.

    def get(self) -> dict[str, Any]:
        """Return the service's own body: one GET. It may hold secrets, and does not change this object."""
        return dict(_body.read(self._workspace, self.name))

    def refresh_state(self) -> None:
        """Read the compute again: one GET."""
        self._reading = _wire.Reading(_body.read(self._workspace, self.name))

    def get_status(self) -> KubernetesComputeStatus:
        """Read the compute again and return its status, whose text is its state: one GET."""
        self.refresh_state()
        return self.status

    def serialize(self, *, include_secrets: bool = False) -> dict[str, Any]:
        """Return the body that was last read, JSON-ready, with azureml-core's keys null where missing. Sends nothing.

        Args:
            include_secrets: Leave connection strings, passwords, secrets, tokens and keys as they are; by default
                they are masked.
        """
        return _body.serialized(self._reading.body, include_secrets=include_secrets)

    def wait_for_completion(
        self,
        show_output: bool = False,
        is_delete_operation: bool = False,
        *,
        timeout: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> None:
        """Wait until the service has done what was asked, or until the compute is at rest.

        Polls the operation URL of `attach` or `detach` where this object has one, else the compute itself; so a wait
        can go on in another process, from the name alone. The first look comes 1 s after the request, later ones after
        a tenth of the elapsed time (1 to 30 s, up to a fifth less at random), never sooner than the service asks.

        Args:
            show_output: Write progress to stdout.
            is_delete_operation: The compute is being detached: gone means done. After `detach` this is known.
            timeout: Seconds; 0 is one look; None: no limit.
            on_progress: Called with a `Progress` after each look.

        Raises:
            OperationFailedException: It ended as Failed or Canceled.
            OperationTimeoutException: The time is over; the operation goes on.
            ConflictException: The compute is not what was asked for: somebody else changed it; or, after a detach, it
                is still there.
        """
        limit_s = _checked_timeout(timeout)
        if on_progress is not None and not callable(on_progress):
            raise TypeError(f"on_progress must be callable, not {type(on_progress).__name__}")
        printer = Printer() if show_output else None

        def tell(progress: Progress) -> None:
            for listener in (printer, on_progress):
                if listener:
                    listener(progress)

        wait = Wait(
            self._workspace._session,
            self.name,
            _body.path(self._workspace, self.name),
            pending=self._pending,
            is_removal=is_delete_operation or bool(self._pending and self._pending.is_removal),
            state=self.provisioning_state,
            on_progress=tell,
        )
        try:
            final = wait.run(limit_s)
        except ComputeTargetException as error:
            self._add_what_was_replaced(error)
            if printer and isinstance(error, OperationFailedException):
                printer.end(error.last_state or _states.UNKNOWN)
            raise
        finally:
            if wait.last_body is not None:
                self._reading = _wire.Reading(wait.last_body)
        if final is not None:
            self._pending = None
            self._check_settings()
        if printer:
            printer.end(_states.SUCCEEDED)
        if final is None:
            _log.info("compute %s is gone", self.name)

    def _add_what_was_replaced(self, error: ComputeTargetException) -> None:
        """Let the error carry what this object's attach has replaced, if it has."""

    def _check_settings(self) -> None:
        """Raise if the compute is not what this object asked for; a target that was only read asked for nothing."""

    def detach(self) -> None:
        """Raise: only a Kubernetes compute is detached here.

        Raises:
            ComputeTargetException: Always; it names the type.
        """
        self._refuse("detach")

    def delete(self) -> None:
        """Raise: nothing is deleted here.

        Raises:
            ComputeTargetException: Always; it names the type.
        """
        self._refuse("delete")

    def _refuse(self, verb: str) -> NoReturn:
        raise ComputeTargetException(
            f"{verb} is not supported for {self.name}, which is of type {_states.word(self.type)}",
            target=self.name,
            remedy="Use azure-ai-ml, az ml compute, or the studio for computes that are not Kubernetes.",
        )


def _checked_timeout(timeout: float | None, argument: str = "timeout") -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"{argument} must be a number of seconds or None, not {type(timeout).__name__}")
    if not timeout >= 0:  # NaN neither
        raise UserErrorException(f"{argument} must not be negative, but is {timeout}", target=argument)
    return None if timeout >= _FOR_EVER_S else float(timeout)
