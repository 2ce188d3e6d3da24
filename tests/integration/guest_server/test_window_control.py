"""Windows: list, activate, measure, close."""

import pytest

from backend.domain.errors import GuestRefused
from tests.error_codes import raises_fields
from tests.integration.guest_server.session import RunningSession, wait

pytestmark = pytest.mark.desktop


def two_windows(session: RunningSession) -> None:
    """An editor with one.txt, and a calculator above it."""
    session.edit("one.txt")
    session.desktop.launch("galculator")
    wait(lambda: len(session.desktop.windows()) == 2 and session.desktop.windows()[1].active, "two windows")


class TestWindows:
    def test_bottom_to_top_with_their_facts(self, clean: RunningSession) -> None:
        two_windows(clean)
        editor, calculator = clean.desktop.windows()
        assert "one.txt" in editor.title
        assert editor.wm_class == "mousepad.Mousepad"
        assert (editor.active, calculator.active) == (False, True)
        assert calculator.wm_class == "galculator.Galculator"
        assert clean.desktop.execute(["cat", f"/proc/{editor.pid}/comm"]).output == "mousepad\n"

    def test_the_rectangle_has_the_frame(self, clean: RunningSession) -> None:
        clean.edit("one.txt")

        def extents_of() -> tuple[str, str]:
            """Its id, and its frame once the window manager has created one."""
            active = str(clean.desktop.execute(["xprop", "-root", "_NET_ACTIVE_WINDOW"]).output)
            number = active.rpartition("# ")[2].strip()
            said = str(clean.desktop.execute(["xprop", "-id", number, "_NET_FRAME_EXTENTS"]).output)
            return (number, said) if "=" in said else ("", "")

        number, extents = wait(lambda: next(filter(all, [extents_of()]), None), "the frame's extents")
        window = clean.desktop.windows()[0]
        left, right, top, bottom = map(int, extents.partition("=")[2].split(","))
        info = clean.desktop.execute(["xwininfo", "-id", number]).output
        facts = dict(line.strip().split(":", 1) for line in info.splitlines() if ":" in line)
        assert top > 10
        assert int(facts["Absolute upper-left X"]) == window.x + left
        assert int(facts["Absolute upper-left Y"]) == window.y + top
        assert int(facts["Width"]) == window.width - left - right
        assert int(facts["Height"]) == window.height - top - bottom

    def test_empty_desktop_lists_no_windows(self, clean: RunningSession) -> None:
        assert clean.get("/windows").json() == {"status": "success", "windows": []}

    def test_desktop_window_of_a_file_manager_is_ignored(self, clean: RunningSession) -> None:
        clean.desktop.launch(["pcmanfm", "--desktop"])
        find = "xwininfo -root -tree | grep -ci pcmanfm"
        wait(lambda: int(clean.desktop.execute(find, shell=True).output) > 0, "the file manager")  # noqa: S604
        clean.get("/stable", quiet=0.5)
        assert clean.desktop.windows() == []
        clean.desktop.execute(["pcmanfm", "--desktop-off"])


@pytest.mark.sampled(2)
class TestActivateWindow:
    def test_by_part_of_its_title(self, clean: RunningSession) -> None:
        two_windows(clean)
        clean.desktop.activate_window("ONE.txt")
        assert [w.active for w in clean.desktop.windows()] == [False, True]
        assert "one.txt" in clean.desktop.windows()[1].title

    def test_by_class_and_strictly(self, clean: RunningSession) -> None:
        two_windows(clean)
        clean.desktop.activate_window("Mousepad", strict=True, by_class=True)
        assert clean.desktop.windows()[1].wm_class == "mousepad.Mousepad"

    def test_a_minimised_one_comes_back(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        clean.desktop.execute("xdotool getactivewindow windowminimize", shell=True)  # noqa: S604
        wait(lambda: clean.get("/windows").json()["windows"][0]["minimized"], "minimised")
        clean.desktop.activate_window("one.txt")
        window = clean.get("/windows").json()["windows"][0]
        assert (window["active"], window["minimized"]) == (True, False)

    def test_unknown_window_is_refused(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        with raises_fields(GuestRefused, mentions="one.txt") as caught:
            clean.desktop.activate_window("two.txt")
        assert caught.value.kind == "not_found"

    def test_strict_means_the_whole_title(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        with pytest.raises(GuestRefused):
            clean.desktop.activate_window("one.txt", strict=True)
        clean.desktop.activate_window(clean.desktop.windows()[0].title, strict=True)


class TestWindowSize:
    def test_size_by_window_class(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        window = clean.desktop.windows()[0]
        response = clean.http.post("/window_size", data={"app_class_name": "mousepad"})
        assert response.json() == {"width": window.width, "height": window.height}

    def test_unknown_class_is_404(self, clean: RunningSession) -> None:
        assert clean.http.post("/window_size", data={"app_class_name": "gimp"}).status_code == 404


class TestCloseWindow:
    def test_closes_the_one_that_matches(self, clean: RunningSession) -> None:
        two_windows(clean)
        clean.desktop.close_window("one.txt")
        wait(lambda: [w.wm_class for w in clean.desktop.windows()] == ["galculator.Galculator"], "one window")

    def test_strictly_by_title(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        clean.desktop.close_window(clean.desktop.windows()[0].title, strict=True)
        wait(lambda: not clean.desktop.windows(), "no window")


class TestCloseAll:
    def test_closes_windows_that_ask_for_confirmation(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        clean.input({"type": "type", "text": "not saved"})
        wait(lambda: clean.desktop.windows()[0].title.startswith("*"), "the change")
        reply = clean.post("/setup/close_all", {}).text
        assert "by force" in reply
        assert clean.desktop.windows() == []

    def test_the_next_start_is_a_new_program(self, clean: RunningSession) -> None:
        """The file must open although the program before it is only just ending."""
        for number in range(3):
            clean.edit(f"again{number}.txt")
            clean.post("/setup/close_all", {})


@pytest.mark.sampled(4)
class TestPlaceWindow:
    def place(self, session: RunningSession, **wanted: object) -> dict[str, int]:
        said = session.desktop.call("POST", "/setup/place_window", {"window_name": "one.txt", **wanted})
        window: dict[str, int] = said["window"]
        return {name: window[name] for name in ("x", "y", "width", "height")}

    def test_a_place_and_a_size_with_the_frame(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        wanted = {"x": 120, "y": 90, "width": 600, "height": 400}
        assert self.place(clean, **wanted) == wanted
        window = clean.desktop.windows()[0]
        assert (window.x, window.y, window.width, window.height) == (120, 90, 600, 400)

    def test_omitted_fields_stay_unchanged(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        self.place(clean, x=100, y=100, width=500, height=300)
        assert self.place(clean, x=-40) == {"x": -40, "y": 100, "width": 500, "height": 300}
        assert self.place(clean, height=350) == {"x": -40, "y": 100, "width": 500, "height": 350}

    def test_a_size_that_the_program_refuses(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        before = self.place(clean, width=700, height=500)
        smallest = self.place(clean, width=1, height=1)
        assert 100 < smallest["width"] < before["width"]
        assert 30 < smallest["height"] < before["height"]
        assert self.place(clean, width=1, height=1) == smallest

    def test_filling_the_screen_and_back(self, clean: RunningSession) -> None:
        clean.edit("one.txt")
        before = self.place(clean, x=100, y=100, width=500, height=300)
        filled = self.place(clean, maximized=True)
        assert (filled["x"], filled["width"]) == (0, 1280)
        assert filled["height"] > 700
        assert self.place(clean, x=100) == before

    @pytest.mark.parametrize("wrong", [{"x": "left"}, {"width": 0}, {"y": 1.5}, {"height": 40_000}])
    def test_a_wrong_number_is_named(self, clean: RunningSession, wrong: dict[str, object]) -> None:
        clean.edit("one.txt")
        with raises_fields(GuestRefused, mentions=next(iter(wrong))) as caught:
            self.place(clean, **wrong)
        assert caught.value.kind in {"bad_request", "too_large"}

    def test_unknown_window_is_refused(self, clean: RunningSession) -> None:
        with raises_fields(GuestRefused, kind="not_found") as caught:
            self.place(clean, x=1)
        assert caught.value.kind == "not_found"
