r"""Azure resource ids and the URL paths built of them: the one door where names are checked before they are sent.

Rules are those of https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules: a name has
1 to 260 characters and none of ``< > % & : \ ? /``. Stricter rules differ by resource type and API version, so they
are left to the service. Ids are compared without regard to letter case, and kept as they were written.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import quote

from azureml_k8s.exceptions import UserErrorException

_WORKSPACES = "Microsoft.MachineLearningServices/workspaces"
_LONGEST_NAME = 260
_FORBIDDEN = frozenset("<>%&:\\?/#")
# Control, invisible format and surrogate characters, line and paragraph separators.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_PLACEHOLDER = re.compile(r"<.*>|\$?\{.*\}|\$\(.*\)", re.DOTALL)
_NARROW = re.compile(r"[\w().-]+")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_RESOURCE = re.compile(
    r"(?P<slash>/?)subscriptions/(?P<subscription>[^/]*)/resourceGroups/(?P<group>[^/]*)"
    r"/providers/(?P<provider>[^/]*)/(?P<type>[^/]*)/(?P<name>[^/]*)(?P<rest>(/[^/]*)*)",
    re.IGNORECASE,
)
_ID_HEAD = "/subscriptions/{subscription}/resourceGroups/{group}/providers/"
_AKS_TYPE = "Microsoft.ContainerService/managedClusters"
_ARC_TYPE = "Microsoft.Kubernetes/connectedClusters"
_IDENTITY_TYPE = "Microsoft.ManagedIdentity/userAssignedIdentities"


def _refuse(argument: str, sentence: str) -> NoReturn:
    raise UserErrorException(f"{argument}: {sentence}", target=argument)


def _shown(value: str) -> str:
    return ascii(value if len(value) <= 200 else value[:200] + "...")


def check_text(argument: str, value: object, *, what: str) -> str:
    """Return the text, a plain str; None and blanks are refused by name, as they usually come from an unset variable.

    Args:
        argument: The name that errors use.
        value: What was given.
        what: What would be right, as the object of "give ...".

    Raises:
        UserErrorException: It is None or blank.
        TypeError: It is neither None nor text.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise UserErrorException(
            f"Missing argument: {argument}. It is {'None' if value is None else 'blank'}; give {what} "
            "(is an environment variable unset?).",
            target=argument,
        )
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    return str.__str__(value)  # of an enum's text member, f-strings would show the name


def check_part(argument: str, value: object) -> str:
    """Return a name unchanged if it can be one part of a resource id.

    Args:
        argument: The name that errors use.
        value: Name of a compute, workspace, resource group or cluster. Letters of any script, blanks inside and
            parentheses are legal; the service may know narrower rules, which are its own to enforce.

    Raises:
        UserErrorException: It is missing, would change the URL, or is no name Azure Resource Manager can hold.
        TypeError: It is neither None nor text.
    """
    name = check_text(argument, value, what="a name")
    if name in (".", ".."):
        _refuse(argument, f"{_shown(name)} is a path, not a name.")
    if len(name) > _LONGEST_NAME:
        _refuse(argument, f"a name has at most {_LONGEST_NAME} characters, this one has {len(name)}.")
    if name != name.strip():
        _refuse(argument, f"{_shown(name)} begins or ends with a blank; remove it.")
    if _PLACEHOLDER.fullmatch(name):
        _refuse(argument, f"{_shown(name)} is a placeholder; put the real name in its place.")
    for character in name:
        if character in _FORBIDDEN:
            _refuse(argument, f"{_shown(name)} holds {character!r}; a name has none of < > % & : \\ ? / #")
        if unicodedata.category(character) in _INVISIBLE:
            _refuse(argument, f"{_shown(name)} holds the invisible character U+{ord(character):04X}; remove it.")
    return name


def check_subscription(value: object, argument: str = "subscription_id") -> str:
    """Return a subscription id unchanged if it is a GUID in any letter case, the all-zero one included.

    Raises:
        UserErrorException: It is missing, a placeholder, or no GUID.
        TypeError: It is neither None nor text.
    """
    text = check_text(argument, value, what="the subscription's id")
    if _GUID.fullmatch(text):
        return text
    if _PLACEHOLDER.fullmatch(text.strip()) or text.strip().lower().startswith(("your-", "your_", "<", "{")):
        _refuse(argument, f"{_shown(text)} is a placeholder; `az account show --query id` prints the real id.")
    _refuse(
        argument,
        f"{_shown(text)} is no subscription id. It is a GUID, such as 00000000-0000-0000-0000-000000000000, not the "
        "subscription's name; `az account show --query id` prints it.",
    )


def encode_part(text: str) -> str:
    """Percent-encode one part of a path, so that no HTTP library changes it again: only A-Z a-z 0-9 - . _ ~ stay."""
    return quote(text, safe="")


@dataclass(frozen=True)
class WorkspaceId:
    """Where a workspace is; every URL path of this library begins here.

    ``==`` compares as written; `same` compares as Azure does.

    Args:
        subscription_id: A GUID.
        resource_group: A name, as `check_part` takes it.
        name: Likewise.

    Raises:
        UserErrorException: A part is missing or malformed.
        TypeError: A part is not text.
    """

    subscription_id: str
    resource_group: str
    name: str

    def __post_init__(self) -> None:
        check_subscription(self.subscription_id)
        check_part("resource_group", self.resource_group)
        check_part("workspace_name", self.name)

    @classmethod
    def parse(cls, text: object, argument: str = "Scope") -> WorkspaceId:
        """Read a workspace's resource id, whole, in any letter case; blanks and slashes at the ends do not matter.

        Raises:
            UserErrorException: It is missing or no id of a workspace, or a part of it is malformed.
            TypeError: It is neither None nor text.
        """
        template = f"{_ID_HEAD}{_WORKSPACES}/{{name}}"
        found = _Resource.read(check_text(argument, text, what=template))
        if found is None or found.type_key != _WORKSPACES.lower() or found.rest:
            _refuse(argument, f"{_shown(str(text))} is not the id of a workspace, which is {template}")
        found.check(argument)
        return cls(found.subscription, found.group, found.name)

    @property
    def id(self) -> str:
        """The resource id, not encoded."""
        return (
            f"/subscriptions/{self.subscription_id}/resourceGroups/{self.resource_group}"
            f"/providers/{_WORKSPACES}/{self.name}"
        )

    @property
    def path(self) -> str:
        """The URL path, encoded."""
        return (
            f"/subscriptions/{self.subscription_id}/resourceGroups/{encode_part(self.resource_group)}"
            f"/providers/{_WORKSPACES}/{encode_part(self.name)}"
        )

    @property
    def computes_path(self) -> str:
        """The URL path of the list of computes."""
        return f"{self.path}/computes"

    def compute_path(self, name: str) -> str:
        """The URL path of one compute; errors as `check_part`."""
        return f"{self.computes_path}/{encode_part(check_part('name', name))}"

    def compute_id(self, name: str) -> str:
        """The resource id of one compute, not encoded; errors as `check_part`."""
        return f"{self.id}/computes/{check_part('name', name)}"

    def same(self, other: WorkspaceId) -> bool:
        """Whether both name one workspace; letter case does not matter."""
        return same_id(self.id, other.id)

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True)
class _Resource:
    """The parts of a resource id; those after the name are kept as one text."""

    subscription: str
    group: str
    provider: str
    type: str
    name: str
    rest: str
    has_slash: bool

    @classmethod
    def read(cls, text: str) -> _Resource | None:
        """Split an id; None where the text is no id of a resource in a group."""
        found = _RESOURCE.fullmatch(text.strip().rstrip("/"))
        if found is None:
            return None
        subscription, group, provider, kind, name, rest = found.groups("")[1:7]
        return cls(subscription, group, provider, kind, name, rest, has_slash=bool(found["slash"]))

    @property
    def type_key(self) -> str:
        """Provider and type in lower case."""
        return f"{self.provider}/{self.type}".lower()

    def check(self, argument: str) -> None:
        """Raise, naming argument and part, where a part is malformed."""
        check_subscription(self.subscription, f"{argument} (its subscription)")
        for part, text in (("resource group", self.group), ("name", self.name)):
            check_part(f"{argument} (its {part})", text)

    def check_strictly(self, argument: str) -> None:
        """Do as `check`, with the narrower rule that holds for groups, clusters and identities."""
        self.check(argument)
        for part, text in (("resource group", self.group), ("name", self.name)):
            if not _NARROW.fullmatch(text):
                _refuse(
                    f"{argument} (its {part})", f"{_shown(text)} holds other characters than letters, digits, -_()."
                )


def compute_name_of(text: object) -> tuple[WorkspaceId, str] | None:
    """Split a compute's resource id into workspace and name; None for anything that is not one."""
    found = _Resource.read(text) if isinstance(text, str) else None
    if found is None or found.type_key != _WORKSPACES.lower():
        return None
    kind, _, name = found.rest.removeprefix("/").partition("/")
    if kind.lower() != "computes":
        return None
    try:
        return WorkspaceId(found.subscription, found.group, found.name), check_part("name", name)
    except UserErrorException:
        return None


def check_cluster_id(value: object, argument: str = "resource_id") -> str:
    """Return the id of an AKS or Arc cluster, without blanks and slashes at its end.

    The whole text is matched, in any letter case, which is kept.

    Raises:
        UserErrorException: It is missing, another resource's id, or a part is malformed; shows what is expected.
        TypeError: It is neither None nor text.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise UserErrorException(f"Missing argument: {argument}.", target=argument, details=_cluster_templates())
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    found = _Resource.read(value)
    wrong = _wrong_with_cluster_id(found) if found else "it is not the resource id of a cluster."
    if found is None or wrong:
        raise UserErrorException(
            f"Invalid {argument} provided: {_shown(value)}: {wrong}", target=argument, details=_cluster_templates()
        )
    found.check_strictly(argument)
    return value.strip().rstrip("/")


def _cluster_templates() -> list[str]:
    return [f"AKS: {_ID_HEAD}{_AKS_TYPE}/{{cluster}}", f"Arc: {_ID_HEAD}{_ARC_TYPE}/{{cluster}}"]


def _wrong_with_cluster_id(found: _Resource) -> str | None:
    if found.type_key == "microsoft.containerservice/connectedclusters":
        return f"an Arc cluster is of {_ARC_TYPE}, although some guides show it under Microsoft.ContainerService."
    if found.type_key not in (_AKS_TYPE.lower(), _ARC_TYPE.lower()):
        return f"it names a {_shown(f'{found.provider}/{found.type}')[1:-1]}, not a cluster."
    if found.rest:
        return f"{_shown(found.rest)} follows the cluster's name; remove it."
    return None if found.has_slash else "it must begin with a slash: /subscriptions/..."


def check_identity_id(value: object, argument: str = "identity_ids") -> str:
    """Return the id of a user-assigned identity, with a leading slash added if it lacks one.

    Raises:
        UserErrorException: It is missing, another resource's id, or a part is malformed; shows what is expected.
        TypeError: It is neither None nor text.
    """
    template = f"{_ID_HEAD}{_IDENTITY_TYPE}/{{identity}}"
    text = check_text(argument, value, what=template)
    found = _Resource.read(text)
    if found is None or found.type_key != _IDENTITY_TYPE.lower() or found.rest:
        _refuse(argument, f"{_shown(text)} is not the id of a user-assigned identity, which is {template}")
    found.check_strictly(argument)
    return "/" + text.strip().strip("/")


def check_namespace(value: object, argument: str = "namespace") -> str:
    """Return a Kubernetes namespace unchanged if it is an RFC 1123 label.

    Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names.

    Raises:
        UserErrorException: It is missing, or no label; a capital letter is named as the reason.
        TypeError: It is neither None nor text.
    """
    text = check_text(argument, value, what="the name of a namespace in the cluster")
    if _LABEL.fullmatch(text):
        return text
    if _LABEL.fullmatch(text.lower()):
        _refuse(
            argument, f"{_shown(text)} has capital letters; Kubernetes namespaces are lower case: {text.lower()!r}."
        )
    _refuse(
        argument,
        f"{_shown(text)} cannot be a Kubernetes namespace, which has 1 to 63 characters: "
        "a-z, 0-9 and, not at the ends, -",
    )


#: What str.strip() takes away, to be taken away together with slashes.
_BLANKS = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace())


def id_key(text: str) -> str:
    """Return a key under which all spellings of one resource id meet: letter case and outer slashes do not count."""
    trimmed = text.strip(f"/{_BLANKS}")
    if trimmed.isascii():
        return trimmed.lower()
    # Letter by letter, as Azure compares: "ss" and the German sharp s are different names.
    return "".join(upper if len(upper := letter.upper()) == 1 else letter for letter in trimmed).lower()


def same_id(one: str | None, other: str | None) -> bool:
    """Whether two ids name one resource; None equals None only."""
    if one is None or other is None:
        return one is other
    return id_key(one) == id_key(other)


def same_location(one: str | None, other: str | None) -> bool:
    """Whether two regions are one: ``West Europe`` is ``westeurope``; None equals None only."""
    if one is None or other is None:
        return one is other
    return "".join(one.split()).lower() == "".join(other.split()).lower()
