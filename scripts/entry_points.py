"""
Find where a test enters Snell, by following what it calls through the test helpers.

A test says nothing about it itself, so no label can be wrong: what counts is which program it starts, which socket it
connects to, or which public name it uses. Files are parsed, not imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENTRY_POINTS = ("snell-hook", "client", "socket", "command line", "MCP", "Python API")
STARTS = {"Popen", "check_output", "create_subprocess_exec", "run_module", "start_module", "StdioServerParameters"}
PUBLIC_NAMES = {
    "snell": {"ToolRunner", "Runtime.embed"},
    "snell.embed": {"ToolRunner"},
    "snell.testing": {"decide_with", "run_case", "run_path"},
}
ADAPTERS = "snell.embed.adapters."
OPEN_TO_PROGRAMS = ("snell", "snell.embed", "snell.testing", "snell.model")  # a program of a user imports no more


def entry_points_of(test: str) -> frozenset[str]:
    """Return the entry points of a test that is named as in the manifest: `tests/process/test_x.py::test_y`."""
    path, _, name = test.partition("::")
    module = module_at(path)
    if module is None or name not in module.parts:
        return frozenset()
    reached = everything_reached(module.parts[name])
    found = {point for part in reached for point in part.enters}
    if any(part.uses_inner_names for part in reached):
        found.discard("Python API")
    if path.startswith("tests/live/") and any(part.starts_process for part in reached):
        found.add("client")
    return frozenset(found)


class Part:
    """A function, method or constant of a test file, with the names and texts in it."""

    def __init__(self, module: Module, node: ast.AST, owner: str = "") -> None:
        self.module, self.node, self.owner = module, node, owner

    @cached_property
    def inside(self) -> list[ast.AST]:
        return list(ast.walk(self.node))

    @cached_property
    def names(self) -> set[str]:
        return {each.id for each in self.inside if isinstance(each, ast.Name)}

    @cached_property
    def attributes(self) -> set[str]:
        return {each.attr for each in self.inside if isinstance(each, ast.Attribute)}

    @cached_property
    def texts(self) -> set[str]:
        """The texts in it, and those of the constants, properties and kept values that it names."""
        own = {each.value for each in self.inside if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        self.texts = own  # for a value that names itself
        return own | {text for part in self._values_used() for text in part.texts}

    @cached_property
    def starts_process(self) -> bool:
        uses = (each.value for each in self.inside if isinstance(each, ast.Attribute) and each.attr == "run")
        runs = any(isinstance(value, ast.Name) and value.id == "subprocess" for value in uses)
        return runs or bool(STARTS & (self.names | self.attributes))

    @cached_property
    def enters(self) -> set[str]:
        last = {text.rsplit("/", 1)[-1] for text in self.texts}
        signs = {
            "snell-hook": self.starts_process and "snell-hook" in last,
            "MCP": self.starts_process and {"snell", "mcp"} <= last,
            "command line": "run_snell" in self.names
            or (self.starts_process and "snell" in last and "mcp" not in last),
            "socket": "connect" in self.attributes and "snell.sock" in last,
            "Python API": self._uses_public_name(),
        }
        return {point for point, is_there in signs.items() if is_there}

    @cached_property
    def calls(self) -> list[Part]:
        """What it names: functions, constants, and the fixtures among its parameters that it uses."""
        found = [self.module.lookup(name) for name in self.names]
        if isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef):
            parameters = {each.arg for each in (*self.node.args.args, *self.node.args.kwonlyargs)}
            found += [self.module.fixture(name) for name in parameters & self.names]
        return [part for part in found if part]

    @cached_property
    def classes(self) -> set[tuple[Module, str]]:
        return set(classes_named(self.module, self.names | ({self.owner} - {""})))

    def _values_used(self) -> list[Part]:
        constants = [self.module.lookup(name) for name in self.names]
        kept = [self.module.parts.get(f"{self.owner}.{name}") for name in self.attributes] if self.owner else []
        return [part for part in (*constants, *kept) if part and part.is_value]

    @property
    def is_value(self) -> bool:
        decorators = getattr(self.node, "decorator_list", None)
        return decorators is None or any(getattr(each, "id", "") == "property" for each in decorators)

    @cached_property
    def uses_inner_names(self) -> bool:
        sources = {self.module.imports[name][0] for name in self.names if name in self.module.imports}
        inner = {source for source in sources if source.split(".")[0] == "snell" and not source.startswith(ADAPTERS)}
        return any(".".join(source.split(".")[:2]) not in OPEN_TO_PROGRAMS for source in inner)

    def _uses_public_name(self) -> bool:
        for name in self.names:
            source, original = self.module.imports.get(name, ("", ""))
            public = PUBLIC_NAMES.get(source, set())
            if source.startswith(ADAPTERS) or original in public:
                return True
            if f"{original}.embed" in public and "embed" in self.attributes:
                return True
        return False


class Module:
    """A test file: its functions, constants and methods (`Class.method`) by name, and where its imports come from."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: dict[str, Part] = {}
        self.classes: dict[str, list[str]] = {}
        self.imports: dict[str, tuple[str, str]] = {}
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for each in ast.walk(tree):
            if isinstance(each, ast.ImportFrom) and each.module:
                self.imports |= {name.asname or name.name: (each.module, name.name) for name in each.names}
        for node in tree.body:
            self._add(node)

    def _add(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.parts[node.name] = Part(self, node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for name in (each.id for each in ast.walk(node) if isinstance(each, ast.Name)):
                self.parts.setdefault(name, Part(self, node))
        elif isinstance(node, ast.ClassDef):
            self.classes[node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]
            for each in node.body:
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                    self.parts[f"{node.name}.{each.name}"] = Part(self, each, node.name)
                    self._add_kept_values(node.name, each)

    def _add_kept_values(self, owner: str, method: ast.AST) -> None:
        for each in ast.walk(method):
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Attribute):
                self.parts.setdefault(f"{owner}.{each.targets[0].attr}", Part(self, each.value, owner))

    def lookup(self, name: str) -> Part | None:
        """Return what this name stands for in this file, here or in the test file that it is imported from."""
        source, original = self.imports.get(name, ("", ""))
        if name not in self.parts and source.startswith("tests.") and (other := module_named(source)):
            return other.lookup(original)
        return self.parts.get(name)

    def fixture(self, name: str) -> Part | None:
        return next((part for place in self.places_of_fixtures if (part := place.lookup(name))), None)

    @cached_property
    def places_of_fixtures(self) -> list[Module]:
        plugins = self.parts["pytest_plugins"].texts if "pytest_plugins" in self.parts else set()
        folders = [folder for folder in self.path.parents if folder.is_relative_to(ROOT / "tests")]
        places = [*map(module_named, plugins), *(module_at(str(folder / "conftest.py")) for folder in folders)]
        return [self, *filter(None, places)]

    def class_named(self, name: str) -> tuple[Module, str] | None:
        if name in self.classes:
            return self, name
        source, original = self.imports.get(name, ("", ""))
        other = module_named(source) if source.startswith("tests.") else None
        return other.class_named(original) if other else None


def everything_reached(test: Part) -> set[Part]:
    """Return the test, its fixtures and helpers, theirs, and the methods that any of them calls."""
    reached: set[Part] = set()
    classes: set[tuple[Module, str]] = set()
    attributes = {"__init__"}
    waiting = {test}
    while waiting:
        reached |= waiting
        classes = classes.union(*(part.classes for part in waiting))
        attributes = attributes.union(*(part.attributes for part in waiting))
        methods = (module.parts.get(f"{owner}.{name}") for module, owner in classes for name in attributes)
        called = (part for each in waiting for part in each.calls)
        waiting = {part for part in (*methods, *called) if part} - reached
    return reached


def classes_named(module: Module, names: Iterable[str]) -> Iterator[tuple[Module, str]]:
    for found in filter(None, map(module.class_named, names)):
        yield found
        yield from classes_named(found[0], found[0].classes[found[1]])


def module_named(name: str) -> Module | None:
    return module_at(f"{name.replace('.', '/')}.py")


@cache
def module_at(path: str) -> Module | None:
    file = ROOT / path
    return Module(file) if file.is_file() else None
