from backend.domain.observations.a11y_tree import A11yTree
from backend.domain.observations.screenshot import Screenshot
from backend.domain.screen.with_tree import TreeSpace
from tests.fakes.desktop import FakeDesktop


class TestWithTree:
    def test_tree_and_windows_are_added(self) -> None:
        desktop = FakeDesktop()
        desktop.launch("editor")
        alone, both = Screenshot().observe(desktop, 2), TreeSpace(Screenshot()).observe(desktop, 2)
        assert alone.a11y_tree is None
        assert both.a11y_tree == desktop.accessibility_tree()
        assert both.windows == tuple(desktop.windows())
        assert both.model_copy(update={"a11y_tree": None, "windows": None}) == alone

    def test_windows_that_are_shown_stay(self) -> None:
        desktop = FakeDesktop()
        shown = Screenshot(Screenshot.Params(windows=True))
        assert TreeSpace(shown).observe(desktop, 0).windows == shown.observe(desktop, 0).windows

    def test_a_space_with_the_tree_stays_as_it_is(self) -> None:
        desktop = FakeDesktop()
        assert TreeSpace(A11yTree()).observe(desktop, 0) == A11yTree().observe(desktop, 0)
