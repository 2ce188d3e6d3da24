"""Docstrings and errors are plain: none says nothing, none is a riddle."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PRODUCT, parsed, python_files

EMPTY = re.compile(r"(See (the )?[\w`.]+|All of them|The whole page|Takes note|Begins|Ends it)\.")
"""A function's docstring that says nothing: it is left out instead."""
RIDDLE = re.compile(
    r"\b(so many|so much of|whoever|came of it|takes note|what it comes to|what \w+ came to|by words|in words|be had"
    r"|as it stands|thrown away|(becomes|became) of|told of|is said|are said|said of|looked at|for want of|how alike"
    r"|nobody here|whose turn|let(s)? go of|made of|(be|is|are) taken away|(is|are) away|bears|no business of"
    r"|(?<!there )(is|are) no (?!longer\b))\b",
    re.IGNORECASE,
)
"""Phrases of a translation."""
BACK = re.compile(r"The same([.,;:]| (as a|as text|as the|by|for|in|of|with|without) )")
"""Begins a docstring that leans on what stands before it, which readers of the API and of editors' hints lack."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FILES = python_files(*PRODUCT)


def docstrings(tree: ast.Module) -> Iterator[tuple[ast.AST, int, str]]:
    """Each docstring of a file as one line of text, with its node and its line."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield node, node.body[0].lineno, " ".join(text.split())


def raised_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each literal in a `raise` statement."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Raise):
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.lineno, node.value


def empty_docstrings(tree: ast.Module) -> list[tuple[int, str]]:
    return [
        (line, text)
        for node, line, text in docstrings(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and EMPTY.fullmatch(text)
    ]


def riddles(tree: ast.Module) -> list[tuple[int, str]]:
    documents = [(line, text) for _, line, text in docstrings(tree)]
    found = [(line, text) for line, text in documents if BACK.match(text)]
    return found + [(line, text) for line, text in [*documents, *raised_texts(tree)] if RIDDLE.search(text)]


def test_no_docstring_says_nothing() -> None:
    assert [(str(file), *hit) for file in FILES for hit in empty_docstrings(parsed(file))] == []


def test_no_docstring_and_no_error_is_a_riddle() -> None:
    assert [(str(file), *hit) for file in FILES for hit in riddles(parsed(file))] == []


@pytest.mark.parametrize(
    ("code", "empty", "riddle"),
    [
        ('def f():\n    """See the port."""\n    return 1', 1, 0),
        ('def f():\n    """Reads a file for whoever asks."""', 0, 1),
        ('class C:\n    """See `D`."""', 0, 0),
        ('def f():\n    """The same as a table."""', 0, 1),
        ('def f():\n    """The same task in another version."""', 0, 0),
        ('raise ValueError(f"{n}: what came of it is unknown")', 0, 1),
    ],
)
def test_the_rules_find_an_offender(code: str, empty: int, riddle: int) -> None:
    tree = ast.parse(code)
    assert (len(empty_docstrings(tree)), len(riddles(tree))) == (empty, riddle)
