"""Scripts for azureml-core move over by text replacement, and only that."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from bodies import AKS, ARC, compute

import azureml_k8s
from azureml_k8s.emulator import Emulator, EmulatorServer

SCRIPTS = Path(__file__).parent / "v1_scripts"


def moved(text: str) -> str:
    r"""What ``sed -E 's/\bazureml(\.core)?\b/azureml_k8s/g'`` makes of it."""
    return re.sub(r"\bazureml(\.core)?\b", "azureml_k8s", text)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmulatorServer]:
    """An emulator behind HTTP that a config file in tmp_path leads to."""
    with EmulatorServer(Emulator()) as running:
        running.write_config(tmp_path)
        yield running


def run(script: str, folder: Path, *arguments: str) -> list[str]:
    """Run a moved script in a Python of its own; what it printed."""
    file = folder / script
    file.write_text(moved((SCRIPTS / script).read_text(encoding="utf-8")), encoding="utf-8")
    assert "azureml." not in file.read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(file), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(Path(azureml_k8s.__path__[0]).parent), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_replacement_is_seds() -> None:
    """The tool that the README names does the same to every script."""
    for script in sorted(SCRIPTS.glob("*.py")):
        command = ["sed", "-E", r"s/\bazureml(\.core)?\b/azureml_k8s/g", str(script)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError):
            pytest.skip("no GNU sed here")
        assert done.stdout == moved(script.read_text(encoding="utf-8"))


def test_attach_where_the_lookup_fails(tmp_path: Path, server: EmulatorServer) -> None:
    """AML-Kubernetes' guide: except ComputeTargetException, attach, wait; the second run finds it."""
    server.emulator.polls = 1
    lines = run("attach_if_absent.py", tmp_path, AKS)
    assert lines[0] == "absent: True"
    assert lines[-2:] == ['Provisioning operation finished, operation "Succeeded"', "Succeeded"]
    assert run("attach_if_absent.py", tmp_path, AKS) == ["found k8s1", "Succeeded"]


def test_attach_where_the_dictionary_has_none(tmp_path: Path, server: EmulatorServer) -> None:
    """azure-docs' Arc guide: type(target) is KubernetesCompute, get_status().serialize()."""
    server.emulator.polls = 1
    lines = run("attach_unless_listed.py", tmp_path, ARC)
    assert lines[0] == f"SDK version: {azureml_k8s.__version__}"
    assert lines[1] == "ws\trg\twesteurope\t00000000-0000-0000-0000-000000000000"
    assert '"namespace": "ml"' in lines[2]
    assert '"provisioningState": "Succeeded"' in lines[-2]
    assert lines[-1] == "ml SystemAssigned Succeeded"
    assert run("attach_unless_listed.py", tmp_path, ARC)[2:] == ["found k8s2", "ml SystemAssigned Succeeded"]


def test_use_and_detach(tmp_path: Path, server: EmulatorServer) -> None:
    """Retrieval only, then the whole way out."""
    server.emulator.polls = 1
    server.emulator.world.put(compute())
    assert run("use_and_detach.py", tmp_path) == [
        "InteractiveLoginAuthentication ServicePrincipalAuthentication",
        f"k8s1 defaultinstancetype {AKS}",
        "k8s1 ['k8s1']",
        "Delete is not supported for KubernetesCompute: the cluster is yours, not the workspace's",
        "Deleting",
        "Deleting (1 s)",
        'Provisioning operation finished, operation "Succeeded"',
        "gone: True",
    ]


NAMES = {
    "azureml.core": ["Workspace", "ComputeTarget", "VERSION"],
    "azureml.core.compute": ["ComputeTarget", "KubernetesCompute"],
    "azureml.core.compute.compute": [
        "ComputeTarget",
        "ComputeTargetProvisioningConfiguration",
        "ComputeTargetAttachConfiguration",
        "ComputeTargetUpdateConfiguration",
        "ComputeTargetException",
        "UserErrorException",
    ],
    "azureml.core.compute.kubernetescompute": [
        "KubernetesCompute",
        "KubernetesComputeAttachConfiguration",
        "KubernetesComputeStatus",
        "ComputeTargetException",
    ],
    "azureml.core.compute_target": ["ComputeTargetException", "UserErrorException"],
    "azureml.core.authentication": [
        "ServicePrincipalAuthentication",
        "MsiAuthentication",
        "AzureCliAuthentication",
        "InteractiveLoginAuthentication",
        "TokenAuthentication",
        "ArmTokenAuthentication",
        "AbstractAuthentication",
        "AuthenticationException",
    ],
    "azureml.exceptions": [
        "ComputeTargetException",
        "UserErrorException",
        "AzureMLException",
        "AuthenticationException",
        "ProjectSystemException",
        "WorkspaceException",
        "ServiceException",
    ],
}


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in NAMES.items() for name in names])
def test_azureml_cores_names_stand_where_scripts_import_them(path: str, name: str) -> None:
    """From the path that the replacement makes."""
    assert getattr(import_module(moved(path)), name) is not None


DOTTED = [
    "azureml.core.compute.ComputeTarget",
    "azureml.core.compute.kubernetescompute.KubernetesCompute",
    "azureml.core.compute_target.ComputeTargetException",
    "azureml.core.authentication.AzureCliAuthentication",
    "azureml.core.workspace.Workspace",
    "azureml.exceptions.UserErrorException",
]


@pytest.mark.parametrize("name", DOTTED)
def test_the_package_alone_leads_to_its_modules(name: str) -> None:
    """``import azureml.core`` is enough for all of its dotted names, here as there."""
    script = moved(f"import azureml.core\nassert isinstance({name}, type)")
    command = [sys.executable, "-W", "error", "-c", script]
    path = {"PYTHONPATH": str(Path(azureml_k8s.__path__[0]).parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=path)
    assert (done.returncode, done.stderr) == (0, "")


def test_one_name_is_one_class_on_every_path() -> None:
    """An except clause catches it wherever it was imported from."""
    for name in ("ComputeTargetException", "ComputeTarget", "KubernetesCompute", "UserErrorException"):
        found = {getattr(import_module(moved(path)), name) for path, names in NAMES.items() if name in names}
        assert found == {getattr(azureml_k8s, name)}


ELSEWHERE = [
    ("azureml.core.compute", "AmlCompute"),
    ("azureml.core.compute", "AksCompute"),
    ("azureml.core.compute", "ComputeInstance"),
    ("azureml.core.compute", "RemoteCompute"),
    ("azureml.core.compute_target", "LocalTarget"),
    ("azureml.core.compute_target", "AbstractComputeTarget"),
    ("azureml.core", "Experiment"),
    ("azureml.core", "ScriptRunConfig"),
    ("azureml.core", "Datastore"),
    ("azureml.core", "Webservice"),
    ("azureml.core.authentication", "AzureMLTokenAuthentication"),
    ("azureml.exceptions", "WebserviceException"),
    ("azureml.exceptions", "TrainingException"),
]


@pytest.mark.parametrize(("path", "name"), ELSEWHERE)
def test_what_is_not_here_says_where_it_is(path: str, name: str) -> None:
    """An ImportError with a pointer."""
    with pytest.raises(ImportError, match=rf"{name}.*(azure|use )"):
        exec(f"from {moved(path)} import {name}")


@pytest.mark.parametrize("path", NAMES)
def test_a_misspelt_name_is_a_plain_import_error(path: str) -> None:
    """Without a pointer that would lead astray."""
    with pytest.raises(ImportError, match="cannot import name 'KubernetsCompute'"):
        exec(f"from {moved(path)} import KubernetsCompute")
    with pytest.raises(AttributeError, match="KubernetsCompute"):
        _ = import_module(moved(path)).KubernetsCompute


def test_azureml_cores_signatures_are_kept() -> None:
    """The names of arguments, in their order."""
    import inspect

    def order(call: object, count: int) -> list[str]:
        return [name for name in inspect.signature(call).parameters if name not in ("self", "cls")][:count]  # type: ignore[arg-type]

    kubernetes, target, ws = azureml_k8s.KubernetesCompute, azureml_k8s.ComputeTarget, azureml_k8s.Workspace
    assert order(target.__new__, 2) == ["workspace", "name"]
    assert order(target.attach, 3) == ["workspace", "name", "attach_configuration"]
    assert order(target.create, 3) == ["workspace", "name", "provisioning_configuration"]
    assert order(target.list, 1) == ["workspace"]
    assert order(target.deserialize, 2) == ["workspace", "object_dict"]
    assert order(target.wait_for_completion, 2) == ["show_output", "is_delete_operation"]
    asked = ["resource_id", "namespace", "identity_type", "identity_ids"]
    assert order(kubernetes.attach_configuration, 4) == asked
    assert order(azureml_k8s.KubernetesComputeAttachConfiguration, 4) == asked
    assert order(azureml_k8s.KubernetesComputeStatus.__new__, 3) == [
        "creation_time",
        "modified_time",
        "provisioning_state",
    ]
    assert order(ws, 4) == ["subscription_id", "resource_group", "workspace_name", "auth"]
    assert order(ws.get, 7) == ["name", "auth", "subscription_id", "resource_group", "location", "cloud", "id"]
    assert order(ws.list, 3) == ["subscription_id", "auth", "resource_group"]
    assert order(ws.from_config, 4) == ["path", "auth", "_logger", "_file_name"]
    assert order(ws.write_config, 2) == ["path", "file_name"]
    assert order(azureml_k8s.AzureMLException, 7) == [
        "exception_message",
        "inner_exception",
        "target",
        "details",
        "message_format",
        "message_parameters",
        "reference_code",
    ]
