"""The help of every command, argument and option reads as one house style."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from backend.cli.main import app

RIDDLES = re.compile(
    r"\b(of it|so many|the same;|whoever|is no|are no|goes? on|what it comes to|not given|go before)\b", re.IGNORECASE
)


def helps(command: Any, words: str) -> Iterator[tuple[str, str]]:
    """Every help text below a command, with its path."""
    yield words, command.help or ""
    for parameter in command.params:
        if (text := getattr(parameter, "help", None)) is not None and parameter.name != "help":
            yield f"{words} {parameter.opts[0]}", text
    for name, inner in getattr(command, "commands", {}).items():
        yield from helps(inner, f"{words} {name}")


HELPS = sorted(helps(typer.main.get_command(app), "deskarena"))


def test_every_command_has_a_help() -> None:
    assert len(HELPS) > 200
    assert [words for words, text in HELPS if not text] == []


@pytest.mark.parametrize("pattern", [r"^[A-Z]", r"[.)]$"], ids=["begins", "ends"])
def test_every_help_is_a_sentence(pattern: str) -> None:
    assert [(words, text) for words, text in HELPS if not re.search(pattern, text.strip())] == []


def test_no_help_is_a_riddle() -> None:
    assert [(words, text) for words, text in HELPS if RIDDLES.search(text)] == []
