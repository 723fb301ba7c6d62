"""Resource ids and URL paths: what may be a part of one, and which spellings are the same."""

from __future__ import annotations

import re
import string
import unicodedata
from urllib.parse import unquote

import pytest
import requests
from hypothesis import assume, example, given
from hypothesis import strategies as st

from azureml_k8s import _arm
from azureml_k8s._arm import WorkspaceId
from azureml_k8s.exceptions import UserErrorException

SUB = "00000000-0000-0000-0000-000000000000"
SUB2 = "11111111-1111-1111-1111-11111111111A"
GROUP = f"/subscriptions/{SUB}/resourceGroups/rg/providers"
WS = f"{GROUP}/Microsoft.MachineLearningServices/workspaces/ws"
AKS = f"{GROUP}/Microsoft.ContainerService/managedClusters/aks1"
ARC = f"{GROUP}/Microsoft.Kubernetes/connectedClusters/arc1"
IDENTITY = f"{GROUP}/Microsoft.ManagedIdentity/userAssignedIdentities/id1"

GOOD_PARTS = [
    "k8s1",
    "cpu-cluster-1",
    "a",
    "x" * 260,
    "my group (west)",
    "a.b_c-d~e",
    "gr\u00f6\u00dfe",
    "\u8ba1\u7b97",
    "...",
    ".a",
    "a.",
    "a+b=c@d,e;f!g*h'i$j",
    "your-cluster",
    '|^`"[]',
]
BAD_PARTS = [
    *("", " ", "\t", "\u00a0"),
    *(".", ".."),
    *("a/b", "/a", "a/", "a\\b", "a?b", "a#b", "%2e%2e", "%2E", "100%", "a&b", "a:b", "<a", "a>"),
    *("a\nb", "a\x00", "a\x1b[31m", "a\x7f", "a\x85b", "a\r\nHost: x", "\ud800", "a\udfff", "a\u2028b", "a\u200bb"),
    *(" a", "a ", "a\n", "\u3000a", "a\u202e"),
    *("x" * 261, "<name>", "<your-workspace>", "{name}", "{{name}}", "${NAME}", "$(NAME)"),
]


@pytest.mark.parametrize("name", GOOD_PARTS)
def test_good_part_is_unchanged(name: str) -> None:
    """A name that the service can hold passes as it is, however unusual (MachineLearningNotebooks#581)."""
    assert _arm.check_part("name", name) == name


@pytest.mark.parametrize("name", [None, *BAD_PARTS])
def test_bad_part_is_refused_by_name(name: str | None) -> None:
    """A name that is missing or would change the URL is refused by argument (MachineLearningNotebooks#581)."""
    with pytest.raises(UserErrorException, match="compute_name") as caught:
        _arm.check_part("compute_name", name)
    assert caught.value.target == "compute_name"
    assert str(caught.value).isascii()
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("name", [7, 1.5, True, b"k8s1", ["k8s1"], object()])
def test_part_of_a_wrong_type(name: object) -> None:
    """A name that is no text is a TypeError that names argument and type."""
    with pytest.raises(TypeError, match=f"compute_name must be a str, not {type(name).__name__}"):
        _arm.check_part("compute_name", name)


def test_missing_part_points_to_the_environment() -> None:
    """None and blanks usually come from an unset variable; the error says so (MachineLearningNotebooks#581)."""
    for missing in (None, "", "  "):
        with pytest.raises(UserErrorException, match="environment variable"):
            _arm.check_part("name", missing)


def test_long_value_is_not_repeated_whole() -> None:
    """An error shows the beginning of a long value only."""
    with pytest.raises(UserErrorException) as caught:
        _arm.check_subscription("x" * 100_000)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("guid", [SUB, SUB2, SUB2.lower(), "ABCDEF01-2345-6789-abcd-ef0123456789"])
def test_subscription_is_a_guid(guid: str) -> None:
    """A GUID in any letter case, the all-zero one included, passes as it is."""
    assert _arm.check_subscription(guid) == guid


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "Missing"),
        ("", "Missing"),
        ("<subscription-id>", "placeholder"),
        ("{subscription}", "placeholder"),
        ("${SUBSCRIPTION}", "placeholder"),
        ("$(SUBSCRIPTION)", "placeholder"),
        ("your-subscription-id", "placeholder"),
        ("YOUR-SUBSCRIPTION-ID", "placeholder"),
        ("your_subscription_id", "placeholder"),
        ("<your subscription", "placeholder"),
        ("Pay-As-You-Go", "no subscription id"),
        (SUB[:-1], "no subscription id"),
        (f"{SUB}0", "no subscription id"),
        (f"{SUB}\n", "no subscription id"),
        (f"{{{SUB}}}", "placeholder"),
        (SUB.replace("-", ""), "no subscription id"),
        (f"/subscriptions/{SUB}", "no subscription id"),
        (SUB.replace("0", "\u0660"), "no subscription id"),
        (f"{SUB}/../{SUB2}", "no subscription id"),
    ],
)
def test_no_subscription(value: str | None, word: str) -> None:
    """What is no GUID is refused; a placeholder that nobody replaced is called one."""
    with pytest.raises(UserErrorException, match=word) as caught:
        _arm.check_subscription(value)
    assert caught.value.target == "subscription_id"


@given(st.text())
@example("..")
@example("a%2Fb")
@example("~")
def test_http_libraries_keep_an_accepted_part(name: str) -> None:
    """The URL that requests prepares is the one that was built, and the service reads the same name from it."""
    try:
        _arm.check_part("name", name)
    except UserErrorException:
        return
    url = f"https://management.azure.com{WorkspaceId(SUB, name, name).compute_path(name)}?api-version=2024-04-01"
    assert requests.Request("GET", url).prepare().url == url
    segments = url.partition("?")[0].split("/")
    assert len(segments) == 13
    assert [unquote(segments[index]) for index in (6, 10, 12)] == [name] * 3


def test_encode_part() -> None:
    """Everything but unreserved characters is encoded, the slash too."""
    assert _arm.encode_part("a/b (\u00fc)~-._") == "a%2Fb%20%28%C3%BC%29~-._"


def test_workspace_paths() -> None:
    """Paths are percent-encoded, ids are not."""
    where = WorkspaceId(SUB, "my group (west)", "gr\u00f6\u00dfe")
    assert where.id == str(where)
    assert where.id == (
        f"/subscriptions/{SUB}/resourceGroups/my group (west)"
        "/providers/Microsoft.MachineLearningServices/workspaces/gr\u00f6\u00dfe"
    )
    assert where.path == (
        f"/subscriptions/{SUB}/resourceGroups/my%20group%20%28west%29"
        "/providers/Microsoft.MachineLearningServices/workspaces/gr%C3%B6%C3%9Fe"
    )
    assert where.computes_path == f"{where.path}/computes"
    assert where.compute_path("k8s 1") == f"{where.path}/computes/k8s%201"
    assert where.compute_id("k8s 1") == f"{where.id}/computes/k8s 1"
    assert WorkspaceId(SUB, "rg", "ws").id == WorkspaceId(SUB, "rg", "ws").path == WS


@pytest.mark.parametrize("name", [None, *BAD_PARTS])
def test_every_part_of_a_workspace_is_checked(name: str | None) -> None:
    """No bad part gets into a path, whichever it is, and the error names it."""
    for arguments, argument in (
        ((name, "rg", "ws"), "subscription_id"),
        ((SUB, name, "ws"), "resource_group"),
        ((SUB, "rg", name), "workspace_name"),
    ):
        with pytest.raises(UserErrorException, match=argument):
            WorkspaceId(*arguments)
    where = WorkspaceId(SUB, "rg", "ws")
    for build in (where.compute_path, where.compute_id):
        with pytest.raises(UserErrorException, match="name"):
            build(name)


@pytest.mark.parametrize(
    "text",
    [
        WS,
        f"{WS}/",
        f"  {WS}\n",
        WS[1:],
        f"{WS}//",
        WS.lower(),
        WS.upper(),
        WS.replace("resourceGroups", "resourcegroups"),
    ],
)
def test_workspace_id_is_read_in_any_spelling(text: str) -> None:
    """Letter case, blanks and slashes at the ends do not matter when an id is read."""
    assert WorkspaceId.parse(text).same(WorkspaceId(SUB, "rg", "ws"))


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", " ", "x", "/", WS + "/computes/k8s1", WS + "x/y", AKS, GROUP, f"https://management.azure.com{WS}"),
        *(WS.replace(SUB, "nope"), WS.replace(SUB, ""), WS.replace("/rg/", "//"), WS.replace("rg", "..")),
        *(WS.replace("rg", "a%2fb"), WS.replace("rg", "a?b"), WS[:-2], WS[:-2] + "<ws>", WS + "?x", WS + "#x"),
        *(f"/{WS}", WS.replace("/providers", "\n/providers"), WS.replace("Microsoft.", "Microsoft\u3002")),
    ],
)
def test_no_workspace_id(text: str | None) -> None:
    """Anything but one whole id with legal parts is refused by the argument's name."""
    with pytest.raises(UserErrorException, match="Scope"):
        WorkspaceId.parse(text, "Scope")


def test_workspace_id_of_a_wrong_type() -> None:
    """An id that is no text is a TypeError."""
    with pytest.raises(TypeError, match="Scope"):
        WorkspaceId.parse({"id": WS}, "Scope")


def test_workspaces_are_compared_as_azure_does() -> None:
    """`same` ignores letter case only (terraform-provider-azurerm#15111)."""
    where = WorkspaceId(SUB2, "rg", "ws")
    assert where.same(WorkspaceId(SUB2.lower(), "RG", "Ws"))
    for other in (WorkspaceId(SUB, "rg", "ws"), WorkspaceId(SUB2, "rg2", "ws"), WorkspaceId(SUB2, "rg", "ws2")):
        assert not where.same(other)


def test_compute_name_of() -> None:
    """A compute's id gives its workspace and name, in the spelling of the id."""
    found = _arm.compute_name_of(f"{WS}/computes/K8s-1")
    assert found == (WorkspaceId(SUB, "rg", "ws"), "K8s-1")
    loud = _arm.compute_name_of(f"{WS}/computes/k8s1/".upper())
    assert loud is not None
    assert loud[0].same(WorkspaceId(SUB, "rg", "ws"))
    assert loud[1] == "K8S1"


@pytest.mark.parametrize(
    "text",
    [
        *(None, 7, {}, "", WS, f"{WS}/computes", f"{WS}/computes/", f"{WS}/computes/a/b", f"{WS}/datastores/a", AKS),
        *(f"{AKS}/computes/a", f"{WS}/computes/..", f"{WS}/computes/%2e", f"{WS.replace(SUB, 'x')}/computes/a"),
    ],
)
def test_compute_name_of_something_else(text: object) -> None:
    """What is no compute's id gives None, not an error: answers of the service are read with it."""
    assert _arm.compute_name_of(text) is None


@pytest.mark.parametrize(
    "cluster",
    [
        AKS,
        ARC,
        AKS.lower(),
        ARC.upper(),
        AKS.replace("resourceGroups", "resourcegroups").replace("managedClusters", "managedclusters"),
        AKS.replace("/rg/", "/My_Group-1.(west)/"),
        AKS.replace("/rg/", "/MC_rg_aks_westeurope/"),
        AKS.replace("/rg/", "/gr\u00fcn/"),
        AKS.replace(SUB, SUB2),
        ARC.replace("arc1", "edge.site-7"),
    ],
)
def test_cluster_id(cluster: str) -> None:
    """AKS and Arc ids pass in any letter case, kept as written, ends trimmed (terraform-provider-azurerm#15111)."""
    for text in (cluster, f"{cluster}/", f" {cluster}\n", f"{cluster}// "):
        assert _arm.check_cluster_id(text) == cluster


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "Missing argument: resource_id."),
        ("", "Missing argument: resource_id."),
        ("  ", "Missing argument: resource_id."),
        ("aks1", "not the resource id of a cluster"),
        (f"{AKS}/agentPools/pool1", "follows the cluster's name"),
        (f"{AKS} junk", "other characters"),
        (AKS.replace("rg", "my group"), "other characters"),
        (f"{AKS}?api-version=1", "'?'"),
        (AKS[1:], "begin with a slash"),
        (f"https://management.azure.com{AKS}", "not the resource id of a cluster"),
        (f"{GROUP}/Microsoft.Storage/storageAccounts/st1", "names a Microsoft.Storage/storageAccounts"),
        (f"{GROUP}/Microsoft.ContainerService/connectedClusters/arc1", "although some guides"),
        (WS, "names a Microsoft.MachineLearningServices/workspaces"),
        (AKS.replace(SUB, "<subscription-id>"), "placeholder"),
        (AKS.replace(SUB, "your-subscription"), "placeholder"),
        (AKS.replace(SUB, "12345"), "no subscription id"),
        (AKS.replace("rg", "<resource-group>"), "placeholder"),
        (AKS.replace("aks1", "{cluster}"), "placeholder"),
        (AKS.replace("aks1", ".."), "a path, not a name"),
        (AKS.replace("/rg/", "//"), "Missing argument"),
        (AKS.replace("aks1", ""), "not the resource id of a cluster"),
        (AKS.replace("aks1", "a%2Fb"), "'%'"),
        (f"{AKS}\n{AKS}", "resource_id"),
        (AKS.replace("/rg/", "/r\ng/"), "U+000A"),
    ],
)
def test_no_cluster_id(value: str | None, words: str) -> None:
    """What is no cluster's id is refused, with the reason, by the argument's name."""
    with pytest.raises(UserErrorException) as caught:
        _arm.check_cluster_id(value)
    assert words in str(caught.value)
    assert "resource_id" in caught.value.message


def test_no_cluster_id_shows_both_templates() -> None:
    """The error tells how ids of AKS and of Arc look."""
    with pytest.raises(UserErrorException) as caught:
        _arm.check_cluster_id("aks1")
    for template in ("Microsoft.ContainerService/managedClusters/{", "Microsoft.Kubernetes/connectedClusters/{"):
        assert template in str(caught.value)


@given(junk=st.text(min_size=1, max_size=5))
def test_cluster_id_is_matched_whole(junk: str) -> None:
    """Nothing but blanks and slashes may stand around the id, and nothing that changes a URL in it."""
    try:
        found = _arm.check_cluster_id(AKS + junk)
    except UserErrorException:
        return
    assert found == (AKS + junk).strip().rstrip("/")
    assert re.fullmatch(r"[\w().-]+", found.removeprefix(AKS.removesuffix("aks1")))


def test_identity_id() -> None:
    """A user-assigned identity's id passes with its leading slash or without, which is added."""
    for text in (IDENTITY, IDENTITY[1:], f" {IDENTITY}/ "):
        assert _arm.check_identity_id(text) == IDENTITY
    assert _arm.check_identity_id(IDENTITY.lower()) == IDENTITY.lower()


@pytest.mark.parametrize(
    "value",
    [None, "", "id1", AKS, f"{IDENTITY}/x", IDENTITY.replace(SUB, "<sub>"), IDENTITY.replace("id1", ".."), SUB],
)
def test_no_identity_id(value: str | None) -> None:
    """Anything else is refused by the argument's name."""
    with pytest.raises(UserErrorException, match="identity_ids"):
        _arm.check_identity_id(value)


@pytest.mark.parametrize("value", [7, b"x", [AKS]])
def test_ids_of_a_wrong_type(value: object) -> None:
    """An id or namespace that is no text is a TypeError that names the argument."""
    for check in (_arm.check_cluster_id, _arm.check_identity_id, _arm.check_namespace, _arm.check_subscription):
        with pytest.raises(TypeError, match="thing must be a str"):
            check(value, "thing")


LABEL = string.ascii_lowercase + string.digits + "-"


@given(st.text(alphabet=LABEL, min_size=1, max_size=70))
def test_namespace_is_a_label(text: str) -> None:
    """Exactly the RFC 1123 labels are namespaces."""
    if len(text) <= 63 and text[0] != "-" and text[-1] != "-":
        assert _arm.check_namespace(text) == text
        return
    with pytest.raises(UserErrorException, match="namespace"):
        _arm.check_namespace(text)


@given(st.text(max_size=70))
@example("NOT a ns!")
@example("a\n")
@example("a.b")
@example("\u0661")
@example("\u017f")
def test_no_namespace(text: str) -> None:
    """Any other character is refused."""
    assume(set(text) - set(LABEL) or not text)
    with pytest.raises(UserErrorException, match="namespace"):
        _arm.check_namespace(text)


def test_namespace_in_capitals_says_why() -> None:
    """Capitals are refused with the reason and the right spelling (terraform-provider-azurerm#17562)."""
    with pytest.raises(UserErrorException, match=r"capital letters.*'team'"):
        _arm.check_namespace("Team")


@pytest.mark.parametrize(
    "other",
    [
        AKS.replace("resourceGroups", "resourcegroups"),
        AKS.replace("Microsoft.ContainerService", "microsoft.containerservice"),
        AKS.replace("/rg/", "/RG/"),
        AKS.replace("aks1", "Aks1"),
        AKS[1:],
        f"{AKS}/",
        f" {AKS} ",
    ],
)
def test_same_id(other: str) -> None:
    """Spellings of one id are one key (terraform-provider-azurerm#15111)."""
    assert _arm.same_id(AKS, other)
    assert _arm.same_id(other, AKS)
    assert _arm.id_key(AKS) == _arm.id_key(other)


def test_different_ids() -> None:
    """Another cluster is another one, and None is only None (terraform-provider-azurerm#15111)."""
    assert not _arm.same_id(AKS, AKS.replace("aks1", "aks2"))
    assert not _arm.same_id(AKS, ARC)
    assert not _arm.same_id(AKS, None)
    assert not _arm.same_id(None, AKS)
    assert not _arm.same_id(None, "")
    assert _arm.same_id(None, None)
    assert not _arm.same_id("/x/stra\u00dfe", "/x/strasse")
    assert _arm.same_id("/x/GR\u00dcN", "/x/gr\u00fcn")


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=30))
def test_ascii_case_never_matters(text: str) -> None:
    """Upper and lower case of an ASCII id are one id."""
    assert _arm.same_id(text.upper(), text.lower())


@given(st.text(max_size=30), st.text(max_size=30))
def test_key_and_comparison_agree(one: str, other: str) -> None:
    """Two ids are the same exactly if their keys are, and a key is its own key."""
    assert _arm.same_id(one, other) == (_arm.id_key(one) == _arm.id_key(other))
    assert _arm.id_key(_arm.id_key(one)) == _arm.id_key(one)


def test_same_location() -> None:
    """Letter case and blanks of a region do not matter (terraform-provider-azurerm#17562)."""
    assert _arm.same_location("West Europe", "westeurope")
    assert _arm.same_location("WESTEUROPE ", "westeurope")
    assert not _arm.same_location("West Europe", "West US")
    assert not _arm.same_location("westeurope", None)
    assert not _arm.same_location(None, "westeurope")
    assert _arm.same_location(None, None)


@given(st.text())
def test_no_control_character_passes(text: str) -> None:
    """An accepted name holds no character that a terminal or a log would obey."""
    try:
        name = _arm.check_part("name", text)
    except UserErrorException:
        return
    assert not {unicodedata.category(letter) for letter in name} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
