"""The commands of scheduling against the product's API, over a socket, on a real database."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text

from backend.cli.errors import ExitCode
from backend.cli.main import main
from backend.config import Settings
from backend.services import events
from backend.services.benchmarks.benchmarks import latest_task_set, list_tasks
from backend.services.scheduling import claims
from tests import databases
from tests.factories.records import World, world
from tests.integration.outside.conftest import ApiThread

SUBMIT = ("run", "submit", "--benchmark", "starter", "--agent", "noop")


@dataclass
class SharedService:
    """The installation of this file's tests: three tasks, two slots."""

    url: str
    world: World


@pytest.fixture(scope="module")
def served(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedService]:
    """An installation without a broker."""
    events.configure("")
    with databases.copied(postgres_server) as url, world(url) as made:
        made.benchmark()
        made.worker()
        server = ApiThread(Settings(data_dir=tmp_path_factory.mktemp("cli")), made)
        yield SharedService(server.url, made)
        server.stop()


@pytest.fixture
def service(served: SharedService) -> Iterator[SharedService]:
    """The same, with nothing in the queue, slots free and no rules left of the test before."""
    yield served
    with served.world.work() as session:
        session.execute(text("TRUNCATE run, lease CASCADE"))
        session.execute(text("UPDATE project SET weight = 1, quota = '{}', reserved = '{}'"))


@pytest.fixture
def deskarena(service: SharedService, capsys: pytest.CaptureFixture[str]) -> Any:
    """Calls the command in this process: (exit code, stdout, stderr)."""

    def call(*words: str) -> tuple[int, str, str]:
        code = 0
        try:
            main([*words, "--server", service.url])
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def begin(service: SharedService) -> int:
    """Begins as many episodes as the rules allow; how many."""
    with service.world.work() as session:
        worker = session.scalar(text("SELECT id FROM worker"))
        return len(claims.claim_many(session, worker, "local", 9))


class TestRun:
    def test_from_submission_to_resume(self, service: SharedService, deskarena: Any) -> None:
        code, out, _ = deskarena(*SUBMIT, "--priority", "3", "--concurrency", "1")
        run = out.strip()
        assert code == 0
        assert begin(service) == 1
        _, shown, _ = deskarena("run", "show", run)
        assert "1 of 2 slots: parallel limit of the run" in shown
        assert "waiting: parallel limit of the run reached: 1 of 1; starts about " in shown
        assert deskarena("run", "pause", run)[1] == "paused: 2 episodes changed\n"
        _, changed, _ = deskarena("run", "update", run, "--concurrency", "0", "--priority", "-2", "-o", "json")
        assert (json.loads(changed)["concurrency"], json.loads(changed)["priority"]) == (None, -2)
        assert begin(service) == 0
        assert deskarena("run", "resume", run)[0] == 0
        assert begin(service) == 1

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--priority", "11"), "must be at most 10"),
            (("--concurrency", "0"), "must be at least 1"),
        ],
    )
    def test_bad_numbers_are_2(self, deskarena: Any, words: tuple[str, ...], said: str) -> None:
        code, _, err = deskarena(*SUBMIT, *words)
        assert (code, said in err) == (ExitCode.USAGE, True)

    def test_update_says_what_to_give(self, deskarena: Any) -> None:
        run = deskarena(*SUBMIT)[1].strip()
        code, _, err = deskarena("run", "update", "nightly", "--priority", "1")
        assert (code, "'nightly' is not an id. List ids with `deskarena run list`" in err) == (ExitCode.USAGE, True)
        code, _, err = deskarena("run", "update", run)
        assert code == ExitCode.USAGE
        assert {"--priority", "--concurrency"} <= set(re.findall(r"--\w+", err))
        deskarena("run", "cancel", run)
        code, _, err = deskarena("run", "update", run, "--priority", "1")
        assert (code, "the run is cancelled" in err) == (ExitCode.USAGE, True)


class TestProject:
    def test_set_and_list(self, service: SharedService, deskarena: Any) -> None:
        deskarena(*SUBMIT)
        code, out, _ = deskarena("project", "set", "default", "--weight", "2", "--quota", "all=1,k8s=8")
        assert (code, "all=1 k8s=8" in out) == (0, True)
        assert begin(service) == 1
        deskarena("project", "set", "default", "--quota", "", "--reserved", "local=1")
        (row,) = json.loads(deskarena("project", "list", "-o", "json")[1])
        assert row == {"name": "default", "weight": 2.0, "quota": {}, "reserved": {"local": 1}, "in_use": {"local": 1}}

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("default",), "Nothing to change. Give --weight, --quota or --reserved."),
            (("default", "--quota", "eight"), "--quota: expected words like k8s=8, not 'eight'"),
            (("default", "--reserved", "local=-1"), "--reserved: expected words like k8s=8, not 'local=-1'"),
            (("default", "--quota", "k8s=8,k8s=9"), "--quota: k8s occurs twice"),
            (("default", "--quota", "k8=8"), "quota.k8: there is no provider 'k8', only all, k8s, local, qemu"),
            (("default", "--weight", "0"), "must be at least 0.01"),
            (("nobody", "--weight", "1"), "`deskarena project list`"),
        ],
    )
    def test_bad_rules_are_2_and_say_what_to_do(self, deskarena: Any, words: tuple[str, ...], said: str) -> None:
        deskarena(*SUBMIT)
        code, _, err = deskarena("project", "set", *words)
        assert (code, said in err) == (ExitCode.USAGE, True), err


class TestQuarantine:
    def test_set_list_and_lift(self, deskarena: Any, service: SharedService) -> None:
        with service.world.work() as session:
            newest = latest_task_set(session, "starter")
            key = list_tasks(session, newest.id).items[0].key
        reason = ("--reason", "the checker fails on every second day", "--by", "ada")
        code, out, _ = deskarena("quarantine", "set", "starter", key, *reason)
        assert (code, out) == (0, f"{key} is quarantined; not counted: no results yet\n")
        code, out, _ = deskarena("quarantine", "list", "-o", "json")
        assert [(row["task"], row["set_by"]) for row in json.loads(out)] == [(key, "ada")]
        code, out, error = deskarena("quarantine", "set", "starter", key, *reason, "-o", "json")
        assert (code, json.loads(error)["error"]["code"]) == (ExitCode.USAGE, "already_quarantined")
        assert deskarena("quarantine", "lift", "starter", key, "--reason", "mended")[0] == 0
        assert json.loads(deskarena("quarantine", "list", "-o", "json")[1]) == []

    def test_unknown_task_is_refused(self, deskarena: Any) -> None:
        code, _, error = deskarena("quarantine", "lift", "starter", "files/none", "--reason", "x", "-o", "json")
        assert (code, json.loads(error)["error"]["code"]) == (ExitCode.USAGE, "unknown_task_key")
