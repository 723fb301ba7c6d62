"""What the Makefile and the scripts behind it say before they install anything."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository's root."""
    # Under `make test`, make hands its flags on through the environment; this make shall not see them.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


@needs_make
@pytest.mark.parametrize("target", ["demo", "test", "check", "test-lowest", "test-newest"])
def test_an_old_python_is_refused_in_a_sentence(tmp_path: Path, target: str) -> None:
    """With a Python that is too old, make says which one it needs and how to name it, and makes nothing."""
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = run("make", target, f"PYTHON={old}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "Python 3.9.2" in done.stderr
    assert f"make {target} PYTHON=" in done.stderr
    assert not (tmp_path / "venv").exists()


@needs_make
def test_an_absent_python_is_told(tmp_path: Path) -> None:
    """With a PYTHON that does not exist, make says so in the same words."""
    done = run("make", "demo", "PYTHON=no-such-python", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "no-such-python" in done.stderr


@needs_make
def test_another_python_than_the_environments_is_told(tmp_path: Path) -> None:
    """An environment that exists keeps its Python: asked for another, make says so, and runs nothing in it."""
    environment = tmp_path / "venv"
    (environment / "bin").mkdir(parents=True)
    for name, version in (("venv/bin/python", "3.11.1"), ("python3", "3.12.2")):
        (tmp_path / name).write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "Python {version}"\nexit 0\n')
        (tmp_path / name).chmod(0o755)
    (environment / "bin" / "azureml-k8s").symlink_to("python")
    for stamp in (".made", ".with-cli"):
        (environment / stamp).touch()
    other = run("make", "demo", f"PYTHON={tmp_path / 'python3'}", f"VENV={environment}")
    assert other.returncode != 0
    assert "has Python 3.11.1" in other.stderr
    assert "is Python 3.12.2" in other.stderr
    same = run("make", "demo", f"PYTHON={environment / 'bin' / 'python'}", f"VENV={environment}")
    assert (same.returncode, same.stderr) == (0, "")


@needs_make
def test_make_alone_lists_the_targets_and_the_python() -> None:
    """``make`` without a target explains: which Python it needs and what it can do; it starts nothing."""
    done = run("make")
    assert done.returncode == 0
    assert "Python 3.11" in done.stdout
    listed = set(re.findall(r"^  make ([a-z-]+) ", done.stdout, re.MULTILINE))
    assert {"demo", "test", "check", "test-lowest", "test-newest", "test-dist", "test-peers"} <= listed


def test_lowest_requirements_pin_every_direct_dependency() -> None:
    """The lowest-versions job installs each direct dependency at exactly the bound that pyproject.toml states."""
    done = run(sys.executable, ROOT / "scripts" / "lowest_requirements.py", "test")
    assert done.returncode == 0, done.stderr
    pins = {requirement.name: requirement for requirement in map(Requirement, done.stdout.split())}
    extras = PROJECT["optional-dependencies"]
    stated = [*PROJECT["dependencies"], *extras["cli"], *extras["kubernetes"], *extras["test"]]
    wanted = {r.name: r for r in map(Requirement, stated) if r.name != PROJECT["name"]}
    assert set(pins) == set(wanted)
    for name, requirement in wanted.items():
        (low,) = (specifier.version for specifier in requirement.specifier if specifier.operator == ">=")
        assert str(pins[name].specifier) == f"=={low}"


def test_newest_python_is_a_python_that_we_support() -> None:
    """The newest-Python job finds an interpreter that exists and is at least the one that runs these tests."""
    done = run(sys.executable, ROOT / "scripts" / "newest_python.py")
    assert done.returncode == 0, done.stderr
    asked = run(done.stdout.strip(), "-c", "import sys; print(*sys.version_info[:2])")
    assert tuple(map(int, asked.stdout.split())) >= sys.version_info[:2]
