"""What the installed distribution promises: few dependencies, honest bounds, every supported Python."""

from __future__ import annotations

import importlib.metadata
from importlib.resources import files

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import azureml_k8s

DISTRIBUTION = "azureml-k8s"
REQUIREMENTS = [Requirement(text) for text in importlib.metadata.requires(DISTRIBUTION) or []]
# Packages that keep breaking changes to their majors, as their documentation says.
CAPPED = {"azure-identity", "click", "msrest", "pyyaml", "requests"}


def extra_of(requirement: Requirement) -> str | None:
    """The extra that a requirement belongs to, or None for the base."""
    marker = str(requirement.marker or "")
    return marker.partition("extra ==")[2].strip(" \"'") or None


def in_extra(extra: str | None) -> set[str]:
    """Lower-case names of an extra's requirements."""
    return {requirement.name.lower() for requirement in REQUIREMENTS if extra_of(requirement) == extra}


def test_base_dependencies_are_four() -> None:
    """Attaching, listing and polling need four packages; the kubernetes client is no part of them."""
    assert in_extra(None) == {"azure-identity", "azure-mgmt-resource", "msrest", "requests"}


def test_extras() -> None:
    """The extras are there, and the command line's holds what the command needs."""
    provided = importlib.metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []
    assert {"cli", "dev", "kubernetes", "notebook", "test"} <= set(provided)
    assert {"click", "rich", "pyyaml"} <= in_extra("cli")
    assert in_extra("kubernetes") == {"kubernetes"}


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_no_pin_and_no_cap_but_at_a_major(requirement: Requirement) -> None:
    """No exact or patch-level pin; a cap only at the next major of packages that keep to it.

    azure-sdk-for-python#28735: tight caps made installing two packages together impossible.
    """
    operators = {specifier.operator for specifier in requirement.specifier}
    assert operators <= {">=", "<"}
    caps = [Version(specifier.version) for specifier in requirement.specifier if specifier.operator == "<"]
    lows = [Version(specifier.version) for specifier in requirement.specifier if specifier.operator == ">="]
    if requirement.name.lower() not in CAPPED:
        assert caps == []
    else:
        assert [cap.release for cap in caps] == [(lows[0].major + 1,)]


@pytest.mark.parametrize(
    "requirement", [r for r in REQUIREMENTS if extra_of(r) != "dev" and r.name != DISTRIBUTION], ids=str
)
def test_every_runtime_dependency_has_a_lower_bound_that_holds_here(requirement: Requirement) -> None:
    """Each dependency states its lowest release, and what is installed satisfies the bounds."""
    assert ">=" in {specifier.operator for specifier in requirement.specifier}
    if extra_of(requirement) == "notebook":
        return  # installed by people who want it, not for the tests
    assert Version(importlib.metadata.version(requirement.name)) in requirement.specifier


def test_python_bound_is_a_floor_only() -> None:
    """Python 3.11 is the floor, so an older one is refused when installing; there is no ceiling.

    azure-sdk-for-python#42798: users wait for newer Pythons.
    """
    assert importlib.metadata.metadata(DISTRIBUTION)["Requires-Python"] == ">=3.11"


def test_version_is_stated_once() -> None:
    """The package, its metadata and v1's name for it agree."""
    assert azureml_k8s.__version__ == azureml_k8s.VERSION == importlib.metadata.version(DISTRIBUTION)


def test_types_are_shipped() -> None:
    """The installed package carries the mark that lets type checkers read it."""
    assert files("azureml_k8s").joinpath("py.typed").is_file()


def test_console_script() -> None:
    """The command is installed under the distribution's name."""
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="azureml-k8s")
    assert script.value == "azureml_k8s.cli:main"
    assert callable(script.load())


def test_the_management_client_stands_where_every_allowed_release_has_it() -> None:
    """azure-mgmt-resource moved its clients with each major release; this path is in all that the bound allows."""
    from azure.mgmt.resource.resources import ResourceManagementClient

    assert callable(ResourceManagementClient)
