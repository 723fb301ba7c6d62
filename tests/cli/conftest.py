"""A way to run the command in a process of its own, as a shell does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run() -> Run:
    """Run ``azureml-k8s`` with arguments; returns its exit code, stdout and stderr."""

    def _run(*args: str, timeout: float = 60, **kwargs: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "azureml_k8s", *args]
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            command, capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL, **kwargs
        )

    return _run
