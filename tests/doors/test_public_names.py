"""The top of the package: names load when used, type checkers see the same names, and no theorem is missed."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import tightrope
from tightrope.theorems import REGISTRY

HOME = Path(tightrope.__file__).parent


def names_for_type_checkers() -> dict[str, str]:
    """Public name to module, as stated under ``if TYPE_CHECKING:``."""
    tree = ast.parse((HOME / "__init__.py").read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    found = {}
    for line in block.body:
        assert isinstance(line, ast.ImportFrom)
        for alias in line.names:
            assert alias.asname == alias.name, f"{alias.name} must be re-exported as itself"
            found[alias.name] = line.module.removeprefix("tightrope.")
    return found


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_type_checkers_see_the_names_of_the_table():
    assert names_for_type_checkers() == tightrope._HOMES
    assert tightrope.__all__ == list(tightrope._HOMES)


@pytest.mark.parametrize("name", tightrope.__all__)
def test_every_name_is_defined_where_the_table_says(name):
    value = getattr(tightrope, name)
    assert value is getattr(importlib.import_module(f"tightrope.{tightrope._HOMES[name]}"), name)
    assert getattr(value, "__module__", f"tightrope.{tightrope._HOMES[name]}") == f"tightrope.{tightrope._HOMES[name]}"
    assert name in dir(tightrope)


@pytest.mark.parametrize("name", tightrope.__all__)
def test_every_name_says_what_it_is(name):
    value = getattr(tightrope, name)
    assert value.__doc__, f"{name} has no docstring"
    if not isinstance(value, type):
        assert ">>>" in value.__doc__, f"{name} shows no example"
        assert "eturns a" in value.__doc__, f"{name} does not say what it returns"


def test_no_name_is_hidden_by_a_module():
    assert not {module.name for module in pkgutil.iter_modules([str(HOME)])} & set(tightrope.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="'epsilom'"):
        _ = tightrope.epsilom


def test_importing_loads_no_arithmetic():
    code = "import sys, tightrope; print(sorted({'numpy', 'flint', 'click', 'dataclasses'} & set(sys.modules)))"
    assert run(code) == "[]"


def test_the_registry_is_complete_and_in_one_order_whatever_was_loaded_first():
    first = run("from tightrope.theorems import REGISTRY; print(*REGISTRY)")
    code = "import tightrope; tightrope.Staircase; from tightrope.theorems import REGISTRY as r; print(len(r), *r)"
    after = run(code)
    assert first.split() == list(REGISTRY)
    assert after.split() == [str(len(REGISTRY)), *REGISTRY]


def test_a_theorem_is_found_by_name_before_its_module_is_loaded():
    code = "from tightrope.theorems import REGISTRY; print(REGISTRY['{}'].id, 'nothing' in REGISTRY)"
    name = next(n for n, t in REGISTRY.items() if t.apply.__module__ == "tightrope.mechanisms.staircase")
    assert run(code.format(name)) == f"{name} False"


def test_every_module_that_states_theorems_is_registered():
    stating = {
        ".".join(path.relative_to(HOME.parent).with_suffix("").parts)
        for path in HOME.rglob("*.py")
        if "\n@theorem(" in path.read_text(encoding="utf-8")
    }
    assert stating == {t.apply.__module__ for t in REGISTRY.values()}
