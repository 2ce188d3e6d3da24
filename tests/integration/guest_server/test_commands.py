"""Commands, code and what they may use up."""

import signal
import time

import psutil
import pytest

from backend.domain.errors import GuestRefused
from backend.domain.model.trajectory import Action, ActionType
from tests.error_codes import raises_fields
from tests.integration.guest_server.session import RunningSession, wait
from tests.processes import has_ended

pytestmark = pytest.mark.desktop


class TestExecute:
    @pytest.mark.parametrize("route", ["/execute", "/setup/execute"])
    def test_reply_has_osworld_s_form(self, session: RunningSession, route: str) -> None:
        reply = session.post(route, {"command": ["sh", "-c", "echo out; echo err >&2; exit 3"]}).json()
        expected = {"status": "success", "output": "out\n", "error": "err\n", "returncode": 3, "truncated": False}
        assert reply == expected

    def test_a_string_is_split_into_words(self, session: RunningSession) -> None:
        assert session.desktop.execute("printf '%s|' 'a b' ~/c").output == f"a b|{session.home}/c|"

    def test_a_shell_line(self, session: RunningSession) -> None:
        assert session.desktop.execute("echo $((1+1)) | tr 2 3", shell=True).output == "3\n"  # noqa: S604

    def test_runs_in_the_session(self, session: RunningSession) -> None:
        environment = session.desktop.execute("env").output
        assert f"HOME={session.home}\n" in environment
        assert f"DISPLAY={session.ready['display']}\n" in environment
        assert session.desktop.execute("pwd").output == f"{session.home}\n"

    def test_python_and_chrome_have_their_usual_names(self, session: RunningSession) -> None:
        assert session.desktop.execute("python --version").output.startswith("Python 3.")
        assert session.desktop.execute("command -v google-chrome", shell=True).returncode == 0  # noqa: S604

    @pytest.mark.parametrize("command", ["no-such-program", ["./no-such-program"]])
    def test_a_missing_program(self, session: RunningSession, command: str | list[str]) -> None:
        with raises_fields(GuestRefused, mentions="no-such-program") as caught:
            session.desktop.execute(command)
        assert caught.value.kind == "not_found"

    def test_at_the_deadline_the_whole_group_is_killed(self, session: RunningSession) -> None:
        start = time.monotonic()
        payload = {"command": "echo before; sleep 987 & sleep 987", "shell": True, "timeout": 2}
        response = session.http.post("/execute", json=payload)
        assert time.monotonic() - start < 60
        assert (response.status_code, response.json()["error"]) == (504, "timeout")
        assert response.json()["output"] == "before\n"
        wait(lambda: not session.processes("sleep 987"), lambda: str(session.processes("sleep 987")))

    def test_a_busy_command_is_killed_too(self, session: RunningSession) -> None:
        with pytest.raises(GuestRefused) as caught:
            session.desktop.execute("yes", timeout=0.5)
        assert caught.value.kind == "timeout"
        wait(lambda: not session.processes("yes"), "yes is gone")

    def test_background_program_does_not_delay_the_result(self, session: RunningSession) -> None:
        start = time.monotonic()
        assert session.desktop.execute("sleep 654 & echo done", shell=True).output == "done\n"  # noqa: S604
        assert time.monotonic() - start < 60
        assert session.processes("sleep 654")
        session.signal_own(signal.SIGTERM, "sleep 654")

    def test_output_is_cut_at_the_limit(self, session: RunningSession) -> None:
        reply = session.post(
            "/execute", {"command": "head -c 9000000 /dev/zero | tr '\\0' x; echo e >&2", "shell": True}
        )
        assert len(reply.json()["output"]) == 4 * 2**20
        assert (reply.json()["truncated"], reply.json()["error"], reply.json()["returncode"]) == (True, "e\n", 0)
        result = session.desktop.execute("head -c 9000000 /dev/zero | tr '\\0' x", shell=True)  # noqa: S604
        assert "truncated" in result.output[-100:]

    def test_binary_output_is_replaced(self, session: RunningSession) -> None:
        assert session.desktop.execute(["printf", r"a\377b"]).output == "a\ufffdb"

    def test_many_at_once(self, session: RunningSession) -> None:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(8) as pool:
            outputs = list(pool.map(lambda number: session.desktop.execute(["echo", str(number)]).output, range(24)))
        assert outputs == [f"{number}\n" for number in range(24)]

    @pytest.mark.parametrize(
        "payload",
        [
            {},
            {"command": ""},
            {"command": 5},
            {"command": "a 'b"},
            {"command": "a", "timeout": -1},
            {"command": "a", "shell": 7},
        ],
    )
    def test_wrong_parameters_are_a_bad_request(self, session: RunningSession, payload: dict[str, object]) -> None:
        response = session.http.post("/execute", json=payload)
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")


class TestExecuteWithVerification:
    def test_waits_for_a_window(self, clean: RunningSession) -> None:
        clean.write("v.txt")
        payload = {
            "command": "mousepad v.txt >/dev/null 2>&1 &",
            "shell": True,
            "verification": {"window_exists": "v.txt"},
            "max_wait_time": 20,
            "check_interval": 0.1,
        }
        reply = clean.post("/execute_with_verification", payload).json()
        assert reply["status"] == "success"
        assert reply["verification"] == {"window_exists": "v.txt"}
        assert reply["wait_time"] > 0
        assert any("v.txt" in window.title for window in clean.desktop.windows())

    def test_waits_for_a_command_to_succeed(self, session: RunningSession) -> None:
        mark = session.home / "mark"
        payload = {
            "command": f"(sleep 0.5; touch {mark}) >/dev/null 2>&1 &",
            "shell": True,
            "verification": {"command_success": f"test -e {mark}"},
            "check_interval": 0.05,
        }
        assert session.post("/setup/execute_with_verification", payload).json()["wait_time"] > 0.1

    def test_says_what_is_missing(self, session: RunningSession) -> None:
        payload = {
            "command": "echo ran",
            "shell": True,
            "verification": {"window_exists": "never"},
            "max_wait_time": 0.2,
        }
        response = session.http.post("/execute_with_verification", json=payload)
        assert (response.status_code, response.json()["error"]) == (500, "verification_failed")
        assert "'never'" in response.json()["message"]
        assert response.json()["output"] == "ran\n"


class TestRunPython:
    def test_reply_has_osworld_s_form(self, session: RunningSession) -> None:
        reply = session.post("/run_python", {"code": "import sys; print('out'); print('err', file=sys.stderr)"}).json()
        assert reply == {
            "status": "success",
            "message": "out\nerr\n",
            "need_more": False,
            "output": "out\n",
            "error": "err\n",
            "return_code": 0,
            "truncated": False,
        }

    def test_an_exception_is_reported(self, session: RunningSession) -> None:
        reply = session.post("/run_python", {"code": "1/0"}).json()
        assert (reply["status"], reply["return_code"]) == ("error", 1)
        assert "ZeroDivisionError" in reply["error"]

    def test_pyautogui_acts_on_this_desktop(self, session: RunningSession) -> None:
        result = session.desktop.run_python("import pyautogui; pyautogui.moveTo(33, 44); print(pyautogui.size())")
        assert (result.returncode, result.error) == (0, "")
        assert result.output == "Size(width=1280, height=800)\n"
        assert session.get("/cursor_position").json() == [33, 44]

    def test_code_longer_than_an_argument_may_be(self, session: RunningSession) -> None:
        code = f"text = {'x' * 300_000!r}\nprint(len(text), 'é')"
        assert session.desktop.run_python(code).output == "300000 é\n"

    def test_endless_code_is_killed(self, session: RunningSession) -> None:
        with pytest.raises(GuestRefused) as caught:
            session.desktop.run_python("while True: pass", timeout=0.5)
        assert caught.value.kind == "timeout"

    def test_the_workers_questions_see_no_module_of_the_user(self, session: RunningSession) -> None:
        """An agent that leaves a `json.py` in its home must not answer in place of the standard library."""
        session.desktop.write_file("~/json.py", b"print('forged'); raise SystemExit")
        try:
            assert session.desktop.run_python("import json; print(json.dumps(1))").output == "1\n"
            own = session.desktop.perform(Action(type=ActionType.PYTHON, text="import json"))
            assert own["output"] == "forged\n"
        finally:
            session.desktop.execute("rm -rf ~/json.py ~/__pycache__", shell=True)


class TestRunBashScript:
    def test_both_streams_in_one(self, session: RunningSession) -> None:
        reply = session.post("/run_bash_script", {"script": "a=(1 2)\necho ${a[1]}\necho err >&2\nexit 4"}).json()
        expected = {"status": "error", "output": "2\nerr\n", "error": "", "returncode": 4, "truncated": False}
        assert reply == expected

    def test_in_a_folder(self, session: RunningSession) -> None:
        reply = session.post("/run_bash_script", {"script": "pwd", "working_dir": "~/Desktop"}).json()
        assert reply["output"] == f"{session.home}/Desktop\n"

    def test_in_a_folder_that_is_not_there(self, session: RunningSession) -> None:
        response = session.http.post("/run_bash_script", json={"script": "pwd", "working_dir": "/nowhere"})
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


class TestLaunch:
    def test_does_not_wait(self, session: RunningSession) -> None:
        start = time.monotonic()
        session.desktop.launch(["sleep", "321"])
        assert time.monotonic() - start < 60
        assert wait(lambda: session.processes("sleep 321"), "the program")
        session.signal_own(signal.SIGTERM, "sleep 321")

    def test_leaves_no_zombie(self, session: RunningSession) -> None:
        session.desktop.launch("true")
        server = psutil.Process(session.process.pid)
        wait(lambda: not any(has_ended(child) for child in server.children()), "the ended program is reaped")

    def test_a_missing_program(self, session: RunningSession) -> None:
        with pytest.raises(GuestRefused) as caught:
            session.desktop.launch("no-such-program")
        assert caught.value.kind == "not_found"
