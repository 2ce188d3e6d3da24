"""Calls that agents' code makes of a desktop, by the suites that it was written for. Runs on every real provider.

The calls are those of public agents and of their suites' documentation.
"""

import base64
import io
import zipfile
from collections.abc import Iterator

import pytest
from PIL import Image

from backend.domain.errors import GuestRefused
from backend.domain.model.trajectory import LARGEST_FILE, Action, ActionType, GuestCall
from backend.domain.ports.desktop import Desktop, Provider
from tests.contract.conftest import REAL_PROVIDERS, SPEC, WINE, WINE_MARKS, opened_provider
from tests.contract.kinds import SystemNames

TEXT = "naïve <tag> 中文 😀"


@pytest.fixture(scope="module", params=[*REAL_PROVIDERS, pytest.param(WINE, marks=WINE_MARKS)])
def provider(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """Every provider that can work here, and Wine's desktops."""
    with opened_provider(request.param, tmp_path_factory) as made:
        yield made


@pytest.fixture
def linux(desktop: Desktop) -> Desktop:
    if desktop.probe().platform != "Linux":
        pytest.skip("needs Linux: a call of its suites")
    return desktop


def printed(desktop: Desktop, code: str) -> str:
    """Output of Python code, run as an agent's action is."""
    result = desktop.perform(Action(type=ActionType.PYTHON, text=code))
    assert (result["returncode"], result["error"]) == (0, ""), result
    return str(result["output"]).replace("\r\n", "\n").strip()


def bash(desktop: Desktop, script: str, **more: object) -> dict[str, object]:
    call = GuestCall.model_validate({"language": "bash", **more})
    return dict(desktop.perform(Action(type=ActionType.SCRIPT, text=script, guest=call)))


class TestPython:
    def test_pyperclip_has_a_clipboard_behind_it(self, desktop: Desktop) -> None:
        assert printed(desktop, f"import pyperclip; pyperclip.copy({TEXT!r}); print(pyperclip.paste())") == TEXT
        assert desktop.clipboard() == TEXT

    def test_pyautogui_takes_a_screenshot(self, desktop: Desktop, kind: SystemNames) -> None:
        path = f"{kind.home}shot.png"
        code = f"import pyautogui; print(pyautogui.size() == pyautogui.screenshot({path!r}).size)"
        assert printed(desktop, code) == "True"
        with Image.open(io.BytesIO(desktop.read_file(path))) as picture:
            assert picture.size == (SPEC.screen.width, SPEC.screen.height)

    def test_pillow_is_installed(self, desktop: Desktop) -> None:
        assert printed(desktop, "from PIL import Image; print(Image.new('RGB', (2, 3)).size)") == "(2, 3)"

    def test_text_is_unicode(self, desktop: Desktop) -> None:
        assert printed(desktop, f"print({TEXT!r})") == TEXT

    def test_the_home_has_its_folders(self, desktop: Desktop, kind: SystemNames) -> None:
        home = kind.home.rstrip("\\/")
        code = f"import os; print(os.path.expanduser('~').lower() == {home.lower()!r}, sorted(os.listdir({home!r})))"
        same, _, names = printed(desktop, code).partition(" ")
        assert same == "True"
        assert {"Desktop", "Documents", "Downloads"} <= set(eval(names))  # noqa: S307 - a list that this test printed.


class TestPip:
    def test_installs_for_the_user(self, desktop: Desktop, kind: SystemNames) -> None:
        file = f"{kind.home}tiny-1.0-py3-none-any.whl"
        desktop.write_file(file, wheel())
        done = desktop.execute(f"pip install --no-index {file}", shell=True)  # noqa: S604
        assert done.returncode == 0, done.error
        code = "import site, tiny; print(tiny.__file__.startswith(site.getusersitepackages()), tiny.__file__)"
        same, _, place = printed(desktop, code).partition(" ")
        assert (same, place.lower().startswith(kind.home.lower())) == ("True", True), place


class TestPrograms:
    """OSWorld's and its agents' own: windows by wmctrl and xprop, xdotool, sudo."""

    def test_window_tools_list_and_activate_windows(self, linux: Desktop) -> None:
        linux.execute("xterm -T listed & until wmctrl -lx | grep -q listed; do sleep 0.1; done", shell=True)  # noqa: S604
        assert linux.execute(["wmctrl", "-a", "listed"]).returncode == 0
        assert linux.execute("xprop -root _NET_ACTIVE_WINDOW", shell=True).output.startswith("_NET_ACTIVE")  # noqa: S604
        assert "x:" in linux.execute(["xdotool", "getmouselocation"]).output

    @pytest.mark.parametrize("family", ["Liberation Serif", "DejaVu Sans", "Noto Color Emoji"])
    def test_has_the_family(self, linux: Desktop, family: str) -> None:
        assert linux.execute(["fc-list", family]).output

    @pytest.mark.parametrize("program", ["xclip", "xsel", "scrot", "python", "pip"])
    def test_program_is_installed(self, linux: Desktop, program: str) -> None:
        assert linux.execute(["which", program]).returncode == 0

    def test_sudo_works_or_says_why_not(self, linux: Desktop) -> None:
        done = linux.execute("echo password | sudo -S id -u", shell=True)  # noqa: S604
        if done.returncode == 0:
            assert done.output == "0\n"
        else:
            assert (done.returncode, len(done.error.splitlines()), "id -u" in done.error) == (127, 1, True)

    @pytest.mark.parametrize("language", ["zh-cn", "zh-tw", "ja", "ko", "ar", "ru"])
    def test_has_a_font(self, linux: Desktop, language: str) -> None:
        assert linux.execute(["fc-list", f":lang={language}"]).output

    def test_the_locale_is_the_suites_where_it_is_generated(self, linux: Desktop) -> None:
        done = linux.execute("locale charmap; locale 2>&1 | grep -c 'Cannot set'; echo $LANG; locale -a", shell=True)  # noqa: S604
        charmap, complaints, lang, *available = done.output.split()
        assert (charmap, complaints) == ("UTF-8", "0")
        assert lang == ("en_US.UTF-8" if "en_US.utf8" in available else "C.UTF-8")

    def test_english_dates_and_numbers(self, linux: Desktop) -> None:
        if "en_US" not in linux.execute("echo $LANG", shell=True).output:  # noqa: S604
            pytest.skip("needs the locale en_US.UTF-8 (`make setup` generates it)")
        script = "date -d 2026-11-27 +%x; numfmt --grouping 1234567; printf 'b\\nA\\na\\n' | sort"
        done = linux.execute(script, shell=True)  # noqa: S604
        assert done.output.split() == ["11/27/2026", "1,234,567", "a", "A", "b"]


class TestScripts:
    def test_bash_returns_output_and_exit_code(self, linux: Desktop) -> None:
        result = bash(linux, "echo one\ncd /nowhere 2>/dev/null\necho two >&2\nexit 3")
        assert result == {"returncode": 3, "output": "one\ntwo\n", "error": ""}

    def test_commands_do_not_read_the_rest_of_the_script(self, linux: Desktop) -> None:
        assert bash(linux, "cat\necho after")["output"] == "after\n"

    def test_script_runs_in_the_given_folder(self, linux: Desktop) -> None:
        assert bash(linux, "pwd", path="~/Desktop")["output"] == "/home/user/Desktop\n"

    def test_a_script_that_does_not_end_is_refused(self, linux: Desktop) -> None:
        with pytest.raises(GuestRefused) as refused:
            bash(linux, "sleep 60", timeout=0.5)
        assert refused.value.kind == "timeout"

    def test_python_script_returns_output_and_exit_code(self, desktop: Desktop) -> None:
        call = GuestCall(language="python")
        result = desktop.perform(Action(type=ActionType.SCRIPT, text="print(6 * 7)\n1 / 0", guest=call))
        assert (result["returncode"], result["output"].strip()) == (1, "42")
        assert "ZeroDivisionError" in result["error"]

    def test_windows_has_no_bash(self, desktop: Desktop) -> None:
        if desktop.probe().platform != "Windows":
            pytest.skip("needs Windows: Linux has bash")
        with pytest.raises(GuestRefused) as refused:
            bash(desktop, "true")
        assert refused.value.kind == "not_available"


class TestFiles:
    def test_a_written_file_is_read(self, desktop: Desktop, kind: SystemNames) -> None:
        data, path = bytes(range(256)), f"{kind.home}of agent/data.bin"
        call = GuestCall(path=path, data=base64.b64encode(data).decode())
        written = desktop.perform(Action(type=ActionType.WRITE_FILE, guest=call))
        result = desktop.perform(Action(type=ActionType.READ_FILE, guest=GuestCall(path=path)))
        assert base64.b64decode(result["data"]) == data
        assert (written["size"], written["sha256"]) == (result["size"], result["sha256"]) == (256, result["sha256"])

    def test_an_unreadable_file_is_a_result(self, desktop: Desktop, kind: SystemNames) -> None:
        desktop.write_file(f"{kind.home}large", b"x" * (LARGEST_FILE + 1))
        codes = [
            desktop.perform(Action(type=ActionType.READ_FILE, guest=GuestCall(path=f"{kind.home}{name}")))["returncode"]
            for name in ("nothing", "Desktop", "large")
        ]
        assert codes == [1, 1, 3]


def wheel() -> bytes:
    """The smallest package that pip installs without a network."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return out.getvalue()
