"""A way to run the command in a process of its own, as a shell does."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Undo what the command does to logging in this process."""
    root, ours = logging.getLogger(), logging.getLogger("azureml_k8s")
    handlers, level, our_level = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    ours.setLevel(our_level)


@pytest.fixture
def run() -> Run:
    """Run ``azureml-k8s`` with arguments; returns its exit code, stdout and stderr."""

    def _run(*args: str, timeout: float = 60, **kwargs: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "azureml_k8s", *args]
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            command, capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL, **kwargs
        )

    return _run
