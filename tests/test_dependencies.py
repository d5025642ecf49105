"""What pyproject.toml declares is what the source imports, both ways."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "snell"

# The module that a distribution brings, where it is not called like the distribution.
MODULES = {
    "google-re2": "re2",
    "jsonschema-rs": "jsonschema_rs",
    "opentelemetry-proto": "opentelemetry",
    "ruamel.yaml": "ruamel",
}
# Modules of packages that a declared one always installs, or that belong to the program that Snell is embedded in.
BROUGHT_BY = {
    "anyio": "mcp",
    "mcp_types": "mcp",
    "google": "opentelemetry",
    "httpcore2": "httpx2",
}


def test_every_declared_package_is_imported_and_every_import_is_declared() -> None:
    imported = {BROUGHT_BY.get(name, name) for name in third_party_imports()}
    assert imported == {MODULES.get(name, name) for name in declared()}


def test_the_packages_that_some_features_need_are_the_declared_extras() -> None:
    from snell.system.optional_packages import EXTRAS

    extras = project()["optional-dependencies"]
    collections = {name for name, needs in extras.items() if all(need.startswith("snell[") for need in needs)}
    # The first package of an extra stands for it; the advice to install it names them all.
    assert {name: extra.package for name, extra in EXTRAS.items()} == {
        name: distribution(needs[0]) for name, needs in extras.items() if name not in collections
    }


def test_google_re2_is_installed_where_it_has_a_wheel() -> None:
    """Everywhere else pip would have to compile it, and Snell searches with the standard library."""
    (marker,) = (Requirement(need).marker for need in project()["dependencies"] if need.startswith("google-re2"))
    assert marker
    here = {"platform_python_implementation": "CPython"}
    versions = ("3.11", "3.12", "3.13", "3.14", "3.15")
    machines = ("x86_64", "aarch64", "arm64", "AMD64", "armv7l", "riscv64")
    wanted = {
        (version, machine)
        for version in versions
        for machine in machines
        if marker.evaluate({**here, "python_version": version, "platform_machine": machine})
    }
    assert wanted == {(version, machine) for version in versions[:4] for machine in machines[:4]}
    assert not marker.evaluate({"platform_python_implementation": "PyPy", "platform_machine": "x86_64"})


def third_party_imports() -> set[str]:
    """Return the top-level modules that the source imports and that neither Python nor Snell brings."""
    found = {name for path in SOURCE.rglob("*.py") for name in imports_of(path)}
    return found - sys.stdlib_module_names - {"snell"}


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (arg.value.partition(".")[0] for arg in node.args[:1] if is_text(arg))


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.startswith(".")


def declared() -> set[str]:
    """Return the distributions that the core and all extras declare."""
    needs = [
        *project()["dependencies"],
        *(each for extra in project()["optional-dependencies"].values() for each in extra),
    ]
    return {distribution(need) for need in needs} - {"snell"}


def distribution(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return found[0]


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
