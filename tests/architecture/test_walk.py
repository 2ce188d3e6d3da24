"""docs/architecture.md's walk of one run names functions that exist and that the product calls."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, walked

PAGE = (ROOT / "docs" / "architecture.md").read_text()
WALK = PAGE.split("## The walk of one run")[1].split("\n## ")[0]
HOPS = [hop for hop in re.split(r"^\d+\. ", WALK.split("\n**When")[0], flags=re.MULTILINE)[1:] if hop]
NAMED = re.compile(r"`(\w+)`\s+in\s+`([\w/]+\.py)`")
MOST_HOPS = 12
PLACES = (ROOT / "docs" / "reports" / "where-is.md").read_text()
QUESTIONS = {
    "authorised", "exported", "imported", "leased", "ranked", "re-scored", "retried", "scheduled", "scored", "streamed",
}  # fmt: skip


@lru_cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def functions(path: Path) -> set[str]:
    """Names of the functions and methods that a file defines."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in walked(parsed(path)) if isinstance(node, kinds)}


def product() -> Iterator[Path]:
    for folder in ("backend", "worker"):
        yield from (ROOT / folder).rglob("*.py")


def calls(path: Path, name: str) -> bool:
    """Whether a file calls something of that name, or a method of that name."""
    called = (node.func for node in walked(parsed(path)) if isinstance(node, ast.Call))
    return any(name in {getattr(func, "id", None), getattr(func, "attr", None)} for func in called)


def knows(path: Path, file: str) -> bool:
    """Whether a file is that module, or imports from its package: a namesake elsewhere does not count."""
    package = Path(file).parent.as_posix().replace("/", ".")
    return path == ROOT / file or package in path.read_text()


class TestWalk:
    def test_it_has_few_hops_and_each_names_a_function(self) -> None:
        assert 10 <= len(HOPS) <= MOST_HOPS
        assert [hop for hop in HOPS if not NAMED.search(hop)] == []

    @pytest.mark.parametrize(("name", "file"), NAMED.findall(WALK))
    def test_the_function_exists_and_the_product_calls_it(self, name: str, file: str) -> None:
        assert name in functions(ROOT / file)
        assert any(calls(path, name) for path in product() if knows(path, file))


class TestPlaces:
    def test_each_question_has_one_path_that_exists(self) -> None:
        rows = dict(re.findall(r"^\| .*\*\*([\w-]+)\*\*.* \| `([\w/.]+)` \|$", PLACES, re.MULTILINE))
        assert set(rows) == QUESTIONS
        assert [path for path in rows.values() if not (ROOT / path).is_file()] == []
