import pytest

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.observations._space import Extras, terminal_text, titles_of_tabs
from backend.domain.observations.screenshot import Screenshot
from tests.factories.desktops import refuses
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop
from tests.fakes.element_detectors import FakeEyes


def terminal(answer: object) -> FakeDesktop:
    desktop = FakeDesktop()
    desktop.routes["GET", "/terminal"] = answer
    return desktop


class TestTerminalText:
    def test_the_text_of_the_terminal(self) -> None:
        assert terminal_text(terminal({"output": "user$ ls", "status": "success"})) == "user$ ls"

    def test_its_end_counts(self) -> None:
        assert terminal_text(terminal({"output": "a" * 50_000 + "end"})) == "a" * 19_997 + "end"

    def test_no_terminal_tells_its_text(self) -> None:
        assert terminal_text(terminal({"output": None})) is None

    def test_a_guest_that_cannot_look(self) -> None:
        assert terminal_text(terminal(refuses("no accessibility bus"))) is None

    def test_another_refusal_is_one(self) -> None:
        with pytest.raises(GuestRefused):
            terminal_text(terminal(refuses("it hangs", kind="timeout")))

    @pytest.mark.parametrize("wrong", [7, {"output": 7}, ["text"]])
    def test_nonsense_is_the_desktops_failure(self, wrong: object) -> None:
        with pytest.raises(GuestLost):
            terminal_text(terminal(wrong))


class TestTitlesOfTabs:
    def test_the_one_used_last_first(self) -> None:
        browser = FakeBrowser({"http://a/": "<title>A</title>", "http://b/": "<title>B</title>"})
        browser.open("http://a/")
        browser.open("http://b/")
        assert titles_of_tabs(FakeEyes(browser)) == ("B", "A")

    def test_no_titles_without_a_browser(self) -> None:
        assert titles_of_tabs(FakeEyes()) == ()


class TestExtras:
    def test_extras_are_off_by_default(self) -> None:
        seen = Screenshot().observe(FakeDesktop(), 0)
        assert (seen.windows, seen.tabs, seen.clipboard, seen.terminal, seen.previous) == (None,) * 5

    def test_each_as_asked_for(self) -> None:
        desktop = terminal({"output": "$"})
        desktop.launch("editor")
        desktop.clipboard_text = "copied"
        wanted = Extras(windows=True, tabs=True, clipboard=True, terminal=True, previous=True)
        space = Screenshot(wanted, FakeEyes())
        first, second = space.observe(desktop, 0), space.observe(desktop, 1)
        assert [window.title for window in second.windows or ()] == ["editor"]
        assert (second.tabs, second.clipboard, second.terminal) == ((), "copied", "$")
        assert (first.previous, second.previous) == (None, first.frame)
