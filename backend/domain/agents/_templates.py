"""Prompts: our own words, in files under `prompts/<agent>/`, each with a hash that a run's record keeps.

What a template is given (the instruction, the screen's text, earlier replies) is data: it is put in as it is and never
read as a template itself.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"
SUFFIX = ".md.j2"


def render(agent: str, name: str, **data: Any) -> str:
    """The prompt `name` of an agent, with `data` in its places; one it does not get is an error of ours."""
    text: str = _environment().get_template(f"{agent}/{name}{SUFFIX}").render(**data)
    return text.strip()


@cache
def prompt_hashes(*agents: str) -> Mapping[str, str]:
    """Sha256 (hex) of every prompt file of these folders, by `folder/name`."""
    files = sorted(file for agent in agents for file in (FOLDER / agent).glob(f"*{SUFFIX}"))
    return {
        f"{file.parent.name}/{file.name.removesuffix(SUFFIX)}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Prompts are plain text for a model, not a page: nothing is escaped, so that a model reads what is on the screen.
    return Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - see above
    )
