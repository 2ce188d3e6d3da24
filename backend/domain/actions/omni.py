"""`omni`: OmniBench's control actions, one JSON object with a control's number, a function and its arguments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from backend.domain.actions._blocks import TextActionSpace, token_after_blocks
from backend.domain.actions._forms import Number, read, short
from backend.domain.actions._json import json_blocks
from backend.domain.actions._keys import press
from backend.domain.actions._points import in_picture, mark_of
from backend.domain.actions._pywinauto_keys import key_actions
from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.registry import PluginKind, register

_EXAMPLE = (
    '{"Status": "CONTINUE", "Observation": "...", "Thought": "...", "ControlLabel": "3", "ControlText": "Save", '
    '"Function": "click_input", "Args": {"button": "left", "double": false}}'
)


class _Click(Parameters):
    button: str = Field(default="left", pattern="^(left|right|middle|x)$")
    double: bool = False


class _Wheel(Parameters):
    wheel_dist: int


class _Keys(Parameters):
    keys: str = Field(min_length=1)


def _label(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class _Answer(BaseModel):
    """The reply's object; keys that hold the model's thoughts are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    Status: str = Field(pattern="^(CONTINUE|FINISH)$")
    Function: str = ""
    Args: Mapping[str, Any] | str = Field(default_factory=dict)
    ControlLabel: Annotated[str, BeforeValidator(_label)] = ""
    ControlText: str = ""
    coordinates: tuple[Number, Number] | None = Field(
        default=None, validation_alias=AliasChoices("coordinates", "Coordinates")
    )


Where = tuple[int, int] | None


@register(PluginKind.ACTION_SPACE, "omni")
class OmniActions(TextActionSpace):
    """Parses the object. The point is the middle of the control, or coordinates in the picture."""

    about = "OmniBench's click_input, wheel_mouse_input and keyboard_input on numbered controls, as JSON."

    class Params(Parameters):
        """Parameters of the `omni` action space."""

        double: bool = Field(default=False, description="Makes every click a double click (an option of OmniBench).")
        focus: bool = Field(default=True, description="Clicks a control before typing text into it.")

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()

    def instructions(self, sight: CoordinateFrame) -> str:
        return f"""Answer with one JSON object and nothing else, with these keys:
{_EXAMPLE}
- Status: CONTINUE while there is more to do, FINISH when the task is done (then Function is empty).
- ControlLabel: the number of the control to act on; {len(sight.marks)} are numbered. Empty for none.
- Function and Args, one of:
  click_input with button ("left", "right", "middle", "x": back) and double (true or false);
  wheel_mouse_input with wheel_dist, in wheel clicks, positive is up;
  keyboard_input with keys: text, and keys as {{ENTER}}, {{TAB 2}}, ^s (Ctrl), +a (Shift), %{{F4}} (Alt); a sign
  that has a meaning is written {{+}}, {{^}}, {{%}}, {{~}}, {{(}}, {{)}}, {{{{}}, {{}}}}.
In place of the object, write FAIL if the task cannot be done, or WAIT to wait."""

    def read(self, text: str, sight: CoordinateFrame) -> Sequence[Action]:
        values = list(json_blocks(text, _EXAMPLE))
        if len(values) != 1:
            raise InvalidAction(
                f"expected one object, found {len(values)}", code="action_missing", hint=f"For example {_EXAMPLE}."
            )
        return [*self._actions(_answer(values[0]), sight), *token_after_blocks(text)]

    def _actions(self, answer: _Answer, sight: CoordinateFrame) -> Sequence[Action]:
        functions: Mapping[str, Callable[[Any, Where], Sequence[Action]]] = {
            "click_input": self._click,
            "wheel_mouse_input": self._wheel,
            "keyboard_input": self._keys,
        }
        end = [Action(type=ActionType.DONE)] if answer.Status == "FINISH" else []
        if not answer.Function:
            return end or [Action(type=ActionType.WAIT, note="no function")]
        if answer.Function not in functions:
            hint = f"Known: {', '.join(functions)}."
            raise InvalidAction(
                f"there is no function {short(answer.Function)}", code="unknown_action", path="Function", hint=hint
            )
        return [*functions[answer.Function](answer.Args or {}, _where(answer, sight)), *end]

    def _click(self, args: Any, where: Where) -> Sequence[Action]:
        click = read(_Click, args, "Args")
        x, y = _require_point(where)
        clicks = 2 if click.double or self.params.double else 1
        if click.button == "x":
            # The fourth button goes back, which desktops also do by keys.
            return [Action(type=ActionType.MOVE_TO, x=x, y=y), *[press(("alt", "left"))] * clicks]
        return [Action(type=ActionType.CLICK, x=x, y=y, button=click.button, clicks=clicks)]

    def _wheel(self, args: Any, where: Where) -> Sequence[Action]:
        x, y = where or (None, None)
        return [Action(type=ActionType.SCROLL, x=x, y=y, dy=read(_Wheel, args, "Args").wheel_dist)]

    def _keys(self, args: Any, where: Where) -> Sequence[Action]:
        actions = key_actions(read(_Keys, args, "Args").keys)
        types = any(action.type is ActionType.TYPING for action in actions)
        focus = [Action(type=ActionType.CLICK, x=where[0], y=where[1])] if where and types and self.params.focus else []
        return [*focus, *actions]


def _answer(value: Any) -> _Answer:
    if not isinstance(value, dict):
        raise InvalidAction("expected an object", code="action_missing", hint=f"For example {_EXAMPLE}.")
    return read(_Answer, value)


def _where(answer: _Answer, sight: CoordinateFrame) -> Where:
    """The point to act on: the labelled control's middle, else the one control of that text, else the coordinates."""
    label = answer.ControlLabel.strip()
    if label:
        if not (label.isdecimal() and len(label) < 7):  # noqa: PLR2004
            raise InvalidAction(
                f"expected a control's number, got {short(label)}", code="invalid_arguments", path="ControlLabel"
            )
        return mark_of(int(label), sight, "ControlLabel").centre
    if answer.coordinates:
        return in_picture(*answer.coordinates, sight)
    named = [mark for mark in sight.marks if answer.ControlText and answer.ControlText in {mark.text, mark.name}]
    return named[0].centre if len(named) == 1 else None


def _require_point(where: Where) -> tuple[int, int]:
    if where is None:
        raise InvalidAction(
            "click_input needs a control", code="invalid_arguments", path="ControlLabel", hint="Give its number."
        )
    return where
