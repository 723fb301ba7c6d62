"""What README, docs and samples show is run."""

from __future__ import annotations

import codeop
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from azureml_k8s import ComputeTarget, KubernetesCompute, _wire
from azureml_k8s.emulator import Emulator, EmulatorServer

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


BLOCKS = blocks(PAGES[0])


def run(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        **variables,
    }
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmulatorServer]:
    with EmulatorServer(Emulator(polls=1)) as server:
        server.write_config(tmp_path)
        yield server


def test_the_readme_example_runs(capsys):
    """The first example attaches, waits and detaches as it stands."""
    names: dict[str, Any] = {}
    try:
        exec(compile(BLOCKS[0].replace("provisioning_seconds=2", "polls=1"), "README.md", "exec"), names)
    finally:
        names["ws"].close()
        names["server"].stop()
    assert "Succeeded" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("page", "number"), [(page, number) for page in PAGES for number, _ in enumerate(blocks(page))]
)
def test_an_example_can_be_typed_into_the_interpreter(page, number):
    """Line by line, as the plain prompt takes it, where a blank line ends a block."""
    compiler, typed = codeop.CommandCompiler(), ""
    for line in [*blocks(page)[number].splitlines(), ""]:
        typed += f"{line}\n"
        if compiler(typed.removesuffix("\n"), str(page)) is not None:
            typed = ""
    assert typed.strip() == ""


def test_the_readme_error_example_runs(workspace, emulator, capsys):
    """The example of errors tells an absent compute from others."""
    exec(compile(BLOCKS[1], "README.md", "exec"), {"ws": workspace})
    assert capsys.readouterr().out == "not attached\n"
    ComputeTarget.attach(workspace, "k8s1", KubernetesCompute.attach_configuration(emulator.aks_id))
    exec(compile(BLOCKS[1], "README.md", "exec"), {"ws": workspace})
    assert capsys.readouterr().out == ""


def test_the_readme_test_example_passes(tmp_path):
    """The ten lines that test a user's own script pass."""
    (tmp_path / "test_readme.py").write_text(BLOCKS[2], encoding="utf-8")
    done = run("-m", "pytest", "-q", "test_readme.py", cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout


def test_the_sample_test_passes(tmp_path):
    """The sample that shows how to test one's script passes."""
    shutil.copy(ROOT / "samples" / "test_my_attach.py", tmp_path)
    done = run("-m", "pytest", "-q", "test_my_attach.py", cwd=tmp_path)
    assert "4 passed" in done.stdout, done.stdout


def test_the_attach_sample_runs_again_and_again(server, tmp_path):
    """The attach sample finds the config file, attaches, and changes nothing the second time."""
    for _ in range(2):
        done = run(str(ROOT / "samples" / "attach.py"), "k8s1", server.emulator.aks_id, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert '"provisioningState": "Succeeded"' in done.stdout
    assert [request.method for request in server.emulator.requests].count("PUT") == 1


def test_the_ci_sample_tells_causes_apart(server, tmp_path):
    """The CI sample's exit code is 0 as asked, 4 with other settings, 2 without a cluster id."""
    sample = str(ROOT / "samples" / "ci_job.py")
    names = {"AML_COMPUTE_NAME": "k8s1", "CLUSTER_RESOURCE_ID": server.emulator.aks_id}
    assert run(sample, cwd=tmp_path, **names).stdout == "Succeeded\n"
    assert run(sample, cwd=tmp_path, **names, COMPUTE_NAMESPACE="other").returncode == 4
    usage = run(sample, cwd=tmp_path, AML_COMPUTE_NAME="k8s1")
    assert (usage.returncode, usage.stdout) == (2, "")
    assert "resource_id" in usage.stderr
    minutes = run(sample, cwd=tmp_path, **names, TIMEOUT_SECONDS="5m")
    assert (minutes.returncode, minutes.stderr) == (2, "TIMEOUT_SECONDS: '5m' is no number of seconds\n")


def test_the_ci_sample_takes_a_failed_sign_in_for_no_usage_error(server, tmp_path):
    """A rejected token is exit code 1, though its class is one of argument errors."""
    server.emulator.faults.add(every=1, status=401)
    names = {"AML_COMPUTE_NAME": "k8s1", "CLUSTER_RESOURCE_ID": server.emulator.aks_id}
    done = run(str(ROOT / "samples" / "ci_job.py"), cwd=tmp_path, **names)
    assert (done.returncode, done.stdout) == (1, "")
    assert "token" in done.stderr


@pytest.mark.parametrize("sample", ["attach.py", "cluster_resolver.py"])
def test_a_sample_without_arguments_tells_its_usage(sample, tmp_path):
    """Its docstring instead of a traceback."""
    done = run(str(ROOT / "samples" / sample), cwd=tmp_path)
    assert done.returncode == 1
    assert f"    python {sample} " in done.stderr
    assert "Traceback" not in done.stderr


def test_the_notebook_runs(server, tmp_path):
    """The cells of the sample notebook run in order."""
    notebook = json.loads((ROOT / "samples" / "attach.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    done = run("-c", "\n".join(cells), cwd=tmp_path)
    assert done.stdout.endswith("detached\n"), done.stderr


def test_the_page_of_fields_is_the_table():
    """docs/fields.md says what the code goes by; scripts/write_fields.py writes it."""
    page = (ROOT / "docs" / "fields.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{n}` | `{p}` | `{t}` | {notes} | {doc} |" for n, p, t, notes, doc in _wire.reference_rows()]
