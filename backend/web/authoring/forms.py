"""Forms of a draft's page: converts submitted values into changes of its content."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import FormData

from backend.domain.drafts.content import DraftContent
from backend.domain.errors import Invalid
from backend.services.authoring import draft_forms

MOST_FIELDS = 20_000
Typed = Mapping[str, str]
NOTES = {
    "basics": "basics edited",
    "setup": "set-up edited",
    "checks": "checks edited",
    "oracle": "solution edited",
    "json": "edited as JSON",
}


async def read_form(request: Request) -> FormData:
    return await request.form(max_fields=MOST_FIELDS, max_files=0)


def typed_of(form: FormData) -> dict[str, str]:
    """The texts of a form, with normalised line ends."""
    return {key: value.replace("\r\n", "\n") for key, value in form.items() if isinstance(value, str)}


def own_page(referer: str, fallback: str) -> str:
    """The path of the drafts page that sent a form."""
    path = urlsplit(referer).path
    return path if path.startswith("/tasks/drafts") else fallback


def basics(_content: DraftContent, typed: Typed) -> dict[str, Any]:
    """Key, instruction and labels."""
    steps = typed.get("max_steps", "").strip()
    if steps and not steps.isdecimal():
        raise Invalid(f"expected a number, got {steps[:60]!r}", code="invalid_draft", path="max_steps")
    return {
        "domain": typed.get("domain", "").strip(),
        "name": typed.get("name", "").strip(),
        "dialect": typed.get("dialect", "").strip() or "starter",
        "instruction": typed.get("instruction", "").strip(),
        "apps": _words(typed.get("apps", "")),
        "requires": _words(typed.get("requires", "")),
        "difficulty": typed.get("difficulty", "") or None,
        "level": typed.get("level", "").strip() or None,
        "feasible": typed.get("feasible", "yes") == "yes",
        "max_steps": int(steps) if steps else None,
    }


def setup(content: DraftContent, typed: Typed) -> dict[str, Any]:
    """The set-up steps; `do` is the pressed button."""
    do = typed.get("do", "")
    rows = draft_forms.parse_steps(content.dialect, typed, whole=not do)
    rows = draft_forms.move_row(rows, do)
    if do == "add":
        rows.append({"type": _choice(typed, "new"), "parameters": {}})
    return {"setup": rows}


def checks(content: DraftContent, typed: Typed) -> dict[str, Any]:
    """The checks and how they are joined."""
    do = typed.get("do", "")
    rows = draft_forms.move_row(draft_forms.parse_checks(content.dialect, typed, whole=not do), do)
    if do == "add":
        sides = {
            side: {"type": name} for side in ("result", "expected") if (name := typed.get(f"new_{side}", "").strip())
        }
        rows.append({"func": _choice(typed, "new"), **sides})
    return {"checks": rows, "conj": typed.get("conj", "and")}


def oracle(content: DraftContent, typed: Typed) -> dict[str, Any]:
    do = typed.get("do", "")
    if content.oracle and not draft_forms.solution_rows(content):
        raise Invalid(
            "the solution cannot be read as steps",
            code="invalid_draft",
            path="oracle",
            hint="Correct it in the JSON below.",
        )
    rows = draft_forms.move_row(draft_forms.parse_solution(typed), do)
    if do == "add":
        fresh = {"oracle.0.verb": _choice(typed, "new"), "oracle.0.value": typed.get("new_value", "")}
        try:
            rows += draft_forms.parse_solution(fresh)
        except Invalid as error:
            words = error.message.removeprefix(f"{error.path}: ")
            raise Invalid(words, code="invalid_draft", path="new_value", hint=error.hint) from error
    return {"oracle": rows}


def whole(_content: DraftContent, typed: Typed) -> dict[str, Any]:
    """The whole content as JSON."""
    try:
        content = json.loads(typed.get("json", ""))
    except (ValueError, RecursionError) as error:
        raise Invalid(f"expected JSON, {error}", code="invalid_draft", path="json") from error
    if not isinstance(content, dict):
        raise Invalid("expected a JSON object", code="invalid_draft", path="json")
    unset = {name: field.get_default(call_default_factory=True) for name, field in DraftContent.model_fields.items()}
    return {**{name: value for name, value in unset.items() if name not in {"domain", "name"}}, **content}


PARTS: Mapping[str, Callable[[DraftContent, Typed], dict[str, Any]]] = {
    "basics": basics,
    "setup": setup,
    "checks": checks,
    "oracle": oracle,
    "json": whole,
}


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _choice(typed: Typed, name: str) -> str:
    choice = typed.get(name, "").strip()
    if not choice:
        raise Invalid("choose one", code="invalid_draft", path=name)
    return choice
