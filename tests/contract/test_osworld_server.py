"""`OSWorldServer` in front of a real desktop: requests as OSWorld's own tools send them."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from backend.domain.model.trajectory import LARGEST_FILE, Action
from backend.domain.ports.desktop import Desktop, Provider
from deskarena.controller import Controller
from deskarena.episode import Observation
from deskarena.osworld_server import OSWorldServer
from tests.contract.conftest import SPEC, opened_provider
from tests.waiting import until


class DirectDesktop:
    """Each step goes straight to the desktop; the observation is what the service would show."""

    screen_width, screen_height = SPEC.screen.width, SPEC.screen.height

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self.steps: list[str] = []
        self.controller = Controller(self, self._newest, self.call)

    def call(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        self.steps.append(str(action["type"]))
        return self._desktop.perform(Action.model_validate(action))

    def step(self, action: Any) -> None:
        raise AssertionError(f"{action} is no request")

    def _newest(self) -> Observation:
        shown = {"platform": "Linux", "accessibility_tree": self._desktop.accessibility_tree(), "terminal": None}
        frame = self._desktop.screenshot()
        return Observation(0, 1, shown, frame.data, frame.media_type)


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with opened_provider("local", tmp_path_factory) as made:
        yield made


@pytest.fixture
def leased(desktop: Desktop) -> DirectDesktop:
    return DirectDesktop(desktop)


@pytest.fixture
def http(leased: DirectDesktop) -> Iterator[httpx.Client]:
    with OSWorldServer(leased) as server, httpx.Client(base_url=server.address, timeout=60.0, trust_env=False) as made:
        yield made


def executed(http: httpx.Client, command: Any, *, shell: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = http.post("/execute", json={"command": command, "shell": shell}).json()
    return result


class TestScreen:
    def test_is_read_without_a_step(self, http: httpx.Client, leased: DirectDesktop) -> None:
        assert http.get("/screenshot").content.startswith(b"\x89PNG")
        assert "<desktop-frame" in http.get("/accessibility", params={"backend": "uia"}).json()["AT"]
        assert http.get("/terminal").json() == {"output": None, "status": "success"}
        assert http.get("/platform").text == "Linux"
        size = {"width": SPEC.screen.width, "height": SPEC.screen.height}
        assert http.post("/screen_size").json() == size
        assert leased.steps == []

    def test_pyautogui_is_mouse_and_keyboard(self, http: httpx.Client, leased: DirectDesktop) -> None:
        code = "import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.moveTo(21, 34)"
        assert executed(http, ["python", "-c", code])["status"] == "success"
        assert http.get("/cursor_position").json() == [21, 34]
        assert leased.steps == ["PYTHON", "PYTHON"]


class TestCommands:
    def test_words_and_home(self, http: httpx.Client) -> None:
        assert executed(http, "mkdir -p ~/Desktop/ours")["returncode"] == 0
        done = executed(http, ["ls", "-d", "~/Desktop/ours"])
        assert done == {"status": "success", "output": "/home/user/Desktop/ours\n", "error": "", "returncode": 0}
        tree = http.post("/list_directory", json={"path": "/home/user/Desktop/ours"}).json()["directory_tree"]
        assert tree == {"type": "directory", "name": "ours", "children": []}

    def test_a_shell_keeps_its_streams_apart(self, http: httpx.Client) -> None:
        done = executed(http, "echo out; echo wrong >&2; exit 3", shell=True)  # noqa: S604 - in the guest.
        assert done == {"status": "success", "output": "out\n", "error": "wrong\n", "returncode": 3}

    def test_no_such_program(self, http: httpx.Client) -> None:
        reply = http.post("/setup/execute", json={"command": ["no-such-program"], "shell": False})
        assert (reply.status_code, reply.json()["status"]) == (500, "error")
        assert "no-such-program" in reply.json()["message"]

    def test_python_and_bash_scripts_run(self, http: httpx.Client) -> None:
        assert http.post("/run_python", json={"code": "print(6 * 7)"}).json()["output"] == "42\n"
        script = {"script": "pwd", "timeout": 20, "working_dir": "~/Desktop"}
        assert http.post("/run_bash_script", json=script).json()["output"] == "/home/user/Desktop\n"

    def test_window_is_activated_and_closed(self, http: httpx.Client) -> None:
        assert http.post("/setup/launch", json={"command": ["xterm", "-T", "our window"]}).status_code == 200
        window = {"window_name": "our window", "strict": True}
        until(lambda: http.post("/setup/activate_window", json=window).status_code == 200, 30.0, what="a window")
        assert http.post("/setup/close_window", json=window).status_code == 200
        until(lambda: http.post("/setup/activate_window", json=window).status_code == 404, 30.0, what="none")


class TestFiles:
    @pytest.mark.parametrize("size", [5, 2 * LARGEST_FILE + 5])
    def test_files_of_any_size_roundtrip(self, http: httpx.Client, size: int) -> None:
        data, path = bytes(range(5)) * (size // 5), "~/of tool/data.bin"
        form = {"files": {"file_data": ("data.bin", data)}, "data": {"file_path": path}}
        assert http.post("/setup/upload", **form).status_code == 200  # type: ignore[arg-type]
        assert http.post("/file", data={"file_path": "/home/user/of tool/data.bin"}).content == data
        assert executed(http, ["ls", "/home/user/of tool"])["output"] == "data.bin\n"

    def test_missing_file_is_404(self, http: httpx.Client) -> None:
        assert http.post("/file", data={"file_path": "/nowhere"}).status_code == 404


class TestMistakes:
    def test_invalid_requests_get_errors(self, http: httpx.Client) -> None:
        wrong = [
            http.get("/shutdown"),
            http.post("/execute", content=b"{", headers={"Content-Type": "application/json"}),
            http.post("/execute", json={}),
            http.post("/setup/upload", data={"file_path": "x", "file_data": "text"}),
        ]
        assert [reply.status_code for reply in wrong] == [501, 400, 400, 400]
        assert all(reply.json()["status"] == "error" for reply in wrong)
