"""Every registered action space turns replies into actions that the loop understands, or says what is wrong."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain import registry
from backend.domain.errors import InvalidAction
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, Mark, ScreenView
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply, ToolCall
from backend.domain.registry import PluginKind

registry.load()
SPACES = registry.names(PluginKind.ACTION_SPACE)
SCREEN = ScreenSize(width=1280, height=800)
VIEW = ScreenView(width=1024, height=1024, top=192, right=1024, bottom=832, screen_width=1280, screen_height=800)
MARKS = (Mark(id=3, kind="control", text="Save", x=10, y=20, width=30, height=40, origin="tree"),)
SIGHT = CoordinateFrame(screen=SCREEN, view=VIEW, marks=MARKS)
FENCES = st.sampled_from(["```", "```python\n", "```json\n", "```decision\n", "\n```\n", "DONE", "WAIT", "\n"])
CODE = st.sampled_from(["pyautogui.click(1, 2)", "computer.mouse.move_id(3)", "tag_3", "{", "}", "(", ")", '"', ";"])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)
NAMES = st.sampled_from(
    [
        "action",
        "type",
        "coordinate",
        "text",
        "x",
        "y",
        "keys",
        "path",
        "region",
        "actions",
        "direction",
        "key",
        "duration",
    ]
)
CALLS = st.builds(
    ToolCall,
    id=st.just("1"),
    name=st.sampled_from(
        ["computer", "computer_call", "left_click", "key", "click", "scroll", "drag_and_drop", "type"]
    ),
    arguments=st.dictionaries(
        NAMES, JSON | st.sampled_from(["click", "left_click", "key", "drag", [1, 2]]), max_size=5
    ),
)
# How each space that takes a point in the picture writes a click there; a test holds the list complete.
CLICKS: dict[str, Any] = {
    "computer_13": lambda x, y: json.dumps({"action_type": "CLICK", "x": x, "y": y}),
    "pyautogui": lambda x, y: f"```python\npyautogui.click({x!r}, {y!r})\n```",
    "omni": lambda x, y: json.dumps({"Status": "CONTINUE", "Function": "click_input", "coordinates": [x, y]}),
    "anthropic_computer": lambda x, y: ("left_click", {"coordinate": [x, y]}),
    "openai_computer": lambda x, y: ("computer_call", {"action": {"type": "click", "x": x, "y": y, "button": "left"}}),
    "gemini_computer": lambda x, y: ("click", {"x": x / 1024 * 1000, "y": y / 1024 * 1000}),
    # 1024x1024 as Qwen2.5-VL's servers resize it.
    "gui_model": lambda x, y: f"Action: click(start_box='({x / 1024 * 1036!r},{y / 1024 * 1036!r})')",
}
BY_ELEMENT = {"computer", "computer_13_words", "prosoft"}


def made(name: str, **params: Any) -> Any:
    plugin = registry.lookup(PluginKind.ACTION_SPACE, name)
    return plugin(plugin.Params.model_validate(params)) if params else plugin()


def parsed(name: str, reply: ModelReply | str) -> tuple[Action, ...]:
    """The actions; none for a reply that is refused. Any other error passes through and fails the test."""
    try:
        found: tuple[Action, ...] = made(name).parse(reply, SIGHT)
    except InvalidAction:
        return ()
    assert found, "a reply is actions or invalid"
    return found


@pytest.mark.parametrize("name", SPACES)
class TestSpaces:
    def test_says_what_it_is(self, name: str) -> None:
        assert len(made(name).about) > 20

    @pytest.mark.parametrize("word", ["WAIT", "DONE", "FAIL"])
    def test_the_three_words(self, name: str, word: str) -> None:
        assert [action.type for action in made(name).parse(word)] == [word]
        assert [action.type for action in made(name).parse(ModelReply(text=f" {word}\n"))] == [word]

    @pytest.mark.parametrize(
        "sight", [CoordinateFrame(), SIGHT, CoordinateFrame(platform="Windows")], ids=["plain", "marks", "windows"]
    )
    def test_says_how_to_write_actions_or_offers_tools(self, name: str, sight: CoordinateFrame) -> None:
        space = made(name)
        assert len(space.instructions(sight)) > 100
        assert "DONE" in space.instructions(sight) or "FINISH" in space.instructions(sight)
        for tool in space.tools(sight):
            assert tool.name
            assert json.dumps(dict(tool.vendor or tool.schema_))

    @settings(max_examples=100, deadline=None)
    @given(reply=st.text() | st.lists(FENCES | CODE | st.text(max_size=10), max_size=12).map("".join))
    def test_any_reply_is_actions_or_a_typed_error(self, name: str, reply: str) -> None:
        assert all(isinstance(action, Action) for action in parsed(name, reply))

    @settings(max_examples=50, deadline=None)
    @given(value=JSON)
    def test_any_json_is_actions_or_a_typed_error(self, name: str, value: Any) -> None:
        parsed(name, json.dumps(value))

    @settings(max_examples=100, deadline=None)
    @given(calls=st.lists(CALLS, max_size=3))
    def test_any_calls_are_actions_or_a_typed_error(self, name: str, calls: list[ToolCall]) -> None:
        parsed(name, ModelReply(text="x", calls=tuple(calls)))


class TestCoordinates:
    def test_every_space_points_somehow(self) -> None:
        assert set(CLICKS) | BY_ELEMENT == set(SPACES)

    @settings(max_examples=100, deadline=None)
    @given(x=st.integers(0, 1279), y=st.integers(0, 799))
    @pytest.mark.parametrize("name", CLICKS)
    def test_a_point_of_the_picture_comes_back_to_its_pixel(self, name: str, x: int, y: int) -> None:
        takes_pixels = name in {"computer_13", "pyautogui"}
        space = made(name, coordinates="picture") if takes_pixels else made(name)
        written = CLICKS[name](*VIEW.from_screen(x, y))
        reply = written
        if isinstance(written, tuple):
            reply = ModelReply(calls=(ToolCall(id="1", name=written[0], arguments=written[1]),))
        (action,) = space.parse(reply, SIGHT)
        assert (action.x, action.y) == (x, y)
