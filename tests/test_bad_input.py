"""Names that would change a URL, and other wrong input: refused by name, before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from bodies import AKS, SUB, WS, compute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from azureml_k8s import (
    Cloud,
    ComputeTarget,
    ComputeTargetException,
    KubernetesCompute,
    UserErrorException,
    Workspace,
)
from azureml_k8s.emulator import Emulator, EmulatorAdapter, FakeClock

CONFIGURATION = KubernetesCompute.attach_configuration(AKS)
BAD_TEXTS = [
    "",
    " ",
    "\t\n",
    ".",
    "..",
    "a/b",
    "/",
    "a?b",
    "a#b",
    "%2e%2e",
    "a%2Fb",
    "a\\b",
    "a\x00b",
    "a\nb",
    "a\x7f",
    "a\u0085b",
    "a\u200bb",
    "a\u2028b",
    "a\ud800b",
    "x" * 261,
    "<name>",
    "{name}",
    "${NAME}",
    "$(name)",
    " a",
    "a ",
]
BAD_TYPES: list[Any] = [7, 1.5, True, b"k8s1", ["k8s1"], {"name": "k8s1"}, object()]
BAD = [*BAD_TEXTS, None, *BAD_TYPES]
BAD_SUBSCRIPTIONS = [
    *BAD,
    "not-a-guid",
    "<subscription-id>",
    "{subscription}",
    "your-subscription-id",
    "YOUR_SUBSCRIPTION",
    "0" * 32,
    SUB[:-1],
    SUB + "0",
    f"{{{SUB}}}",
    SUB.replace("0", "\u0660"),
]


def is_json(value: object) -> bool:
    return isinstance(value, str | int | float | list | dict | None)


def ids(value: object) -> str:
    return ascii(value)[:20]


def refused(call: Callable[[], object], argument: str, value: object) -> None:
    """The call raises our error (or a TypeError for a value of another type) and names the argument."""
    expected: type[Exception] = UserErrorException if value is None or isinstance(value, str) else TypeError
    with pytest.raises(expected) as caught:
        call()
    assert argument in str(caught.value).splitlines()[0]
    if isinstance(caught.value, UserErrorException):
        assert isinstance(caught.value, ComputeTargetException | ValueError)
        assert argument.split()[0] in (caught.value.target or "")
    assert all(character.isprintable() for character in str(caught.value).replace("\n", ""))


NAME_CALLS: dict[str, Callable[[Workspace, Any], object]] = {
    "read": lambda workspace, name: ComputeTarget(workspace, name),
    "read a cluster": lambda workspace, name: KubernetesCompute(workspace, name),
    "attach": lambda workspace, name: ComputeTarget.attach(workspace, name, CONFIGURATION),
    "attach by class": lambda workspace, name: KubernetesCompute.attach(workspace, name, CONFIGURATION),
    "replace": lambda workspace, name: ComputeTarget.attach(workspace, name, CONFIGURATION, replace=True),
    "compare": lambda workspace, name: KubernetesCompute.compare(workspace, name, CONFIGURATION),
}


@pytest.mark.parametrize("name", BAD, ids=ids)
@pytest.mark.parametrize("call", NAME_CALLS.values(), ids=NAME_CALLS)
def test_bad_compute_names(workspace: Workspace, emulator: Emulator, call: Any, name: object) -> None:
    """MachineLearningNotebooks#581: from every call, before any request, naming the argument."""
    refused(lambda: call(workspace, name), "name", name)
    assert emulator.requests == []


@pytest.mark.parametrize("name", [*BAD_TEXTS, *BAD_TYPES], ids=ids)
def test_bad_names_in_a_serialized_compute(workspace: Workspace, emulator: Emulator, name: object) -> None:
    """deserialize reads what anybody may have written."""
    refused(lambda: ComputeTarget.deserialize(workspace, compute(top={"name": name})), "object_dict", name)
    if isinstance(name, str) and name.strip(" /") and name.strip() == name:
        refused(
            lambda: ComputeTarget.deserialize(workspace, compute(top={"id": f"{WS}/computes/{name}", "name": None})),
            "object_dict",
            name,
        )
    assert emulator.requests == []


WORKSPACE_CALLS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "resource_group": ("resource_group", lambda value: Workspace(SUB, value, "ws")),
    "workspace_name": ("workspace_name", lambda value: Workspace(SUB, "rg", value)),
    "get's name": ("name", lambda value: Workspace.get(value, None, SUB, "rg")),
    "get's name by subscription": ("name", lambda value: Workspace.get(value, None, SUB)),
}


@pytest.mark.parametrize("value", BAD, ids=ids)
@pytest.mark.parametrize(("argument", "call"), WORKSPACE_CALLS.values(), ids=WORKSPACE_CALLS)
def test_bad_workspace_and_group_names(no_network: None, argument: str, call: Any, value: object) -> None:
    """As arguments of everything that makes a workspace."""
    refused(lambda: call(value), argument, value)


@pytest.mark.parametrize("value", [one for one in BAD if one is not None], ids=ids)
def test_bad_groups_where_none_is_legal(no_network: None, value: object) -> None:
    """get and list take no group; a wrong one is refused."""
    refused(lambda: Workspace.get("ws", None, SUB, value), "resource_group", value)  # type: ignore[arg-type]
    refused(lambda: Workspace.list(SUB, None, value), "resource_group", value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", BAD_SUBSCRIPTIONS, ids=ids)
def test_bad_subscriptions(no_network: None, value: Any) -> None:
    """No GUID, or the placeholder of an example."""
    for call in (
        lambda: Workspace(value, "rg", "ws"),
        lambda: Workspace.get("ws", None, value, "rg"),
        lambda: Workspace.get("ws", None, value),
        lambda: Workspace.list(value),
    ):
        refused(call, "subscription_id", value)


def test_a_placeholder_is_called_one() -> None:
    """The error says where the real id is to be had."""
    for value in ("<subscription-id>", "{subscription}", "your-subscription-id"):
        with pytest.raises(UserErrorException, match=r"placeholder.*az account show"):
            Workspace(value, "rg", "ws")


def test_a_subscriptions_name_is_told_from_its_id() -> None:
    """People give the display name."""
    with pytest.raises(UserErrorException, match="GUID"):
        Workspace("Contoso production", "rg", "ws")


@pytest.mark.parametrize("subscription", [SUB, SUB.upper(), "ABCDEF01-2345-6789-abcd-ef0123456789"])
def test_guids_in_any_case_are_legal(subscription: str) -> None:
    """The all-zero one too."""
    assert Workspace(subscription, "rg", "ws").subscription_id == subscription


@pytest.mark.parametrize("value", [one for one in BAD if is_json(one)], ids=ids)
@pytest.mark.parametrize("key", ["subscription_id", "resource_group", "workspace_name"])
def test_bad_names_in_a_config_file(tmp_path: Path, key: str, value: object) -> None:
    """A config file is a source like any other; the error names key and file."""
    text = json.dumps({"subscription_id": SUB, "resource_group": "rg", "workspace_name": "ws", key: value})
    file = tmp_path / "config.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserErrorException, match=key) as caught:
        Workspace.from_config(file)
    assert str(file) in str(caught.value)


def bad_parts() -> Iterator[tuple[str, str]]:
    """A part of a workspace's id and junk in its place, but for what is legal there."""
    for value in (one for one in BAD_SUBSCRIPTIONS if isinstance(one, str)):
        yield SUB, value
        if value in BAD or value.startswith(("<", "{")):
            yield "/rg/", value
            if value != "a ":  # blanks at the end of an id are trimmed
                yield "/ws", value


@pytest.mark.parametrize(("part", "value"), list(bad_parts()), ids=ids)
def test_bad_parts_of_a_scope(tmp_path: Path, part: str, value: str) -> None:
    """azureml-core's Scope, with junk in any of its parts."""
    file = tmp_path / "config.json"
    scope = WS.replace(part, part.replace(part.strip("/"), value))
    file.write_text(json.dumps({"Id": None, "Scope": scope}), encoding="utf-8")
    with pytest.raises(UserErrorException, match="Scope"):
        Workspace.from_config(file)


@pytest.mark.parametrize(
    "scope",
    [
        "",
        "/",
        7,
        [],
        f"/subscriptions/{SUB}",
        f"{WS}/computes/k8s1",
        f"{WS}/../other",
        AKS,
        f"https://evil.example{WS}",
        f"{WS}?x",
        f"{WS}\n/x",
    ],
    ids=ids,
)
def test_scopes_that_are_no_workspaces(tmp_path: Path, scope: object) -> None:
    """In the file, and as the id that get takes."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"Scope": scope}), encoding="utf-8")
    with pytest.raises((UserErrorException, TypeError), match="Scope"):
        Workspace.from_config(file)
    with pytest.raises((UserErrorException, TypeError), match="id"):
        Workspace.get("ws", id=scope)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: Workspace(SUB, "rg", "ws", namee="x"), "namee"),
        (lambda: Workspace.get("ws", None, SUB, "rg", namee="x"), "namee"),
        (lambda: Workspace.list(SUB, namee="x"), "namee"),
        (lambda: ComputeTarget.attach(None, "k8s1", None, namee="x"), "namee"),
        (lambda: KubernetesCompute.attach_configuration(AKS, namee="x"), "namee"),
        (lambda: ComputeTarget(None, "k8s1", namee="x"), "namee"),
    ],
)
def test_unknown_keywords_are_type_errors(no_network: None, call: Any, keyword: str) -> None:
    """terraform-provider-azurerm#21457: refused by name."""
    with pytest.raises(TypeError, match=keyword):
        call()


@pytest.mark.parametrize("value", [None, "cfg", {}, CONFIGURATION.to_dict(), KubernetesCompute])
def test_what_is_no_configuration_is_refused(workspace: Workspace, emulator: Emulator, value: Any) -> None:
    """The error says where one comes from."""
    with pytest.raises(TypeError, match=r"attach_configuration\(\)"):
        ComputeTarget.attach(workspace, "k8s1", value)
    assert emulator.requests == []


@pytest.mark.parametrize("replace", ["false", "no", 1, 0, None, []])
def test_replace_is_true_or_false(workspace: Workspace, emulator: Emulator, replace: Any) -> None:
    """It detaches: a text such as "false" must not count as true."""
    with pytest.raises(TypeError, match="replace"):
        ComputeTarget.attach(workspace, "k8s1", CONFIGURATION, replace=replace)
    assert emulator.requests == []


class Names(str, Enum):  # noqa: UP042 - StrEnum has not the trap
    """Names as people keep them in one place."""

    SUBSCRIPTION = SUB
    GROUP = "rg"
    WORKSPACE = "ws"
    COMPUTE = "k8s1"
    NAMESPACE = "team"


def test_members_of_text_enums_are_their_texts(emulator: Emulator, clock: FakeClock) -> None:
    """In URLs and messages alike, where f-strings would show the member's name."""
    workspace = Workspace(
        Names.SUBSCRIPTION,
        Names.GROUP,
        Names.WORKSPACE,
        cloud=Cloud.emulator("http://localhost:1"),
        sleep=clock.sleep,
        clock=clock,
        transport=EmulatorAdapter(emulator, sleep=clock.sleep),
    )
    configuration = KubernetesCompute.attach_configuration(AKS, Names.NAMESPACE)
    target = ComputeTarget.attach(workspace, Names.COMPUTE, configuration)
    assert target.id == f"{WS}/computes/k8s1"
    assert "Names" not in repr(target) + repr(workspace) + repr(configuration) + workspace.id
    assert all("Names" not in request.target for request in emulator.requests)


def test_the_type_in_a_wrong_id_is_shown_without_strange_characters() -> None:
    """An id may come from anywhere."""
    with pytest.raises(UserErrorException, match="names a Micro") as caught:
        KubernetesCompute.attach_configuration(f"/subscriptions/{SUB}/resourceGroups/rg/providers/Micro\x1b[31m/x/y")
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("replace_timeout", [-1, float("nan"), "60"])
def test_a_bad_replace_timeout_is_refused(workspace: Workspace, emulator: Emulator, replace_timeout: Any) -> None:
    """Before any request, by its name."""
    with pytest.raises((UserErrorException, TypeError), match="replace_timeout"):
        ComputeTarget.attach(workspace, "k8s1", CONFIGURATION, replace_timeout=replace_timeout)
    assert emulator.requests == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=20))
def test_any_name_is_sent_as_one_part_or_refused(workspace: Workspace, emulator: Emulator, name: str) -> None:
    """The prepared URL is the intended one: the last part of the path, decoded, is the name."""
    emulator.requests.clear()
    try:
        ComputeTarget(workspace, name)
    except UserErrorException:
        assert emulator.requests == []
        return
    except ComputeTargetException:
        pass
    (request,) = emulator.requests
    path = urlsplit(request.target).path
    assert unquote(path.rpartition("/")[2]) == name
    assert path.rpartition("/")[0] == f"{WS}/computes"
    assert request.query == {"api-version": "2024-04-01"}


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_workspace_name_makes_one_path_or_is_refused(group: str, name: str) -> None:
    """Neither group nor name can add or remove a part."""
    try:
        workspace = Workspace(SUB, group, name, cloud=Cloud.emulator("http://localhost:1"))
    except UserErrorException:
        return
    parts = workspace._workspace_id.path.split("/")
    assert len(parts) == 9
    assert (unquote(parts[4]), unquote(parts[8])) == (group, name)
