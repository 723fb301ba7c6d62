"""The workspace's config file: where it is sought, what it may say, and how it is written."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from bodies import SUB, WS, sent

from azureml_k8s import Cloud, UserErrorException, Workspace
from azureml_k8s.emulator import Emulator, EmulatorAdapter

NAMES = {"subscription_id": SUB, "resource_group": "rg", "workspace_name": "ws"}


class Credential:
    """A credential that counts; its token must reach the emulator only when it was given in code."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    def get_token(self, *scopes: str, **_: Any) -> Any:
        from azureml_k8s._credentials import AccessToken

        self.scopes += scopes
        return AccessToken("of-the-user", 2**33)


def write(path: Path, content: object = None, **more: object) -> Path:
    """Write a config file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content or {**NAMES, **more})
    path.write_text(text, encoding="utf-8")
    return path


def where(workspace: Workspace) -> tuple[str, str, str]:
    return workspace.subscription_id, workspace.resource_group, workspace.name


@pytest.mark.parametrize(
    "place",
    [
        ".azureml/config.json",
        ".azureml/project.json",
        "aml_config/config.json",
        "aml_config/project.json",
        "config.json",
        "project.json",
    ],
)
@pytest.mark.parametrize("depth", [0, 1, 25])
def test_it_is_found_in_every_folder_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, depth: int
) -> None:
    """azureml-core's six places, up to the root; azure-ai-ml stops after twenty folders."""
    write(tmp_path / place)
    start = tmp_path.joinpath(*["d"] * depth)
    start.mkdir(parents=True, exist_ok=True)
    assert where(Workspace.from_config(start)) == (SUB, "rg", "ws")
    monkeypatch.chdir(start)
    assert where(Workspace.from_config()) == (SUB, "rg", "ws")


def test_the_folders_come_in_azureml_cores_order(tmp_path: Path) -> None:
    """A folder .azureml far above wins over a config.json beside the script; the kind is the outermost loop."""
    start = tmp_path / "a" / "b"
    write(start / "config.json", workspace_name="plain-near")
    assert Workspace.from_config(start).name == "plain-near"
    write(tmp_path / "aml_config" / "project.json", workspace_name="old-far")
    assert Workspace.from_config(start).name == "old-far"
    write(tmp_path / ".azureml" / "project.json", workspace_name="project-far")
    assert Workspace.from_config(start).name == "project-far"
    write(tmp_path / ".azureml" / "config.json", workspace_name="far")
    write(start.parent / ".azureml" / "config.json", workspace_name="near")
    assert Workspace.from_config(start).name == "near"


def test_a_file_is_used_as_it_is(tmp_path: Path) -> None:
    """Whatever its name; as a text or a Path."""
    file = write(tmp_path / "mine.txt", workspace_name="mine")
    write(tmp_path / "config.json")
    assert Workspace.from_config(file).name == "mine"
    assert Workspace.from_config(str(file)).name == "mine"


def test_another_file_name_can_be_sought(tmp_path: Path) -> None:
    """azureml-core's _file_name."""
    write(tmp_path / ".azureml" / "dev.json", workspace_name="dev")
    write(tmp_path / "config.json")
    (tmp_path / "sub").mkdir()
    assert Workspace.from_config(tmp_path / "sub", _file_name="dev.json").name == "dev"


def test_a_folder_of_that_name_is_no_file(tmp_path: Path) -> None:
    """The search goes on."""
    (tmp_path / "a" / "config.json").mkdir(parents=True)
    write(tmp_path / "config.json")
    assert Workspace.from_config(tmp_path / "a").name == "ws"


@pytest.mark.parametrize("scope", [WS, WS + "/", WS.upper(), WS.replace("resourceGroups", "resourcegroups")])
def test_the_form_with_a_scope_is_read(tmp_path: Path, scope: str) -> None:
    """azureml-core writes {"Id": null, "Scope": ...}."""
    found = Workspace.from_config(write(tmp_path / "c", {"Id": None, "Scope": scope, "junk": [1, {"a": None}]}))
    assert [part.lower() for part in where(found)] == [SUB, "rg", "ws"]


def test_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    """Editors on Windows write one."""
    (tmp_path / "config.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(NAMES).encode())
    assert Workspace.from_config(tmp_path).name == "ws"


def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    """A file may hold more, for other tools."""
    assert Workspace.from_config(write(tmp_path / "c", authority="https://evil.example", x=1)).name == "ws"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "not json",
        "[]",
        "null",
        '"text"',
        "7",
        "{}",
        json.dumps({"subscription_id": SUB}),
        json.dumps({"subscription_id": SUB, "resource_group": "rg"}),
        json.dumps({"Scope": None}),
        json.dumps({"Scope": 7}),
        json.dumps({"Scope": [WS]}),
        json.dumps({"subscription_id": SUB, "Scope": WS}),
        "[" * 100_000,
        '{"a": "' + "x" * (1024 * 1024) + '"}',
        json.dumps(NAMES).encode("utf-16").decode("latin-1"),
    ],
    ids=lambda content: content[:20],
)
def test_a_file_that_names_no_workspace_is_refused(tmp_path: Path, content: str) -> None:
    """The error names the file and what it must hold."""
    file = write(tmp_path / "config.json", content or " ")
    with pytest.raises(UserErrorException) as caught:
        Workspace.from_config(tmp_path)
    assert str(file) in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A picture, perhaps."""
    (tmp_path / "config.json").write_bytes(b"\xff\xd8\xff\x00")
    with pytest.raises(UserErrorException, match=r"config\.json"):
        Workspace.from_config(tmp_path)


def test_an_absent_file_says_what_to_do(tmp_path: Path) -> None:
    """Where it was sought, and how to get one."""
    with pytest.raises(UserErrorException, match="path") as caught:
        Workspace.from_config(tmp_path)
    assert str(tmp_path) in caught.value.message
    assert "write_config" in (caught.value.remedy or "")
    with pytest.raises(UserErrorException, match="does not exist"):
        Workspace.from_config(tmp_path / "nope" / "config.json")


@pytest.mark.parametrize("path", ["a\x00b", "x" * 5000])
def test_a_path_that_can_be_none_is_refused(path: str) -> None:
    """No error of the operating system gets through."""
    with pytest.raises(UserErrorException, match="path"):
        Workspace.from_config(path)


@pytest.mark.parametrize("path", [7, b"x", ["config.json"]])
def test_a_path_of_another_type_is_a_type_error(path: Any) -> None:
    """By its name."""
    with pytest.raises(TypeError, match="path"):
        Workspace.from_config(path)
    with pytest.raises(TypeError, match="path"):
        Workspace(**NAMES).write_config(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    """By its name."""
    file = write(tmp_path / "config.json")
    file.chmod(0)
    with pytest.raises(UserErrorException, match=r"config\.json"):
        Workspace.from_config(tmp_path)


# Whom a file may lead to.


@pytest.mark.parametrize("name", ["AzureCloud", "azurechinacloud", "AZUREUSGOVERNMENT"])
def test_a_file_may_name_a_built_in_cloud(tmp_path: Path, name: str) -> None:
    """In any letter case."""
    assert Workspace.from_config(write(tmp_path / "c", cloud=name)).cloud == Cloud.named(name)


@pytest.mark.parametrize("name", ["AzureCloud", "AzureChinaCloud", "AzureUSGovernment"])
def test_a_file_may_name_the_host_of_a_built_in_cloud(tmp_path: Path, name: str) -> None:
    """It is then that cloud, with its own scope and authority."""
    cloud = Cloud.named(name)
    assert Workspace.from_config(write(tmp_path / "c", resource_manager=cloud.origin + "/")).cloud == cloud


@pytest.mark.parametrize("name", ["Azure", "", 7, "https://evil.example"])
def test_an_unknown_cloud_is_refused(tmp_path: Path, name: object) -> None:
    """The known ones are listed."""
    with pytest.raises(UserErrorException, match="cloud"):
        Workspace.from_config(write(tmp_path / "c", cloud=name))


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:1/", "http://[::1]:9", "https://127.1.2.3"])
def test_a_file_may_name_this_machine(tmp_path: Path, url: str) -> None:
    """For an emulator."""
    assert Workspace.from_config(write(tmp_path / "c", resource_manager=url)).cloud.is_emulator


HOSTILE = [
    "https://evil.example",
    "http://evil.example",
    "http://management.azure.com",
    "https://management.azure.com.evil.example",
    "https://management.azure.com@evil.example",
    "https://management.azure.com:444",
    "http://localhost.evil.example",
    "http://127.0.0.1@evil.example",
    "http://127.0.0.1:80\\@evil.example",
    "http://0.0.0.0:1",
    "http://2130706433:1",
    "http://10.0.0.1:1",
    "file:///etc/passwd",
    "//evil.example",
    "",
    7,
    ["https://management.azure.com"],
]


@pytest.mark.parametrize("url", HOSTILE, ids=str)
@pytest.mark.parametrize("more", [{}, {"cloud": "AzureCloud"}], ids=["alone", "beside a cloud"])
def test_any_other_host_is_refused_before_a_token_is_asked_for(
    tmp_path: Path, no_network: None, url: object, more: dict[str, str]
) -> None:
    """Whoever may write to a folder above could otherwise collect tokens."""
    credential = Credential()
    with pytest.raises(UserErrorException, match="resource_manager"):
        Workspace.from_config(write(tmp_path / "c", resource_manager=url, **more), credential)
    assert credential.scopes == []


def test_a_file_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    """Which of two clouds is meant is not guessed."""
    with pytest.raises(UserErrorException, match="resource_manager"):
        Workspace.from_config(write(tmp_path / "c", cloud="AzureCloud", resource_manager="http://127.0.0.1:1"))
    file = write(tmp_path / "c", cloud="AzureCloud", resource_manager="https://management.azure.com")
    assert Workspace.from_config(file).cloud.name == "AzureCloud"


def test_a_cloud_given_in_code_replaces_what_the_file_says(tmp_path: Path) -> None:
    """Whoever trusts another host says so in code, as the error advises."""
    stack = Cloud("stack", "https://arm.stack.example", "https://arm.stack.example/.default", "https://login.example")
    for more in ({"resource_manager": "https://arm.stack.example"}, {"cloud": "stack"}, {}):
        assert Workspace.from_config(write(tmp_path / "c", **more), cloud=stack).cloud is stack


def test_the_emulator_gets_no_real_token_by_a_file_alone(
    tmp_path: Path, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its fake credential is used, whatever the environment holds."""
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.setenv(name, SUB)
    file = write(tmp_path / "c", resource_manager="http://localhost:1")
    with Workspace.from_config(file, transport=EmulatorAdapter(emulator)) as workspace:
        assert workspace.location == "westeurope"
    assert emulator.requests[0].headers["Authorization"] == "Bearer emulator-1"


def test_the_emulator_gets_a_token_that_code_gives(tmp_path: Path, emulator: Emulator) -> None:
    """It is the caller's decision."""
    file = write(tmp_path / "c", resource_manager="http://localhost:1")
    with Workspace.from_config(file, Credential(), transport=EmulatorAdapter(emulator)) as workspace:
        assert workspace.location == "westeurope"
    assert emulator.requests[0].headers["Authorization"] == "Bearer of-the-user"


def test_settings_of_a_workspace_are_taken(tmp_path: Path) -> None:
    """auth by position, the rest by name; an unknown one is refused by name."""
    file = write(tmp_path / "c")
    made = Workspace.from_config(file, Credential(), None, None, location="westus", api_version="2025-06-01")
    assert made.location == "westus"
    with pytest.raises(TypeError, match="namee"):
        Workspace.from_config(file, namee="x")  # type: ignore[call-arg]


# Writing.


def test_what_is_written_is_read_by_all(tmp_path: Path) -> None:
    """The three keys that azureml-core and azure-ai-ml read, under .azureml."""
    Workspace(**NAMES).write_config(tmp_path)
    file = tmp_path / ".azureml" / "config.json"
    assert json.loads(file.read_text()) == NAMES
    assert where(Workspace.from_config(tmp_path)) == (SUB, "rg", "ws")
    assert [one.name for one in file.parent.iterdir()] == ["config.json"]


def test_the_current_folder_and_the_usual_name_are_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both can be given."""
    monkeypatch.chdir(tmp_path)
    Workspace(**NAMES).write_config()
    assert (tmp_path / ".azureml" / "config.json").is_file()
    Workspace(**{**NAMES, "workspace_name": "dev"}).write_config(tmp_path / "new" / "folder", "dev.json")
    assert Workspace.from_config(tmp_path / "new" / "folder", _file_name="dev.json").name == "dev"


@pytest.mark.parametrize("cloud", ["AzureChinaCloud", Cloud.emulator("http://127.0.0.1:5")])
def test_the_cloud_is_written_where_it_is_not_the_usual_one(tmp_path: Path, cloud: Any) -> None:
    """So that reading leads to the same place."""
    made = Workspace(**NAMES, cloud=cloud)
    made.write_config(tmp_path)
    assert Workspace.from_config(tmp_path).cloud == made.cloud


def test_an_old_file_is_replaced(tmp_path: Path) -> None:
    """At once or not at all, and everybody in the team can read it."""
    write(tmp_path / ".azureml" / "config.json", "{broken")
    Workspace(**NAMES).write_config(tmp_path)
    file = tmp_path / ".azureml" / "config.json"
    assert json.loads(file.read_text()) == NAMES
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


@pytest.mark.parametrize("step", ["os.chmod", "os.replace", "json.dumps"])
def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Ctrl-C goes through, and no half a file stays."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        Workspace(**NAMES).write_config(tmp_path)
    monkeypatch.undo()
    assert list((tmp_path / ".azureml").iterdir()) == []


def test_a_current_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job's folder may be removed while it runs."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for call in (Workspace.from_config, Workspace(**NAMES).write_config):
        with pytest.raises(UserErrorException, match="current folder"):
            call()


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    """By the argument's name, and nothing is left behind."""
    file = write(tmp_path / "file")
    (tmp_path / ".azureml" / "config.json").mkdir(parents=True)
    for path in (file, tmp_path, "a\x00b"):
        with pytest.raises(UserErrorException, match="path"):
            Workspace(**NAMES).write_config(path)
    assert [one.name for one in (tmp_path / ".azureml").iterdir()] == ["config.json"]


def test_writing_sends_nothing(workspace: Workspace, emulator: Emulator, tmp_path: Path) -> None:
    """The names are known."""
    workspace.write_config(tmp_path)
    assert sent(emulator) == []
