"""What the package's files may import, and what importing them loads; .importlinter holds the order of the layers."""

from __future__ import annotations

import ast
import inspect
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import is_typeddict

import pytest

import azureml_k8s

ROOT = Path(azureml_k8s.__path__[0])
FILES = sorted(ROOT.rglob("*.py"))
HEAVY = ("azure", "click", "cryptography", "kubernetes", "msrest", "requests", "rich", "tensorflow", "urllib3", "yaml")
NEVER = ("IPython", "numpy", "pandas", "pkg_resources", "setuptools")
# Whoever imports one of these asks for what stands behind it.
DOORS = (
    "azureml_k8s.__main__",
    "azureml_k8s.cli.",
    "azureml_k8s.emulator.adapter",
    "azureml_k8s.emulator.pytest_plugin",
)


def public_modules() -> list[str]:
    """Every module that people may import by name, the doors aside."""
    found = pkgutil.walk_packages(azureml_k8s.__path__, "azureml_k8s.", onerror=lambda name: None)
    names = ["azureml_k8s", *(module.name for module in found)]
    light = (name for name in names if not any(part.startswith("_") for part in name.split(".")))
    return sorted(name for name in light if not name.startswith(DOORS))


def run_python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a text in a Python of its own, where every warning is an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *args], capture_output=True, text=True, timeout=60, check=False
    )


def imports_of(file: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every import in a file, wherever it stands: (module, names taken from it)."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, tuple(alias.name for alias in node.names)


def is_ours(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import is of this package's own."""
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return all(module.partition(".")[0] == "azureml_k8s" for module in modules)


def is_a_class(value: object) -> bool:
    """Whether it is a class that people may use; a TypedDict only describes the arguments of one."""
    return isinstance(value, type) and not is_typeddict(value)


def label(file: Path) -> str:
    """The file's path below the package."""
    return file.relative_to(ROOT).as_posix()


def test_import_loads_no_heavy_library() -> None:
    """Importing the package, and then every public module, loads none of the heavy libraries (azure-cli#30794)."""
    code = (
        "import importlib, json, sys\n"
        "heavy, loaded = set(json.loads(sys.argv[1])), {}\n"
        "for name in json.loads(sys.argv[2]):\n"
        "    importlib.import_module(name)\n"
        "    for found in heavy & {module.partition('.')[0] for module in sys.modules} - set(loaded):\n"
        "        loaded[found] = name\n"
        "print(json.dumps(loaded))\n"
    )
    done = run_python(code, json.dumps([*HEAVY, *NEVER]), json.dumps(public_modules()))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {}
    assert done.stderr == ""


def test_import_warns_of_nothing_and_needs_no_packaging_helper() -> None:
    """The import works with no warning where setuptools and numpy are absent (azure-sdk-for-python#38915)."""
    code = (
        "import importlib, json, sys\n"
        "sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))\n"
        "[importlib.import_module(name) for name in json.loads(sys.argv[2])]\n"
    )
    done = run_python(code, json.dumps(NEVER), json.dumps(public_modules()))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_module_imports() -> None:
    """Every module of the package, private ones and doors included, imports on this set of dependencies.

    azure-sdk-for-python#40565: a dependency's new release broke the import.
    """
    names = [label(file).removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in FILES]
    code = "import importlib, json, sys\n[importlib.import_module(name) for name in json.loads(sys.argv[1])]\n"
    done = run_python(code, json.dumps([f"azureml_k8s.{name}" for name in names if name != "__init__"]))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("file", FILES, ids=label)
def test_no_private_name_of_another_package(file: Path) -> None:
    """No file imports an underscore name of another package (azure-sdk-for-python#39047)."""
    private = [
        (module, names)
        for module, names in imports_of(file)
        if module.partition(".")[0] not in {"azureml_k8s", "__future__"}
        and any(part.startswith("_") for part in (*module.split("."), *names))
    ]
    assert private == []


@pytest.mark.parametrize("file", FILES, ids=label)
def test_no_private_attribute_of_another_package(file: Path) -> None:
    """No file reaches for ``package._name`` through an imported module (azure-sdk-for-python#39047)."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    foreign = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and not is_ours(node)
        for alias in node.names
    }
    private = [
        f"line {node.lineno}: {node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in foreign
        if node.attr.startswith("_") and not node.attr.startswith("__")
    ]
    assert private == []


@pytest.mark.parametrize("file", FILES, ids=label)
def test_packaging_helpers_and_numeric_libraries_are_never_imported(file: Path) -> None:
    """No file imports setuptools, pkg_resources, numpy or pandas, not even lazily (azure-sdk-for-python#38915)."""
    assert [module for module, _ in imports_of(file) if module.partition(".")[0] in NEVER] == []


@pytest.mark.parametrize("file", FILES, ids=label)
def test_each_azure_package_has_its_door(file: Path) -> None:
    """azure.identity and azure.core stay with the credentials, azure.mgmt with the preflight checks."""
    doors = {
        "azure.identity": ("_credentials.py", "authentication.py"),
        "azure.core": ("_credentials.py", "authentication.py"),
        "azure.mgmt": ("preflight",),
    }
    strange = [
        module
        for module, _ in runtime_imports_of(file)
        if module.startswith("azure.") and not label(file).startswith(doors.get(".".join(module.split(".")[:2]), ()))
    ]
    assert strange == []


def runtime_imports_of(file: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """As `imports_of`, without what stands under ``if TYPE_CHECKING:``."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, tuple(alias.name for alias in node.names)


def test_root_names_resolve_and_are_the_promised_ones() -> None:
    """The package's ``__all__`` is sorted, resolves, and holds the names of the lifecycle."""
    promised = {
        "AzureMLException",
        "Cloud",
        "ComputeTarget",
        "ComputeTargetAttachConfiguration",
        "ComputeTargetException",
        "KubernetesCompute",
        "KubernetesComputeAttachConfiguration",
        "KubernetesComputeStatus",
        "Workspace",
        "__version__",
    }
    assert azureml_k8s.__all__ == sorted(azureml_k8s.__all__)
    assert promised <= set(azureml_k8s.__all__)
    assert [name for name in azureml_k8s.__all__ if getattr(azureml_k8s, name, None) is None] == []
    assert set(azureml_k8s.__all__) <= set(dir(azureml_k8s))


def test_root_names_are_declared_for_type_checkers_too() -> None:
    """What checkers see under TYPE_CHECKING equals what resolves on first use."""
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    declared = {
        alias.asname or alias.name
        for branch in tree.body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    modules = {name for name in declared if inspect.ismodule(getattr(azureml_k8s, name))}
    assert modules == {"authentication", "compute", "compute_target", "exceptions", "workspace"}
    assert modules <= set(dir(azureml_k8s))
    assert declared - modules == set(azureml_k8s.__all__) - {"VERSION", "__version__"}


def test_an_unknown_root_name_is_an_attribute_error() -> None:
    """A misspelt name raises what Python raises, with the module's name."""
    with pytest.raises(AttributeError, match="module 'azureml_k8s' has no attribute 'Workspce'"):
        getattr(azureml_k8s, "Workspce")  # noqa: B009 - mypy would refuse the attribute


@pytest.mark.parametrize("name", public_modules())
def test_all_equals_what_a_module_defines(name: str) -> None:
    """A public module's ``__all__`` leaves out no public class that it defines, and names nothing else."""
    module = import_module(name)
    exported = getattr(module, "__all__", None)
    assert exported is not None, f"{name} has no __all__"
    assert len(exported) == len(set(exported))
    defined = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == name and is_a_class(value)
    }
    assert defined <= set(exported)
    assert [key for key in exported if not hasattr(module, key)] == []
