"""The steps of an oracle solution as task files write them.

A solution is a list of objects. Each has exactly one of the keys below, and optionally `patience` (how often it may
look again, default 20) and `note` (shown beside the step).

- `wait`, `wait_gone`: a widget is on the screen, or no longer.
- `wait_window`, `wait_window_gone`: a window's title contains the text; the first also waits until it is active.
- `click`, `double_click`, `right_click`, `move_to`: a widget, waited for.
- `drag`: `{"from": widget, "to": widget}`.
- `scroll`: `{"at": widget, "dy": -3}`.
- `type`: text; `press`: one key; `hotkey`: a list of keys.
- `fail`: why the task is infeasible.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, model_validator

from backend.domain.errors import Invalid
from backend.domain.formats.accessibility import Widget
from backend.domain.model.parameters import Parameters

PATIENCE = 20


class Selector(Parameters):
    """Selects a widget. All given fields must match; of several matches, the active window's come first.

    Attributes:
        role: with blanks or dashes, as in `push button`.
        name, text: the whole name or content, blanks around it aside.
        name_has, text_has: a part of it.
        app: name of the application.
        window: part of the title of a window around it.
        states: it has all of them (`checked`, `focused`); those with a `!` in front it must not have.
        value: of a slider or spin button.
        index: which of those that fit, 0 = the first, -1 = the last.
        at: where to click, as fractions of its size.
    """

    role: str | None = None
    name: str | None = None
    name_has: str | None = None
    text: str | None = None
    text_has: str | None = None
    app: str | None = None
    window: str | None = None
    states: tuple[str, ...] = ()
    value: float | None = None
    index: int = 0
    at: tuple[float, float] = (0.5, 0.5)

    def fits(self, widget: Widget) -> bool:
        """Whether a widget matches and is on the screen."""
        return (
            widget.on_screen
            and self.role in {None, widget.role, widget.role.replace("-", " ")}
            and self.name in {None, widget.name.strip()}
            and (self.name_has is None or self.name_has in widget.name)
            and self.text in {None, widget.text.strip()}
            and (self.text_has is None or self.text_has in widget.text)
            and self.app in {None, widget.app}
            and (self.window is None or any(self.window in title for title in widget.windows))
            and all(self._has(widget, state) for state in self.states)
            and self.value in {None, widget.value}
        )

    @staticmethod
    def _has(widget: Widget, state: str) -> bool:
        return state[1:] not in widget.states if state.startswith("!") else state in widget.states

    def to_text(self) -> str:
        """Text such as `table cell "report.txt" in window "Files" (focused)`."""
        text = " ".join([self.role or "element", *(f'"{label}"' for label in (self.name, self.text) if label)])
        text += "".join(f' containing "{part}"' for part in (self.name_has, self.text_has) if part)
        text += f" of {self.app}" if self.app else ""
        text += f' in window "{self.window}"' if self.window else ""
        states = [f"not {state[1:]}" if state.startswith("!") else state for state in self.states]
        text += f" ({', '.join(states)})" if states else ""
        text += f" with value {self.value:g}" if self.value is not None else ""
        ordinal = "the last" if self.index == -1 else f"number {self.index + 1}"
        return f"{text}, {ordinal}" if self.index else text


class DragStep(Parameters):
    """Press on one widget, release on another."""

    start: Selector = Field(alias="from")
    end: Selector = Field(alias="to")


class ScrollStep(Parameters):
    """The wheel over a widget; negative `dy` scrolls down."""

    at: Selector
    dy: int


class OracleStep(Parameters):
    """One step; see the module."""

    wait: Selector | None = None
    wait_gone: Selector | None = None
    wait_window: str | None = None
    wait_window_gone: str | None = None
    click: Selector | None = None
    double_click: Selector | None = None
    right_click: Selector | None = None
    move_to: Selector | None = None
    drag: DragStep | None = None
    scroll: ScrollStep | None = None
    type: str | None = None
    press: str | None = None
    hotkey: tuple[str, ...] | None = None
    fail: str | None = None
    patience: int = Field(default=PATIENCE, ge=1, le=200)
    note: str = ""

    @model_validator(mode="before")
    @classmethod
    def _one_verb(cls, data: Any) -> Any:
        if isinstance(data, dict) and len(set(data) - {"patience", "note"}) != 1:
            raise ValueError(f"a step has exactly one verb, this one has {sorted(set(data) - {'patience', 'note'})}")
        return data

    @property
    def verb(self) -> str:
        """Its action."""
        return next(iter(self.model_fields_set - {"patience", "note"}))


def read_solution(recipe: Sequence[Any]) -> tuple[OracleStep, ...]:
    """The steps of a solution. Raises Invalid with the place of the first wrong one."""
    steps = []
    for number, step in enumerate(recipe):
        if not isinstance(step, dict):
            raise Invalid("expected an object with one verb", code="invalid_solution", path=f"oracle.{number}")
        try:
            steps.append(OracleStep.parse(step))
        except Invalid as error:
            where = f"oracle.{number}" + (f".{error.path}" if error.path else "")
            raise Invalid(error.message.removeprefix(f"{error.path}: "), code="invalid_solution", path=where) from error
    return tuple(steps)
