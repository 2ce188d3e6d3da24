"""What every observation space does."""

import pytest

from backend.domain import registry
from backend.domain.registry import Kind
from tests.fakes.desktop import FakeDesktop, FakeWindow

registry.load()
SPACES = sorted(registry.entries(Kind.OBSERVATION).items())


@pytest.fixture
def desktop() -> FakeDesktop:
    made = FakeDesktop()
    made.open_windows.append(FakeWindow(title="note", text="hello"))
    return made


@pytest.mark.parametrize("space", [plugin() for _, plugin in SPACES], ids=[name for (_, name), _ in SPACES])
class TestObserve:
    def test_always_takes_a_picture_of_the_whole_screen(self, space: object, desktop: FakeDesktop) -> None:
        observation = space.observe(desktop, 4)  # type: ignore[attr-defined]
        assert observation.index == 4
        assert observation.frame is not None
        assert (observation.frame.width, observation.frame.height) == (desktop.screen.width, desktop.screen.height)

    def test_says_whether_the_agent_sees_it(self, space: object, desktop: FakeDesktop) -> None:
        assert isinstance(space.shows_frame, bool)  # type: ignore[attr-defined]

    def test_an_agent_sees_something(self, space: object, desktop: FakeDesktop) -> None:
        observation = space.observe(desktop, 0)  # type: ignore[attr-defined]
        assert space.shows_frame or observation.a11y_tree  # type: ignore[attr-defined]

    def test_windows_come_with_the_tree(self, space: object, desktop: FakeDesktop) -> None:
        observation = space.observe(desktop, 0)  # type: ignore[attr-defined]
        assert (observation.windows is None) == (observation.a11y_tree is None)

    def test_changes_nothing(self, space: object, desktop: FakeDesktop) -> None:
        space.observe(desktop, 0)  # type: ignore[attr-defined]
        assert desktop.performed == []
        assert [window.text for window in desktop.open_windows] == ["hello"]
