import json
from typing import Any

import httpx
import pytest
import typer

from backend.cli import reevaluation
from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode
from backend.cli.output import Output

PATH = "/episodes/018f0000-0000-7000-8000-000000000001/rescores"


def row(
    number: int = 1, state: str = "done", old: float | None = 0.0, new: float | None = 1.0, **more: Any
) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "episode_id": f"e{number}",
        "task": f"files/{number}",
        "task_set_version": 1,
        "state": state,
        "message": "",
        "old_score": old,
        "new_score": new,
        "make_current": True,
        **more,
    }


def api(*answers: list[dict[str, Any]]) -> Api:
    """A service whose list goes through these states."""
    left = list(answers)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"items": left.pop(0) if len(left) > 1 else left[0], "next": None})

    return Api("http://127.0.0.1:1", "", httpx.MockTransport(answer))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reevaluation, "LOOK_AGAIN_SECONDS", 0.01)


class TestWaitForRescores:
    def test_until_all_have_ended(self, capsys: pytest.CaptureFixture[str]) -> None:
        waiting = [row(1, "waiting", new=None), row(2)]
        with api(waiting, waiting, [row(1), row(2), row(3)]) as client:
            found = reevaluation.wait_for_rescores(client, PATH, waiting, None)
        assert [one["id"] for one in found] == ["r1", "r2"]
        assert capsys.readouterr().err == "1/2 rescored\n2/2 rescored\n"

    def test_the_time_is_over(self) -> None:
        waiting = [row(1, "waiting", new=None)]
        with api(waiting) as client, pytest.raises(CliError) as caught:
            reevaluation.wait_for_rescores(client, PATH, waiting, 0.02)
        assert caught.value.exit_code is ExitCode.WAIT_TIMED_OUT

    def test_no_rescores_to_wait_for(self) -> None:
        with api([]) as client:
            assert reevaluation.wait_for_rescores(client, PATH, [], None) == []


class TestShowRescores:
    def test_old_and_new_side_by_side(self, capsys: pytest.CaptureFixture[str]) -> None:
        rows = [row(1), row(2, old=1.0), row(3, make_current=False, judge={"model": "judge-2"})]
        reevaluation.show_rescores({"rescores": rows, "refused": []}, Output.TABLE)
        said = capsys.readouterr()
        lines = [line.split() for line in said.out.splitlines()]
        assert lines[0] == [
            *("task", "version", "judge", "state", "old", "score", "new", "score", "change", "counts", "why", "episode")
        ]
        assert lines[1] == ["files/1", "1", "-", "done", "0", "1", "+1", "new", "-", "e1"]
        assert lines[2] == ["files/2", "1", "-", "done", "1", "1", "same", "new", "-", "e2"]
        assert lines[3] == ["files/3", "1", "judge-2", "done", "0", "1", "+1", "old", "-", "e3"]
        assert said.err == "2 scores changed, 0 failed, 0 could not be rescored\n"

    def test_episodes_without_an_old_verdict(self, capsys: pytest.CaptureFixture[str]) -> None:
        reevaluation.show_rescores({"rescores": [row(old=None)], "refused": []}, Output.TABLE)
        assert capsys.readouterr().out.splitlines()[1].split()[-6:] == ["-", "1", "-", "new", "-", "e1"]

    def test_rescores_are_printed_as_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        reevaluation.show_rescores({"rescores": [row()], "refused": []}, Output.JSON)
        assert json.loads(capsys.readouterr().out)["rescores"][0]["new_score"] == 1.0

    def test_without_a_verdict_it_is_infrastructure(self) -> None:
        rows = [row(1, "failed", new=None, message="the metric broke")]
        with pytest.raises(typer.Exit) as caught:
            reevaluation.show_rescores({"rescores": rows, "refused": []}, Output.TABLE)
        assert caught.value.exit_code == ExitCode.INFRASTRUCTURE

    def test_refusals_are_listed(self, capsys: pytest.CaptureFixture[str]) -> None:
        refused = [{"episode_id": "e9", "task": "files/9", "reason": "lacks the file"}]
        with pytest.raises(typer.Exit):
            reevaluation.show_rescores({"rescores": [], "refused": refused}, Output.TABLE)
        assert "lacks the file" in capsys.readouterr().out
