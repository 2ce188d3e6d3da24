"""Checks that a draft declares its preconditions."""

import re
from collections.abc import Iterator, Mapping

from backend.domain.drafts.content import DraftContent
from backend.domain.model.task import JSON, SetupStep

DECLARATIVE = frozenset(
    {
        "activate_window", "change_wallpaper", "chrome_open_tabs", "create_file", "create_folder", "download",
        "edge_open_tabs", "launch", "open", "set_default_browser", "tidy_desktop", "update_browse_history",
        "update_browse_history_edge", "upload_file",
    }
)  # fmt: skip
"""Step types that declare a state. The others (commands, recorded input, pauses) describe actions."""
_HOME = re.compile(r"(?:/home/user|~|\$HOME)(/[\w@%+=:,./ -]*[\w@%+=:,-])|C:\\Users\\[^\\]+\\([\w\\. -]+)")


def undeclared_steps(content: DraftContent) -> list[str]:
    """Set-up steps that run something instead of declaring a state, one sentence each."""
    return [
        f"Set-up step {number} ({step.type}) says what is done, not what is there: "
        "another desktop may come out differently."
        for number, step in enumerate(content.setup, start=1)
        if step.type not in DECLARATIVE
    ]


def unmade(content: DraftContent) -> list[str]:
    """Files in the home folder that a check reads and that neither set-up nor instruction mentions.

    The agent would have to guess the name.
    """
    text = " ".join(_texts([step.model_dump() for step in content.setup])) + " " + content.instruction
    paths = dict.fromkeys(path for check in content.checks for path in _paths(check.result))
    return [
        f"A check reads {path}, but neither the instruction nor a set-up step names {path.rsplit('/', 1)[-1]!r}."
        for path in paths
        if path.rsplit("/", 1)[-1] not in text
    ]


def addresses(content: DraftContent) -> list[str]:
    """Every http(s) address of a draft, in order, without repeats."""
    parts = [content.instruction, *_texts([_dump(step) for step in (*content.setup, *content.postconfig)])]
    parts += _texts([check.model_dump() for check in content.checks])
    matches = (address.rstrip(".,;:)") for part in parts for address in re.findall(r"https?://[^\s\"'<>]+", part))
    return list(dict.fromkeys(matches))


def _dump(step: SetupStep) -> Mapping[str, JSON]:
    return step.model_dump()


def _paths(value: JSON) -> Iterator[str]:
    for text in _texts(value):
        if text.startswith(("/home/user/", "~/", "C:\\Users")) and _HOME.fullmatch(text):
            yield text.replace("\\", "/")


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
