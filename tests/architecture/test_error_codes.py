"""Every error and every reason of waiting has a stable code; docs/errors.md has them all, each under its kind."""

import ast
import builtins
import importlib
import re
from collections import Counter
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

import pytest

from backend.domain.errors import AgentFailed, Cancelled, DeskarenaError, InvalidAction, LeaseFailure, MachineLost
from backend.domain.model.reason import ReasonCode
from tests.architecture.tree import ROOT, calls, dotted, parsed, python_files, walked

SECTION = re.compile(r"^## .*\((\w+)\)$")
ROW = re.compile(r"^\| `(\w+)` \| \S")
CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
BY_STATUS = {404: "page_not_found", 405: "method_not_allowed"}


def kind_of(error: type[DeskarenaError]) -> str:
    """The name in brackets of the section of docs/errors.md that has this class's codes."""
    if issubclass(error, MachineLost):
        return error.failure_class.value
    if issubclass(error, InvalidAction):
        return "action"
    return "agent" if issubclass(error, AgentFailed | Cancelled) else str(error.status)


@cache
def error_classes() -> dict[str, type[DeskarenaError]]:
    """Every error class of the product, by name."""
    known = {error.__name__ for error in below(DeskarenaError) if error.__module__ == DeskarenaError.__module__}
    for path in python_files("backend", "worker"):
        if not known.isdisjoint(bases(path)):
            importlib.import_module(".".join(path.with_suffix("").parts))
    return {error.__name__: error for error in below(DeskarenaError) if not error.__module__.startswith("tests.")}


def bases(path: Path) -> Iterator[str]:
    for node in walked(parsed(path)):
        if isinstance(node, ast.ClassDef):
            yield from map(dotted, node.bases)


def below(error: type[DeskarenaError]) -> Iterator[type[DeskarenaError]]:
    yield error
    for each in error.__subclasses__():
        yield from below(each)


def raised() -> Iterator[tuple[str, type[DeskarenaError], ast.Call]]:
    """Place, class and call of every error that the product makes."""
    classes = error_classes()
    for path in python_files("backend", "worker"):
        for call in calls(parsed(path)):
            if (name := dotted(call.func).rpartition(".")[2]) in classes:
                yield f"{path}:{call.lineno}", classes[name], call


def code_argument(call: ast.Call) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == "code"), None)


def cli_codes() -> Iterator[str]:
    """Codes of the command's own errors; those of the service pass through it."""
    for path in python_files("backend/cli"):
        for call in calls(parsed(path)):
            argument = code_argument(call)
            own = dotted(call.func).rpartition(".")[2] not in error_classes()
            if own and isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


def codes_in_product() -> set[tuple[str, str]]:
    """Kind and code of every error and reason; an error that names no code has that of its class."""
    codes = {("reason", code.value) for code in ReasonCode} | {("cluster", code.value) for code in LeaseFailure}
    codes |= {(str(status), code) for status, code in BY_STATUS.items()} | {("400", "bad_request")}
    codes |= {("cli", code) for code in cli_codes()}
    for _, error, call in raised():
        argument = code_argument(call)
        if argument is None:
            codes.add((kind_of(error), error.code))
        elif isinstance(argument, ast.Constant):
            codes.add((kind_of(error), str(argument.value)))
    return codes


def documented() -> list[tuple[str, str]]:
    """Section and code of every row of docs/errors.md."""
    section, rows = "", []
    for line in (ROOT / "docs" / "errors.md").read_text().splitlines():
        if heading := SECTION.match(line):
            section = heading[1]
        elif row := ROW.match(line):
            rows.append((section, row[1]))
    return rows


class TestCodes:
    def test_codes_are_snake_case(self) -> None:
        assert sorted(code for _, code in codes_in_product() if not CODE.fullmatch(code)) == []


class TestPage:
    def test_documents_every_code_under_its_kind(self) -> None:
        assert sorted(codes_in_product() - set(documented())) == []

    def test_names_no_code_that_nothing_raises(self) -> None:
        assert sorted(set(documented()) - codes_in_product()) == []

    def test_names_each_code_once(self) -> None:
        codes = [code for _, code in documented()]
        assert sorted({code for code in codes if codes.count(code) > 1}) == []


def own_errors(*folders: str) -> Counter[str]:
    """Names of the exception classes in these folders, with the number of classes of each."""
    classes = [
        (node.name, {dotted(base).rpartition(".")[2] for base in node.bases})
        for path in python_files(*folders)
        for node in walked(parsed(path))
        if isinstance(node, ast.ClassDef)
    ]
    errors = {name for name in dir(builtins) if name.endswith(("Error", "Exception"))}
    while more := {name for name, above in classes if not above.isdisjoint(errors)} - errors:
        errors |= more
    return Counter(name for name, above in classes if not above.isdisjoint(errors))


def asserted_sentences(tree: ast.Module, errors: Container[str]) -> Iterator[tuple[int, str]]:
    """Line and class of each `pytest.raises` that compares the sentence of one of these errors."""
    for call in calls(tree):
        if dotted(call.func) == "pytest.raises" and any(keyword.arg == "match" for keyword in call.keywords):
            for node in ast.walk(call.args[0]):
                if isinstance(node, ast.Name | ast.Attribute) and (name := dotted(node).rpartition(".")[2]) in errors:
                    yield call.lineno, name


class TestTests:
    def test_compare_codes_and_fields_of_our_errors(self) -> None:
        """`tests.error_codes` does; `match` is for names and numbers in errors of Python and libraries."""
        errors = own_errors("backend", "worker", "deskarena", "vm_images", "tools")
        assert [
            f"{path}:{line} {name}"
            for path in python_files("tests", containing=("match=",))
            for line, name in asserted_sentences(parsed(path), errors)
        ] == []

    @pytest.mark.parametrize(
        ("line", "names"),
        [
            ('pytest.raises(Conflict, match="exists")', ["Conflict"]),
            ('pytest.raises((ValueError, errors.Conflict), match="exists")', ["Conflict"]),
            ('pytest.raises(ValueError, match="3")', []),
            ("pytest.raises(Conflict)", []),
        ],
    )
    def test_the_check_sees_a_compared_sentence(self, line: str, names: list[str]) -> None:
        assert [name for _, name in asserted_sentences(ast.parse(line), {"Conflict"})] == names


class TestNames:
    def test_error_class_names_are_unique(self) -> None:
        """`except Conflict` means one thing wherever it stands; adapters' errors bear the adapter's name."""
        names = own_errors("backend", "worker", "deskarena")
        assert names["Conflict"] == names["ClusterError"] == 1
        assert [name for name, number in names.items() if number > 1] == []
