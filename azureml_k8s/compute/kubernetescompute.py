"""KubernetesCompute: an AKS or Arc cluster attached to a workspace."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Unpack

from azureml_k8s import _arm, _wire
from azureml_k8s._adopt import adopt
from azureml_k8s.compute import _attach, _body
from azureml_k8s.compute._configuration import (
    Difference,
    KubernetesComputeAttachConfiguration,
    MoreSettings,
    differences,
)
from azureml_k8s.compute._status import KubernetesComputeStatus
from azureml_k8s.compute.compute import ComputeTarget, _checked_timeout
from azureml_k8s.exceptions import ComputeTargetException, ConflictException

if TYPE_CHECKING:
    from azureml_k8s.workspace import Workspace

__all__ = [
    "ComputeTargetException",
    "Difference",
    "KubernetesCompute",
    "KubernetesComputeAttachConfiguration",
    "KubernetesComputeStatus",
]


class KubernetesCompute(ComputeTarget, compute_type="Kubernetes"):
    """An AKS or Arc-connected cluster attached to a workspace; see `ComputeTarget` for what all computes have.

    ``KubernetesCompute(workspace, name)`` sends one GET, and raises if the compute is of another type.
    """

    _asked: KubernetesComputeAttachConfiguration | None = None
    _replaced: KubernetesComputeAttachConfiguration | None = None

    @staticmethod
    def attach_configuration(
        resource_id: str | None = None,
        namespace: str | None = None,
        identity_type: str | None = None,
        identity_ids: str | Iterable[str] | None = None,
        **more: Unpack[MoreSettings],
    ) -> KubernetesComputeAttachConfiguration:
        """Return what `ComputeTarget.attach` takes. Sends nothing.

        Args:
            resource_id: See `KubernetesComputeAttachConfiguration`, also for the next three and the errors.
            namespace: Kubernetes namespace.
            identity_type: SystemAssigned or UserAssigned.
            identity_ids: ARM ids of user-assigned identities.
            **more: default_instance_type, instance_types, tags, description.
        """
        return KubernetesComputeAttachConfiguration(resource_id, namespace, identity_type, identity_ids, **more)

    @classmethod
    def _attach(
        cls, workspace: Workspace, name: str, configuration: object, *, replace: bool, replace_timeout_s: float
    ) -> KubernetesCompute:
        ours, name = adopt(workspace), _arm.check_part("name", name)
        asked, limit_s = _check_configuration(configuration), _checked_timeout(replace_timeout_s, "replace_timeout")
        if not isinstance(replace, bool):  # it detaches: "false" must not count as true
            raise TypeError(f"replace must be True or False, not {type(replace).__name__}")
        attached = _attach.Attachment(ours, name, asked).run(replace=replace, replace_timeout_s=limit_s)
        target = KubernetesCompute._of(ours, attached.body, name)
        target._pending, target._asked, target._replaced = attached.pending, asked, attached.replaced
        return target

    @staticmethod
    def compare(
        workspace: Workspace, name: str, attach_configuration: KubernetesComputeAttachConfiguration
    ) -> builtins.list[Difference]:
        """Return how a compute differs from what would be asked for; empty where it does not. One GET.

        Args:
            workspace: As for `ComputeTarget`.
            name: The compute's name.
            attach_configuration: What would be asked for; what it leaves out is not compared.

        Raises:
            NotFoundException: There is no such compute.
        """
        ours, name = adopt(workspace), _arm.check_part("name", name)
        _check_configuration(attach_configuration)
        body = _body.read(ours, name)
        KubernetesCompute._of(ours, body, name)
        return differences(attach_configuration, body)

    # What is known, without a request; see ComputeTarget for the rest.

    description = _wire.DESCRIPTION
    cluster_location = _wire.CLUSTER_LOCATION
    is_attached = _wire.IS_ATTACHED
    namespace = _wire.NAMESPACE
    default_instance_type = _wire.DEFAULT_INSTANCE_TYPE
    public_ip = _wire.PUBLIC_IP
    identity = _wire.IDENTITY
    identity_type = _wire.IDENTITY_TYPE

    #: azureml-core's constant: a cluster has machines of many sizes.
    vm_size: ClassVar[str] = "NA"

    @property
    def type(self) -> Literal["Kubernetes"]:
        """The computeType, in its known spelling."""
        return "Kubernetes"

    @property
    def identity_ids(self) -> builtins.list[str] | None:
        """ARM ids of the user-assigned identities, in the service's spelling; None without one."""
        identities = self._reading.value(_wire.IDENTITIES)
        return builtins.list(identities) if identities else None

    @property
    def instance_types(self) -> dict[str, Any]:
        """Instance types: a mapping of name to nodeSelector and resources; empty where there are none."""
        return self._reading.value(_wire.INSTANCE_TYPES) or {}

    def __repr__(self) -> str:
        return (
            f"KubernetesCompute(name={self.name!r}, workspace={self._workspace.name!r},"
            f" provisioning_state={self.provisioning_state!r}, location={self.location!r},"
            f" cluster_resource_id={self._reading.text(_wire.RESOURCE_ID)!r},"
            f" namespace={self._reading.text(_wire.NAMESPACE)!r})"
        )

    def detach(self) -> None:
        """Ask the service to detach the cluster, and return at once: one DELETE. The cluster itself stays.

        Running jobs, and objects in the cluster (the namespace, the extension, instance types), are not cleaned up. A
        compute that is already gone is no error. Call `wait_for_completion` to wait for the end.

        Raises:
            ServiceException: The service refused.
        """
        self._pending = _attach.remove(self._workspace, self.name)
        self._asked = self._replaced = None
        properties: Mapping[str, Any] = self._reading.body.get("properties") or {}
        self._reading = _wire.Reading(
            {**self._reading.body, "properties": {**properties, "provisioningState": "Deleting"}}
        )

    def delete(self) -> NoReturn:
        """Raise: a customer's cluster is never deleted from here.

        Raises:
            ComputeTargetException: Always; it points to `detach`.
        """
        raise ComputeTargetException(
            "Delete is not supported for KubernetesCompute: the cluster is yours, not the workspace's",
            target=self.name,
            remedy="Use detach(), which removes the compute from the workspace and leaves the cluster.",
        )

    def _add_what_was_replaced(self, error: ComputeTargetException) -> None:
        error.old_configuration = self._replaced

    def _check_settings(self) -> None:
        """Raise if the service now holds something else than was asked: somebody else's PUT, or an ignored field."""
        if self._asked is None:
            return
        found = differences(self._asked, self._reading.body, with_instance_types=False)
        if found:
            raise ConflictException(
                f"compute {self.name} was attached, but not as asked: {', '.join(one.field for one in found)}",
                target=self.name,
                details=[str(one) for one in found],
                differences=found,
                old_configuration=self._replaced,
                remedy="Somebody else may have attached the same name, or the service ignores the setting."
                " See who, then attach with replace=True or under another name.",
            )


def _check_configuration(value: object) -> KubernetesComputeAttachConfiguration:
    if isinstance(value, KubernetesComputeAttachConfiguration):
        return value
    raise TypeError(
        f"attach_configuration must come from KubernetesCompute.attach_configuration(), and is a {type(value).__name__}"
    )
