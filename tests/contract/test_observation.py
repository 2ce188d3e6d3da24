"""The behaviour common to all observation spaces."""

import pytest

from backend.domain import registry
from backend.domain.errors import GuestLost
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.registry import PluginKind
from tests.factories.trees import node, tree
from tests.fakes.desktop import FakeDesktop, FakeWindow
from tests.fakes.element_detectors import FakeEyes

registry.load()
SPACES = sorted(registry.entries(PluginKind.OBSERVATION).items())


@pytest.fixture
def desktop() -> FakeDesktop:
    made = FakeDesktop()
    made.open_windows.append(FakeWindow(title="note", text="hello"))
    return made


@pytest.fixture(params=[plugin for _, plugin in SPACES], ids=[name for (_, name), _ in SPACES])
def space(request: pytest.FixtureRequest) -> object:
    """A new one for each test, because a space may remember the previous step."""
    return request.param(eyes=FakeEyes())


class TestObserve:
    def test_always_takes_a_picture_of_the_whole_screen(self, space: object, desktop: FakeDesktop) -> None:
        observation = space.observe(desktop, 4)  # type: ignore[attr-defined]
        assert observation.index == 4
        assert observation.frame is not None
        assert (observation.frame.width, observation.frame.height) == (desktop.screen.width, desktop.screen.height)

    def test_says_whether_the_agent_sees_it(self, space: object, desktop: FakeDesktop) -> None:
        assert isinstance(space.shows_frame, bool)  # type: ignore[attr-defined]

    def test_observation_is_not_empty(self, space: object, desktop: FakeDesktop) -> None:
        observation = space.observe(desktop, 0)  # type: ignore[attr-defined]
        assert space.shows_frame or observation.a11y_tree  # type: ignore[attr-defined]

    def test_windows_come_with_the_tree(self, space: object, desktop: FakeDesktop) -> None:
        observation = space.observe(desktop, 0)  # type: ignore[attr-defined]
        assert observation.a11y_tree is None or observation.windows is not None

    def test_screen_is_stored_whatever_the_agent_sees(self, space: object, desktop: FakeDesktop) -> None:
        observation = space.observe(desktop, 0)  # type: ignore[attr-defined]
        assert observation.frame == desktop.frame()
        assert observation.agent_view is None or observation.agent_view.width == desktop.screen.width

    def test_marks_lie_on_the_screen_and_count_from_one(self, space: object, desktop: FakeDesktop) -> None:
        desktop.tree = tree(node("label", "a", at=(45, 45)), node("link", "b", at=(600, 470), size=(500, 500)))
        marks = space.observe(desktop, 0).marks or ()  # type: ignore[attr-defined]
        assert [mark.id for mark in marks] == list(range(1, len(marks) + 1))
        assert all(mark.x + mark.width <= 640 and mark.y + mark.height <= 480 for mark in marks)

    def test_hears_what_was_done(self, space: object, desktop: FakeDesktop) -> None:
        space.observe(desktop, 0)  # type: ignore[attr-defined]
        space.acted((Action(type=ActionType.CLICK, x=1, y=2),))  # type: ignore[attr-defined]
        assert space.observe(desktop, 1).index == 1  # type: ignore[attr-defined]

    def test_options_have_defaults_and_help(self, space: object) -> None:
        for name, field in type(space).Params.model_fields.items():  # type: ignore[attr-defined]
            assert not field.is_required(), name
            assert field.description, name

    @pytest.mark.parametrize("damaged", ["", "<a>", "<!DOCTYPE a><a/>"])
    def test_a_damaged_tree_is_never_the_agents_fault(self, space: object, desktop: FakeDesktop, damaged: str) -> None:
        if space.observe(desktop, 0).a11y_tree is None:  # type: ignore[attr-defined]
            return
        desktop.tree = damaged
        with pytest.raises(GuestLost):
            space.observe(desktop, 1)  # type: ignore[attr-defined]

    def test_observing_changes_nothing(self, space: object, desktop: FakeDesktop) -> None:
        space.observe(desktop, 0)  # type: ignore[attr-defined]
        assert desktop.performed == []
        assert [window.text for window in desktop.open_windows] == ["hello"]
