import ast
import warnings
from pathlib import Path
from typing import Any

import httpx
import pytest

import deskarena
from deskarena.client import Client
from deskarena.desktop_env import DesktopEnv


def silent() -> Client:
    """A client of a service that must not be asked."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"{request.url} was asked")

    return Client("http://127.0.0.1:9", transport=httpx.MockTransport(refuse))


class TestConstructor:
    def test_takes_what_osworld_takes_and_says_what_it_ignores(self) -> None:
        with pytest.warns(UserWarning, match="path_to_vm, headless, vm_ip: without meaning"):
            env = DesktopEnv("vmware", None, "vm.vmx", headless=True, client=silent(), vm_ip="10.0.0.1")
        assert (env.action_space, env.screen_width, env.os_type) == ("pyautogui", 1920, "Ubuntu")

    @pytest.mark.parametrize(
        ("others", "mistake", "words"),
        [
            ({"colour": "blue"}, TypeError, "no argument 'colour'.*Leave it out"),
            ({"a11y_backend": "win32"}, ValueError, "UI Automation"),
        ],
    )
    def test_ignored_arguments_are_errors(self, others: dict[str, Any], mistake: type[Exception], words: str) -> None:
        with pytest.raises(mistake, match=words):
            DesktopEnv(client=silent(), **others)

    def test_reset_takes_what_forks_pass_and_nothing_else(self) -> None:
        env = DesktopEnv(client=silent(), a11y_backend="uia")
        for others in ({"reset_vm": False}, {"proxy": {"host": "10.0.0.1"}}):
            with pytest.raises(ValueError, match="is not possible"):
                env.reset({}, **others)
        with pytest.raises(TypeError, match="speed"):
            env.reset({}, speed=2)
        with pytest.warns(UserWarning, match="vm_ip"), pytest.raises(ValueError, match="task_config"):
            env.reset(vm_ip="10.0.0.1", reset_vm=True, proxy=None)

    def test_defaults_need_no_warning_and_no_service(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            DesktopEnv(client=silent()).close()

    def test_an_unknown_action_space_is_a_mistake(self) -> None:
        with pytest.raises(ValueError, match="computer_13"):
            DesktopEnv(action_space="telepathy", client=silent())

    @pytest.mark.parametrize("size", [(1280, 720), [1280.0, 720.0], {"width": 1280, "height": 720}])
    def test_screen_size_is_read_in_every_form_of_two_numbers(self, size: Any) -> None:
        env = DesktopEnv(screen_size=size, client=silent())
        assert (env.screen_width, env.screen_height) == (1280, 720)

    @pytest.mark.parametrize("size", ["1280x720", (1280,), {"w": 1280, "h": 720}, (1280, None)])
    def test_other_screen_size_is_refused_in_a_sentence(self, size: Any) -> None:
        with pytest.raises(ValueError, match="screen_size must be"):
            DesktopEnv(screen_size=size, client=silent())

    def test_the_screen_comes_from_the_environment_as_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SCREEN_WIDTH", "1280")
        monkeypatch.setenv("SCREEN_HEIGHT", "800")
        assert DesktopEnv(client=silent()).screen_width == 1280


class TestOrder:
    def test_reset_comes_first(self) -> None:
        env = DesktopEnv(client=silent())
        with pytest.raises(RuntimeError):
            env.step("WAIT")
        with pytest.raises(RuntimeError):
            env.evaluate()
        with pytest.raises(ValueError, match="task_config"):
            env.reset()
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            env.controller.run_bash_script("ls")

    @pytest.mark.parametrize("config", ["say-hello", 5, {}, [{"id": "a"}], {"id": None}, {"config": []}])
    def test_reset_without_a_task_is_refused_in_a_sentence(self, config: Any) -> None:
        with pytest.raises(ValueError, match="task_config must be a task file's content"):
            DesktopEnv(client=silent()).reset(config)


class TestPackage:
    def test_needs_nothing_of_the_service(self) -> None:
        folder = Path(deskarena.__file__).parent
        imported = {
            name.split(".")[0]
            for file in folder.glob("*.py")
            for node in ast.walk(ast.parse(file.read_text()))
            for name in (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
        }
        assert not imported & {"backend", "worker", "fastapi", "sqlalchemy", "pydantic"}
