"""The state of a compute, as text and with its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from azureml_k8s import _states, _wire

__all__ = ["KubernetesComputeStatus"]


class KubernetesComputeStatus(str):
    """The provisioning state of a compute, of any type.

    It *is* the state's text, so it prints, compares and goes into JSON as such: ``status == "Succeeded"``. The states
    are Creating, Updating, Deleting, Succeeded, Failed, Canceled, and Unknown where the service gives none; a word that
    the service invents later is kept as it is. Known states have this spelling whatever the service's letter case.

    Succeeded says that the cluster is linked to the workspace, not that it is healthy now.

    Args:
        creation_time: When the compute was attached: a datetime, or the service's text of one.
        modified_time: When its record last changed.
        provisioning_state: The state, in any letter case; None: Unknown.
        errors: The provisioning errors, as the service wrote them.
    """

    __slots__ = ("_created", "_errors", "_modified")

    def __new__(
        cls,
        creation_time: datetime | str | None = None,
        modified_time: datetime | str | None = None,
        provisioning_state: str | None = None,
        errors: Sequence[Any] | None = None,
    ) -> KubernetesComputeStatus:
        """Make the text; see the class."""
        status = super().__new__(cls, _states.canonical(provisioning_state))
        status._created, status._modified = creation_time, modified_time
        status._errors = list(errors) if isinstance(errors, list | tuple) else []
        return status

    _created: datetime | str | None
    _modified: datetime | str | None
    _errors: list[Any]

    @property
    def provisioning_state(self) -> str:
        """The state as a plain text."""
        return str.__str__(self)

    @property
    def creation_time(self) -> datetime | None:
        """When the compute was attached, with time zone."""
        return _time(self._created)

    @property
    def modified_time(self) -> datetime | None:
        """When the record last changed, with time zone."""
        return _time(self._modified)

    @property
    def errors(self) -> list[Any]:
        """The provisioning errors as the service wrote them; empty when there are none."""
        return list(self._errors)

    def serialize(self) -> dict[str, str | None]:
        """The state and its times as JSON-ready data, with azureml-core's keys; times in ISO 8601."""
        return {
            "creationTime": _iso(self._created),
            "modifiedTime": _iso(self._modified),
            "provisioningState": self.provisioning_state,
        }

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any] | None) -> KubernetesComputeStatus | None:
        """A status from the service's ``properties`` or from `serialize`'s result; None from nothing."""
        if not object_dict:
            return None
        if not isinstance(object_dict, Mapping):
            raise TypeError(f"object_dict must be a mapping, not {type(object_dict).__name__}")
        return KubernetesComputeStatus(
            object_dict.get("createdOn") or object_dict.get("creationTime"),
            object_dict.get("modifiedOn") or object_dict.get("modifiedTime"),
            object_dict.get("provisioningState"),
            object_dict.get("provisioningErrors"),
        )

    def __getnewargs__(self) -> tuple[Any, ...]:  # pickle and copy make it anew by __new__
        return self._created, self._modified, self.provisioning_state, self._errors


def _time(value: datetime | str | None) -> datetime | None:
    if not isinstance(value, str):
        return value if isinstance(value, datetime) else None
    return _wire.Reading({"properties": {"createdOn": value}}).value(_wire.CREATED_ON)


def _iso(value: datetime | str | None) -> str | None:
    return value.isoformat() if isinstance(value, datetime) else value if isinstance(value, str) else None
