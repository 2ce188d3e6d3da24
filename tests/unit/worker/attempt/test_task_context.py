"""A task's browser, HTTP, assets, outputs, secrets and judgement, beside its desktop."""

from typing import Any

import pytest

from backend.domain.errors import ClusterLost, EvaluatorFailed, GuestLost, NotFound, TaskSetupFailed
from backend.domain.ports.desktop import OpenDesktop
from backend.domain.ports.web import Browser
from tests.error_codes import raises_code, raises_fields
from tests.factories.starter_tasks import make_task
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop
from tests.fakes.web import FakeWeb
from worker.attempt.task_context import TaskContext
from worker.devtools.servers import Servers, devtools


class Opened:
    """The part of OpenDesktop that is used here."""

    def __init__(self, address: str = "unix:/nowhere/api") -> None:
        self.address = address

    def stream_address(self) -> tuple[str, str]:
        return self.address, "secret"


def servers(made: list[tuple[int, FakeBrowser]]) -> Servers:
    def make(_opened: OpenDesktop, port: int) -> Browser:
        made.append((port, FakeBrowser()))
        return made[-1][1]

    opened: Any = Opened()
    return Servers(opened, make)


def context(made: list[tuple[int, FakeBrowser]], **more: Any) -> TaskContext:
    def fetch(sha256: str) -> bytes:
        raise NotFound(f"no artifact {sha256}")

    return TaskContext(FakeDesktop(), make_task(), FakeWeb(), {"a": "1" * 64}, fetch, servers(made), **more)


class TestBrowser:
    def test_opens_one_browser_per_port(self) -> None:
        made: list[tuple[int, FakeBrowser]] = []
        task = context(made)
        assert task.browser() is task.browser(9222)
        assert task.browser(1337) is not task.browser()
        assert [port for port, _ in made] == [9222, 1337]

    def test_published_port_is_an_alias_of_the_internal_port(self) -> None:
        opened: Any = Opened()
        for port, ports in ((9222, (9222, 1337)), (1337, (1337,))):
            assert devtools(opened, port).ports == ports

    def test_close_is_idempotent(self) -> None:
        made: list[tuple[int, FakeBrowser]] = []
        reached = servers(made)
        reached.browser(9222)
        reached.close()
        reached.close()


class TestHttp:
    def test_dead_desktop_raises_guest_lost(self) -> None:
        with pytest.raises(GuestLost):
            context([]).http(8080, "/requests/status.xml")


class TestAsset:
    def test_unknown_asset_fails_setup(self) -> None:
        with raises_code(TaskSetupFailed, "asset_missing"):
            context([]).asset("b")

    def test_missing_artifact_is_a_cluster_loss(self) -> None:
        with raises_code(ClusterLost, "service_unavailable"):
            context([]).asset("a")


class TestOutputsAndSecrets:
    def test_last_output_of_a_name_is_stored(self) -> None:
        task = context([])
        assert task.output("wmctrl.out") is None
        task.keep("wmctrl.out", b"1")
        task.keep("wmctrl.out", b"2")
        assert task.output("wmctrl.out") == b"2"

    def test_missing_secret_fails_setup(self) -> None:
        with raises_code(TaskSetupFailed, "secret_missing"):
            context([]).secret("googledrive_settings")
        assert context([], secrets=str.upper).secret("a") == "A"


class TestJudgement:
    def test_judge_is_called_once(self) -> None:
        asked: list[int] = []

        def judge() -> bytes:
            asked.append(1)
            return b"{}"

        task = context([], judge=judge)
        assert task.judgement() == task.judgement() == b"{}"
        assert len(asked) == 1

    def test_failed_judge_is_not_called_again(self) -> None:
        asked: list[int] = []

        def judge() -> bytes:
            asked.append(1)
            raise EvaluatorFailed("no answer")

        task = context([], judge=judge)
        for _ in range(2):
            with raises_fields(EvaluatorFailed, message="no answer"):
                task.judgement()
        assert len(asked) == 1

    def test_run_without_a_judge_is_refused(self) -> None:
        with raises_code(EvaluatorFailed, "no_judge"):
            context([]).judgement()
