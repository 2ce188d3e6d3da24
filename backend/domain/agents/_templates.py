"""Prompt templates in `prompts/<agent>/`, each with a hash that a run records.

Values (the instruction, the screen's text, earlier replies) are inserted verbatim and never interpreted as templates.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"
SUFFIX = ".md.j2"


def render(agent: str, name: str, **data: Any) -> str:
    """Renders an agent's prompt `name` with `data`. A missing value is a programming error."""
    text: str = _environment().get_template(f"{agent}/{name}{SUFFIX}").render(**data)
    return text.strip()


@cache
def prompt_hashes(*agents: str) -> Mapping[str, str]:
    """Sha256 (hex) of every prompt file of these folders, by `folder/name`."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in prompt_texts(*agents).items()}


@cache
def prompt_texts(*agents: str) -> Mapping[str, str]:
    """Text of every prompt file of these folders, by `folder/name`."""
    files = sorted(file for agent in agents for file in (FOLDER / agent).glob(f"*{SUFFIX}"))
    return {f"{file.parent.name}/{file.name.removesuffix(SUFFIX)}": file.read_bytes().decode() for file in files}


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Prompts are plain text for a model, so nothing is escaped.
    return Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - see above
    )
