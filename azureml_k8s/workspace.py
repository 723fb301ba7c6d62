"""Workspace: where we are, and how we talk to it."""

from __future__ import annotations

import copy
import os
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from azureml_k8s import _arm, _config, _credentials
from azureml_k8s._secrets import get_logger, mask_json
from azureml_k8s._session import Session
from azureml_k8s._transport import Limits, Transport
from azureml_k8s.clouds import Cloud, check_api_version
from azureml_k8s.exceptions import ProjectSystemException, UnreachableException, UserErrorException, WorkspaceException

if TYPE_CHECKING:
    from requests.adapters import BaseAdapter

    from azureml_k8s.compute.compute import ComputeTarget

__all__ = ["Workspace"]

_log = get_logger(__name__)
#: Sockets take no more than 24 days.
_LONGEST_S = 1e6
_WORKSPACES = "/providers/Microsoft.MachineLearningServices/workspaces"


class Settings(TypedDict, total=False):
    """Keyword-only settings of `Workspace`, taken by its factories as well; see there."""

    credential: object | None
    api_version: str | None
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    transport: BaseAdapter | None
    connect_timeout: float
    read_timeout: float
    max_wait: float


class Workspace:
    """An Azure ML workspace, by its names. Making one sends nothing.

    May be used from many threads; all objects reached through it share one connection pool and one token. Use it as a
    context manager, or call `close`, to close the connections early.

    Args:
        subscription_id: The subscription's GUID.
        resource_group: The workspace's resource group.
        workspace_name: The workspace's name.
        auth: How to sign in, under azureml-core's name: a credential of azure-identity, an authentication object of
            `azureml_k8s.authentication` or azureml-core, or msrest credentials. Default: the environment's service
            principal, workload identity, managed identity, az, azd or PowerShell, whichever answers first; never a
            browser. For an emulator: a fake token.
        credential: The same under Azure's name; give one of the two.
        cloud: AzureCloud, AzureChinaCloud, AzureUSGovernment, or a `Cloud`.
        location: The workspace's region, if known; else it is read when first needed.
        api_version: ARM api-version of every request; default: the cloud's.
        clock: Seconds, monotonic; default ``time.monotonic``.
        sleep: Sleeps so many seconds; default ``time.sleep``.
        transport: A requests adapter to send with, instead of the network.
        connect_timeout: Seconds to connect, default 10.
        read_timeout: Seconds between two arrivals of data, default 30.
        max_wait: Seconds that one call obeys when the service asks for pauses, default 600; it raises
            `ThrottledException` when the service asks for more.

    Raises:
        UserErrorException: An argument is wrong; the message names it.
    """

    def __init__(
        self,
        subscription_id: str,
        resource_group: str,
        workspace_name: str,
        auth: object | None = None,
        *,
        credential: object | None = None,
        cloud: str | Cloud = "AzureCloud",
        location: str | None = None,
        api_version: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        transport: BaseAdapter | None = None,
        connect_timeout: float = 10,
        read_timeout: float = 30,
        max_wait: float = 600,
    ) -> None:
        self._workspace_id = _arm.WorkspaceId(
            _arm.check_subscription(subscription_id),
            _arm.check_part("resource_group", resource_group),
            _arm.check_part("workspace_name", workspace_name),
        )
        self._cloud = Cloud.of(cloud)
        self._credential = _credentials.check_credential(auth, credential)
        self._api_version = self._cloud.api_version if api_version is None else check_api_version(api_version)
        self._clock, self._sleep, self._transport = clock, sleep, transport
        self._limits = Limits(
            connect_s=_seconds("connect_timeout", connect_timeout),
            read_s=_seconds("read_timeout", read_timeout),
            max_wait_s=_seconds("max_wait", max_wait),
        )
        self._location = _optional_text("location", location)
        self._body: Mapping[str, Any] | None = None
        self._opened: Session | None = None
        self._lock = threading.Lock()  # of the session; never held while something is sent
        self._reading = threading.Lock()  # of the first look at the workspace, which others wait for

    @staticmethod
    def get(
        name: str,
        auth: object | None = None,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        location: str | None = None,
        cloud: str | Cloud = "AzureCloud",
        id: str | None = None,
        **settings: Unpack[Settings],
    ) -> Workspace:
        """Return the workspace after reading it: one GET.

        Args:
            name: The workspace's name.
            auth: See `Workspace`.
            subscription_id: Needed, unless `id` is given.
            resource_group: Where it is; without it, the subscription's workspaces are listed instead of the one GET.
            location: See `Workspace`.
            cloud: See `Workspace`.
            id: The workspace's ARM id, in place of subscription and resource group.
            **settings: See `Workspace`.

        Raises:
            ProjectSystemException: There is no such workspace.
            WorkspaceException: Without resource_group: several workspaces have the name.
            UserErrorException: An argument is wrong or missing.
        """
        if id is not None:
            where = _arm.WorkspaceId.parse(id, "id")
            subscription_id, resource_group, name = where.subscription_id, where.resource_group, where.name
        name, subscription_id = _arm.check_part("name", name), _arm.check_subscription(subscription_id)
        if resource_group is None:
            return _the_one(name, Workspace.list(subscription_id, auth, cloud=cloud, **settings))
        found = Workspace(subscription_id, resource_group, name, auth, cloud=cloud, location=location, **settings)
        found.get_details()
        return found

    @staticmethod
    def list(
        subscription_id: str,
        auth: object | None = None,
        resource_group: str | None = None,
        *,
        cloud: str | Cloud = "AzureCloud",
        **settings: Unpack[Settings],
    ) -> dict[str, list[Workspace]]:
        """Return the subscription's workspaces by name: one GET for each page.

        Args:
            subscription_id: The subscription's GUID.
            auth: See `Workspace`.
            resource_group: Only those of this group.
            cloud: See `Workspace`.
            **settings: See `Workspace`.

        Returns:
            Each name with its workspaces; names are unique in a resource group only.
        """
        path = f"/subscriptions/{_arm.check_subscription(subscription_id)}"
        if resource_group is not None:
            path += f"/resourceGroups/{_arm.encode_part(_arm.check_part('resource_group', resource_group))}"
        lister = Workspace(subscription_id, resource_group or "any", "any", auth, cloud=cloud, **settings)
        found: dict[str, list[Workspace]] = {}
        for body in lister._session.pages(path + _WORKSPACES):
            if workspace := lister._sibling(body):
                found.setdefault(workspace.name, []).append(workspace)
        return found

    @classmethod
    def from_config(
        cls,
        path: str | os.PathLike[str] | None = None,
        auth: object | None = None,
        _logger: object = None,
        _file_name: str | None = None,
        *,
        cloud: str | Cloud | None = None,
        location: str | None = None,
        **settings: Unpack[Settings],
    ) -> Workspace:
        """Return the workspace that a config file names. Sends nothing.

        Args:
            path: The file, or the folder to start from; default: the current folder. In it and each folder above up to
                the root, ``.azureml/config.json``, ``.azureml/project.json``, the same in ``aml_config``, then in the
                folder itself are sought, as azureml-core does.
            auth: See `Workspace`.
            _logger: Ignored; azureml-core's.
            _file_name: Sought instead of config.json and project.json.
            cloud: Instead of what the file says. A file may name a built-in cloud (``cloud``), or a
                ``resource_manager`` on this machine, where only a fake token is sent unless `auth` or `credential` is
                given.
            location: See `Workspace`.
            **settings: See `Workspace`.

        Raises:
            UserErrorException: No file, or it does not name a workspace, or it names a foreign host.
        """
        config = _config.load(path, _file_name, with_cloud=cloud is None)
        where = config.workspace
        chosen = cloud if cloud is not None else config.cloud or "AzureCloud"
        return cls(
            where.subscription_id, where.resource_group, where.name, auth, cloud=chosen, location=location, **settings
        )

    def write_config(self, path: str | os.PathLike[str] | None = None, file_name: str | None = None) -> None:
        """Write ``<path>/.azureml/config.json``, which this library, azureml-core and azure-ai-ml read.

        Args:
            path: Folder, default: the current one.
            file_name: Instead of config.json.

        Raises:
            UserErrorException: It can't be written.
        """
        written = _config.write(self._workspace_id, self._cloud, path, file_name)
        _log.info("wrote %s", written)

    @property
    def name(self) -> str:
        """The workspace's name."""
        return self._workspace_id.name

    @property
    def subscription_id(self) -> str:
        """The subscription's GUID."""
        return self._workspace_id.subscription_id

    @property
    def resource_group(self) -> str:
        """The resource group's name."""
        return self._workspace_id.resource_group

    @property
    def id(self) -> str:
        """The workspace's ARM id."""
        return self._workspace_id.id

    @property
    def cloud(self) -> Cloud:
        """The cloud that it is in."""
        return self._cloud

    @property
    def location(self) -> str:
        """The region; read once, on first need: one GET at the most."""
        if self._location is None:
            location = self._details().get("location")
            if not isinstance(location, str) or not location:
                raise UnreachableException("the service's answer about the workspace has no location")
            self._location = location
        return self._location

    @property
    def tags(self) -> dict[str, str]:
        """The workspace's tags; one GET at the most."""
        tags = self._details().get("tags")
        return dict(tags) if isinstance(tags, dict) else {}

    @property
    def sku(self) -> str | None:
        """The name of the workspace's sku, for example Basic; one GET at the most."""
        sku = self._details().get("sku")
        return sku.get("name") if isinstance(sku, dict) else None

    @property
    def discovery_url(self) -> str | None:
        """The address of the regional discovery document; one GET at the most."""
        properties = self._details().get("properties")
        return properties.get("discoveryUrl") if isinstance(properties, dict) else None

    @property
    def compute_targets(self) -> dict[str, ComputeTarget]:
        """The workspace's compute targets by name, read anew each time: one GET for each page."""
        # Resources stand side by side: a compute needs its workspace to be made, and this is the way back.
        from azureml_k8s.compute.compute import ComputeTarget

        return {target.name: target for target in ComputeTarget.list(self)}

    def get_details(self) -> dict[str, Any]:
        """Return the service's own description of the workspace, read anew: one GET. It may hold secrets.

        Raises:
            ProjectSystemException: There is no such workspace.
        """
        body = self._session.get(self._workspace_id.path)
        if not isinstance(body, dict):
            raise UnreachableException("the service's answer describes no workspace: it is no JSON object")
        self._body = copy.deepcopy(body)  # the caller may change what is returned
        return body

    def close(self) -> None:
        """Close the connections; using the workspace again opens new ones."""
        with self._lock:
            if self._opened:
                self._opened.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        names = f"{self.subscription_id!r}, {self.resource_group!r}, {self.name!r}"
        return f"Workspace({names}, cloud={self._cloud.name!r})"

    def _details(self) -> Mapping[str, Any]:
        with self._reading:
            return self._body if self._body is not None else self.get_details()

    @property
    def _session(self) -> Session:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _open(self) -> Session:
        credential = self._credential if self._credential is not None else _credentials.default_credential(self._cloud)
        return Session(
            self._cloud,
            _credentials.TokenSource(credential, self._cloud, clock=self._clock),
            Transport(self._cloud, limits=self._limits, clock=self._clock, adapter=self._transport),
            max_wait_s=self._limits.max_wait_s,
            api_version=self._api_version,
            clock=self._clock,
            sleep=self._sleep,
        )

    def _sibling(self, body: Any) -> Workspace | None:
        """Another workspace of a list, sharing this one's session; None, with a warning, for what is none."""
        try:
            where = _arm.WorkspaceId.parse(body["id"] if isinstance(body, dict) else None, "id")
        except (KeyError, TypeError, UserErrorException):
            _log.warning("an item of the list is no workspace: %.200s", mask_json(body))
            return None
        sibling = Workspace(
            where.subscription_id,
            where.resource_group,
            where.name,
            credential=self._credential,
            cloud=self._cloud,
            api_version=self._api_version,
            clock=self._clock,
            sleep=self._sleep,
            transport=self._transport,
        )
        sibling._limits, sibling._opened = self._limits, self._session
        sibling._body = body
        return sibling


def _the_one(name: str, found: Mapping[str, list[Workspace]]) -> Workspace:
    same = [one for key, ones in found.items() if key.casefold() == name.casefold() for one in ones]
    if not same:
        raise ProjectSystemException(f"workspace {name} was not found in the subscription", target=name)
    if len(same) > 1:
        groups = ", ".join(one.resource_group for one in same)
        raise WorkspaceException(
            f"several workspaces are named {name}", target=name, remedy=f"Give resource_group, one of: {groups}."
        )
    return same[0]


def _seconds(argument: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{argument} must be a number of seconds, not {type(value).__name__}")
    if not 0 < value < float("inf"):
        raise UserErrorException(f"{argument} must be more than 0 seconds, and finite, not {value}", target=argument)
    return float(min(value, _LONGEST_S))


def _optional_text(argument: str, value: str | None) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{argument} must be a text, not {type(value).__name__}")
    return value or None
