"""`DesktopEnv` as an agent for OSWorld uses it, against a real service."""

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis
from PIL import Image

from backend.db.models import Run
from backend.db.repositories.attempts import attempts as attempts_repository
from backend.domain.errors import AttemptFailure, FailureClass
from backend.domain.ports.desktop import ExecResult
from backend.services.lifecycle import retry_policy
from backend.services.runs.views.run_page import RunPageQuery, run_page
from deskarena.desktop_env import DesktopEnv
from deskarena.errors import AttemptLost, EpisodeEnded, NotRunnable, NotSupported
from deskarena.guest_calls import LARGEST_FILE
from tests.error_codes import raises_code
from tests.integration.outside.conftest import OutsideService
from tests.integration.worker.in_process import attempts, episodes, steps
from tests.waiting import until

NOTE = {"id": "say-hello", "instruction": "Write hello into the note and save it.", "config": [], "evaluator": {}}
FLY = {"id": "fly", "instruction": "Write hello into the note and save it.", "evaluator": {"func": "infeasible"}}


@pytest.fixture
def env(service: OutsideService) -> Iterator[DesktopEnv]:
    made = DesktopEnv(
        action_space="computer_13", screen_size=(640, 480), client=service.client(), benchmark="notes", provider="fake",
        patience=120.0,
    )  # fmt: skip
    yield made
    made.close()


def keys(action_type: str, **parameters: Any) -> dict[str, Any]:
    return {"action_type": action_type, "parameters": parameters}


@pytest.fixture
def coder(service: OutsideService) -> Iterator[DesktopEnv]:
    """As OSWorld's runners make it, and with a desktop that has an interpreter."""
    with pytest.warns(UserWarning, match="provider_name, region, snapshot_name, headless, enable_proxy, vm_ip"):
        made = DesktopEnv(
            path_to_vm=None, action_space="pyautogui", provider_name="aws", region="us-east-1", snapshot_name="ami-1",
            screen_size=(640, 480), headless=True, os_type="Ubuntu", require_a11y_tree=False, enable_proxy=True,
            client_password="", cache_dir="cache", vm_ip="10.0.0.1", client=service.client(), benchmark="notes",
            provider="fake", patience=120.0, max_steps=6,
        )  # fmt: skip
    made.reset(task_config=NOTE)
    commands = service.worker.provider.opened[-1].fake.commands
    commands["bash"] = lambda _: ExecResult(returncode=3, output="one\ntwo\n")
    commands["python"] = lambda words: ExecResult(returncode=0, output=words[0].splitlines()[-1])
    yield made
    made.close()


@pytest.mark.sampled(3)
class TestController:
    """Results have the fields of OSWorld's `PythonController`."""

    def test_controller_runs_bash_and_python_scripts(self, coder: DesktopEnv) -> None:
        assert coder.controller.run_bash_script("ls", timeout=5, working_dir="~") == {
            "status": "error", "output": "one\ntwo\n", "error": "", "returncode": 3,
        }  # fmt: skip
        assert coder.controller.run_python_script("print(1)") == {
            "status": "success", "message": "print(1)", "need_more": False, "output": "print(1)", "error": "",
            "return_code": 0,
        }  # fmt: skip
        assert coder.controller.execute_python_command("pyautogui.size()") == {
            "status": "success", "output": "pyautogui.size()", "error": "", "returncode": 0,
        }  # fmt: skip

    def test_controller_uploads_and_reads_files(self, coder: DesktopEnv, tmp_path: Path) -> None:
        (tmp_path / "tool.py").write_bytes(b"import os\0")
        coder.setup_controller._upload_file_setup([{"local_path": str(tmp_path / "tool.py"), "path": "/tool.py"}])
        assert coder.controller.get_file("/tool.py") == b"import os\0"
        assert coder.controller.get_file("/nothing") is None

    def test_each_call_is_a_recorded_step(self, coder: DesktopEnv, service: OutsideService) -> None:
        coder.controller.run_bash_script("ls")
        coder.setup_controller._launch_setup("xterm -e top", shell=True)
        assert coder.controller.get_file("/nothing") is None
        coder.step("DONE")
        coder.evaluate()
        (episode,) = episodes(service.world, UUID(str(coder.run_id)))
        (attempt,) = attempts(service.world, episode.id)
        recorded = [step.actions[0] for step in steps(service.world, attempt.id) if step.actions]
        assert [one["type"] for one in recorded] == ["SCRIPT", "SCRIPT", "READ_FILE", "DONE"]
        assert recorded[1]["text"] == "setsid bash -c 'xterm -e top' </dev/null >/dev/null 2>&1 &"
        with service.world.work() as session:
            assert run_page(session, UUID(str(coder.run_id)), RunPageQuery({})).guest_calls == 3
        assert coder.action_history == ["DONE"]

    def test_the_record_has_no_content_of_files(self, coder: DesktopEnv, service: OutsideService) -> None:
        service.worker.provider.opened[-1].fake.files["/large"] = b"x" * 1000
        assert coder.controller.get_file("/large") == b"x" * 1000
        (episode,) = episodes(service.world, UUID(str(coder.run_id)))
        (attempt,) = attempts(service.world, episode.id)
        coder.evaluate()
        (result,) = steps(service.world, attempt.id)[0].results
        assert (set(result), result["size"]) == ({"size", "sha256"}, 1000)

    def test_wrong_arguments_are_refused_in_a_sentence_and_cost_no_step(self, coder: DesktopEnv) -> None:
        controller: Any = coder.controller
        setup: Any = coder.setup_controller
        for call, sentence in (
            (lambda: controller.run_bash_script(None), "script must be a text"),
            (lambda: controller.run_bash_script("ls", 30, 5), "working_dir must be a text"),
            (lambda: controller.run_bash_script("ls", None), "timeout must be a number of seconds"),
            (lambda: controller.run_bash_script("ls", 0), "timeout must be a number of seconds"),
            (lambda: controller.run_python_script(["print(1)"]), "script must be a text"),
            (lambda: controller.execute_python_command(None), "command must be a text"),
            (lambda: controller.get_file(None), "file_path must be a text"),
            (lambda: controller.get_vm_directory_tree(None), "path must be a text"),
            (lambda: setup._upload_file_setup([{"local_path": "/etc/hostname"}]), "local_path and path"),
            (lambda: setup._upload_file_setup({"local_path": "a", "path": "b"}), "local_path and path"),
            (lambda: setup._launch_setup(None), "a text or a list of texts"),
            (lambda: setup._launch_setup("xterm 'a"), "a text or a list of texts"),
            (lambda: setup._launch_setup(" ", shell=True), "the command is empty"),
            (lambda: setup._launch_setup([]), "the command is empty"),
            (lambda: coder.step(None), "step takes WAIT"),
        ):  # fmt: skip
            with pytest.raises((TypeError, ValueError), match=sentence):
                call()
        assert coder.step("WAIT")[2] is False, "the calls have not used up its 6 steps"
        assert coder.action_history == ["WAIT"]

    def test_id_of_a_task_is_enough_and_done_may_end_code(self, coder: DesktopEnv) -> None:
        with raises_code(NotRunnable, "unknown_task", mentions="fly"):
            coder.reset({"instruction": NOTE["instruction"]})
        assert coder.reset({"id": NOTE["id"]})["instruction"] == NOTE["instruction"]
        assert coder.step("pyautogui.press('a')\nDONE")[2:] == (True, {"done": True})

    def test_unsupported_options_are_named(self, coder: DesktopEnv, env: DesktopEnv, tmp_path: Path) -> None:
        with raises_code(NotSupported, "script_too_long", mentions="3600"):
            coder.controller.run_bash_script("sleep 1000", timeout=3600)
        (tmp_path / "large").write_bytes(b"x" * (LARGEST_FILE + 1))
        with raises_code(NotSupported, "file_too_large", mentions="/large"):
            coder.setup_controller._upload_file_setup([{"local_path": str(tmp_path / "large"), "path": "/large"}])
        with pytest.raises(AttributeError, match="_chrome_open_tabs_setup"):
            coder.setup_controller._chrome_open_tabs_setup([])
        with raises_code(NotSupported, "no_code", mentions="computer_13"):
            env.controller.run_bash_script("ls")

    def test_a_budget_that_a_call_uses_up_ends_the_next_step(self, coder: DesktopEnv) -> None:
        for _ in range(5):
            coder.controller.run_bash_script("ls")
        with pytest.raises(EpisodeEnded):
            coder.controller.run_bash_script("ls")
        assert coder.step("pyautogui.click(1, 1)")[2:] == (True, {"ended": True})
        assert coder.evaluate() == 0.0

    def test_a_later_screenshot_shows_the_current_screen(
        self, coder: DesktopEnv, service: OutsideService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("deskarena.desktop_env.FRESH_SECONDS", 0.0)
        before = coder.controller.get_screenshot()
        service.worker.provider.opened[-1].fake.open_windows[-1].text = "started at last"
        assert coder._get_obs()["screenshot"] != before


@pytest.mark.sampled(3)
class TestDesktopEnv:
    def test_several_tasks_in_a_row(self, env: DesktopEnv, service: OutsideService) -> None:
        seen = env.reset(task_config=NOTE)
        assert set(seen) == {"screenshot", "accessibility_tree", "terminal", "instruction"}
        with Image.open(io.BytesIO(seen["screenshot"])) as picture:
            assert (picture.format, picture.size) == ("PNG", (640, 480))
        assert "<desktop-frame" in seen["accessibility_tree"]
        assert seen["instruction"] == NOTE["instruction"]
        for action in (keys("TYPING", text="hello"), keys("HOTKEY", keys=["ctrl", "s"])):
            seen, reward, done, info = env.step(action, 0)
            assert (reward, done, info) == (0, False, {})
        assert env.step("DONE")[1:] == (0, True, {"done": True})
        assert env.evaluate() == 1.0

        env.reset(task_config=FLY)
        assert env.step("FAIL")[2:] == (True, {"fail": True})
        assert env.evaluate() == 1.0

        env.reset(task_config=NOTE)
        env.step(keys("TYPING", text="good bye"))
        assert env.evaluate() == 0.0
        assert env.result["ended_by"] == "steps"

        run_id = env.run_id
        env.close()
        client = service.client()
        run = client.get(f"/runs/{run_id}", include="episodes")
        assert (run["accepts_episodes"], run["status"], len(run["episodes"])) == (False, "completed", 3)
        client.close()

    def test_an_episode_that_is_left_is_ended(self, env: DesktopEnv, service: OutsideService) -> None:
        env.reset(task_config=NOTE)
        env.reset(task_config=NOTE)
        env.step("DONE")
        env.evaluate()
        assert env.run_id is not None
        client = service.client()
        found = client.get(f"/runs/{env.run_id}/episodes")["items"]
        assert [one["ended_by"] for one in found] == ["steps", "done"]
        client.close()

    def test_an_invalid_action_is_reported(self, env: DesktopEnv) -> None:
        env.reset(task_config=NOTE)
        assert "could not be carried out" in env.step(keys("CLICK", x=9000, y=1))[3]["note"]

    def test_methods_that_agents_use(self, env: DesktopEnv) -> None:
        seen = env.reset(task_config=NOTE)
        assert env.controller.get_screenshot() == seen["screenshot"] == env.render()
        assert env._get_obs() == seen
        assert (env.vm_platform, env.vm_screen_size) == ("Linux", {"width": 640, "height": 480})
        env.controller.start_recording()
        env.controller.end_recording("film.mp4")
        with pytest.raises(AttributeError, match="get_vm_wallpaper is not available"):
            env.controller.get_vm_wallpaper()

    def test_a_task_that_is_not_there(self, env: DesktopEnv) -> None:
        with raises_code(NotRunnable, "unknown_task"):
            env.reset(task_config={"id": "nothing", "instruction": "Do nothing at all."})

    def test_an_answer_that_the_broker_forgot_is_given_again(self, env: DesktopEnv, redis_url: str) -> None:
        """A broker that ends between accepting an answer and delivering it does not make the worker wait for ever."""
        with redis.from_url(redis_url) as broker, ThreadPoolExecutor(1) as agent:
            with pytest.MonkeyPatch.context() as away:
                away.setattr("backend.services.agents.agent_channel_store.next_messages", lambda *_: None)
                env.reset(task_config=NOTE)
                stepping = agent.submit(env.step, keys("TYPING", text="hello"))
                until(lambda: broker.keys("deskarena:line:*:said"), what="the answer is taken")
                broker.delete(*broker.keys("deskarena:line:*"))
            assert stepping.result(60.0)[2] is False
        env.step(keys("HOTKEY", keys=["ctrl", "s"]))
        env.step("DONE")
        assert env.evaluate() == 1.0

    def test_lost_desktop_continues_the_same_episode(self, env: DesktopEnv, service: OutsideService) -> None:
        env.reset(task_config=NOTE)
        service.worker.provider.opened[-1].fake.die("killed by the test")
        with pytest.raises(AttemptLost):
            env.step(keys("TYPING", text="hello"))
        env.reset(task_config=NOTE)
        env.step(keys("TYPING", text="hello"))
        env.step(keys("HOTKEY", keys=["ctrl", "s"]))
        env.step("DONE")
        assert env.evaluate() == 1.0
        assert env.run_id is not None
        (episode,) = episodes(service.world, UUID(env.run_id))
        assert episode.attempt_count == 2

    def test_an_agent_that_stops_after_a_loss_has_no_score_of_0(self, env: DesktopEnv, service: OutsideService) -> None:
        env.reset(task_config=NOTE)
        service.worker.provider.opened[-1].fake.die("killed by the test")
        with pytest.raises(AttemptLost):
            env.step(keys("TYPING", text="hello"))
        with pytest.raises(AttemptLost):
            env.evaluate()
        run = env.run_id
        assert run is not None
        env.close()
        (episode,) = episodes(service.world, UUID(run))
        assert (episode.state, episode.score, episode.attempt_count) == ("lost", None, 1)
        assert service.client().get(f"/runs/{run}")["status"] == "completed"

    def test_a_loss_that_the_agent_s_answer_finds_is_reported_as_one(
        self, env: DesktopEnv, service: OutsideService
    ) -> None:
        env.reset(task_config=NOTE)
        assert env.run_id is not None
        run, opened = UUID(env.run_id), service.worker.provider.opened[-1]
        (episode,) = episodes(service.world, run)
        opened.fake.die("killed by the test")
        with service.world.work() as session:
            (attempt,) = attempts_repository.of_episode(session, episode.id)
            killed = AttemptFailure(FailureClass.GUEST, "desktop_gone", "killed by the test")
            retry_policy.lose(session, session.get_one(Run, run), attempt.id, killed)
        with pytest.raises(AttemptLost):
            env.step(keys("TYPING", text="hello"))
        env.reset(task_config=NOTE)
        env.step("DONE")
        assert env.evaluate() == 0.0
