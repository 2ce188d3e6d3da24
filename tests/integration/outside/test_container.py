"""A `container` agent from the run to the score, with an engine that runs its image as a process of this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import Conflict, Unavailable
from backend.services import events
from backend.services.agents.agent_tokens import issue
from tests.error_codes import raises_code
from tests.factories.claims import note_task
from tests.factories.records import World
from tests.integration.outside.conftest import ApiThread
from tests.integration.worker.in_process import InProcessWorker, attempts, benchmark_of, episodes, finished, submit
from tests.waiting import until
from worker.agents.containers import Engine

ROOT = Path(__file__).resolve().parents[3]
ENGINE = '''#!{python}
"""A container engine for tests: a container is a process, its image names a program beside this one."""
import json, os, pathlib, signal, subprocess, sys
folder = pathlib.Path(__file__).parent
verb, rest = sys.argv[1], sys.argv[2:]
def value(name):
    return rest[rest.index(name) + 1]
if verb == "run":
    image = next(word for word in rest if word.startswith(("agent-", "deskarena-trial:")))
    if image.startswith("deskarena-trial:"):
        sys.exit()
    (folder / "line.json").write_text(json.dumps(sys.argv))
    inside = dict(word.split("=", 1) for word in rest if word.startswith("DESKARENA_SERVER="))
    source, target = value("--volume").rsplit(":", 1)
    inside["DESKARENA_SERVER"] = inside["DESKARENA_SERVER"].replace(target, source)
    inside["DESKARENA_AGENT_TOKEN"] = os.environ["DESKARENA_AGENT_TOKEN"]
    inside["PATH"] = os.environ["PATH"]
    inside["PYTHONPATH"] = {root!r}
    child = subprocess.Popen([sys.executable, folder / (image + ".py")], env=inside, start_new_session=True)
    kept = folder / (value("--name") + ".container")
    kept.write_text(json.dumps([child.pid, value("--label").split("=", 1)[1]]))
    code = child.wait()
    if kept.exists():
        kept.write_text(json.dumps([None, value("--label").split("=", 1)[1]]))
    sys.exit(code if code >= 0 else 128 - code)
if verb == "inspect":
    kept = folder / (rest[-1] + ".container")
    if not kept.exists():
        sys.exit("Error: No such container: " + rest[-1])
    print(json.dumps({"Status": "running" if json.loads(kept.read_text())[0] else "exited", "OOMKilled": False}))
if verb == "rm":
    for name in rest[1:]:
        kept = folder / (name + ".container")
        if kept.exists():
            pid = json.loads(kept.read_text())[0]
            kept.unlink(missing_ok=True)
            try:
                if pid:
                    os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
if verb == "ps":
    for kept in folder.glob("*.container"):
        print(kept.stem, json.loads(kept.read_text())[1])
'''
AGENT = """
import os
from deskarena.client import Client
line = Client(os.environ["DESKARENA_SERVER"], os.environ["DESKARENA_AGENT_TOKEN"])
after = -1
for body in {answers!r}:
    found = line.get("/agent/observation", after=after, wait=30)
    after = found["observation"]["index"]
    line.data(found["observation"]["picture"]["url"])
    line.post("/agent/actions", {{**body, "index": after}})
"""
EAGER = f"import deskarena.client\ndeskarena.client.PATIENCE = 0.0\n{AGENT}"
FIRST = """
import os, pathlib, signal, time
folder = pathlib.Path({folder!r})
if not (folder / "first").exists():
    (folder / "first").touch()
"""
KILLED_AT_FIRST = f"{FIRST}    os.kill(os.getpid(), signal.SIGKILL)\n"
WAITS_AT_FIRST = f"{FIRST}    while not (folder / 'go').exists(): time.sleep(0.05)\n"
SOLVES = [
    {"actions": [{"type": "TYPING", "text": "hello"}]},
    {"actions": [{"type": "HOTKEY", "keys": ["ctrl", "s"]}]},
    {"reply": "DONE"},
]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an engine that is first in PATH."""
    folder = tmp_path / "engine"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(ENGINE.replace("{python}", sys.executable).replace("{root!r}", repr(str(ROOT))))
    program.chmod(0o755)
    (folder / "agent-good.py").write_text(AGENT.format(answers=SOLVES))
    (folder / "agent-killed.py").write_text(KILLED_AT_FIRST.format(folder=str(folder)) + AGENT.format(answers=SOLVES))
    (folder / "agent-eager.py").write_text(WAITS_AT_FIRST.format(folder=str(folder)) + EAGER.format(answers=SOLVES))
    (folder / "agent-crash.py").write_text("raise SystemExit('no weights here')")
    (folder / "agent-idle.py").write_text("import time\nwhile True: time.sleep(0.1)")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


class RestartableApi:
    """The API, which a test may stop and start."""

    def __init__(self, settings: Settings, world: World) -> None:
        self._settings, self._world = settings, world
        self._server = ApiThread(settings, world)
        self.url = self._server.url

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server = ApiThread(self._settings, self._world, self._server.port)


@pytest.fixture
def api(world: World, redis_url: str, tmp_path: Path) -> Iterator[RestartableApi]:
    registry.load()
    events.configure(redis_url)
    made = RestartableApi(Settings(data_dir=tmp_path), world)
    yield made
    made.stop()
    events.configure("")


@pytest.fixture
def running(engine: Path, world: World, api: RestartableApi, tmp_path: Path) -> Iterator[World]:
    """A worker and the API on an installation of one task."""
    settings = Settings(data_dir=tmp_path, slots=2, poll_seconds=0.2, heartbeat_seconds=0.1, api_address=api.url)
    world.benchmark(benchmark_of(note_task()), name="notes")
    worker = InProcessWorker(settings, world)
    yield world
    worker.stop()


@pytest.fixture
def world(fresh_database: str) -> Iterator[World]:
    from tests.factories.records import world as made

    with made(fresh_database) as found:
        yield found


@pytest.mark.sampled(2)
class TestContainer:
    def test_solves_a_task_and_leaves_nothing(self, running: World, engine: Path) -> None:
        run = submit(running, "container", benchmark="notes", params={"image": "agent-good"})
        (episode,) = finished(running, run.id, 120.0)
        assert (episode.outcome, episode.score, episode.ended_by) == ("scored", 1.0, "done")
        line = json.loads((engine / "line.json").read_text())
        assert line[line.index("--network") + 1] == "none"
        assert not any("dka_" in word for word in line)
        until(lambda: not list(engine.glob("*.container")), 30.0, what="the container is gone")

    def test_container_exit_is_an_agent_error(self, running: World) -> None:
        run = submit(running, "container", benchmark="notes", params={"image": "agent-crash"})
        (episode,) = finished(running, run.id, 120.0)
        assert (episode.outcome, episode.ended_by) == ("scored", "agent_error")

    def test_container_exit_during_an_api_outage_is_retried(
        self, running: World, engine: Path, api: RestartableApi
    ) -> None:
        run = submit(running, "container", benchmark="notes", params={"image": "agent-eager"})
        until((engine / "first").exists, 60.0, what="the program runs")
        api.stop()
        (engine / "go").touch()
        (episode,) = episodes(running, run.id)
        first = until(lambda: [one for one in attempts(running, episode.id) if one.state == "lost"], 60.0)[0]
        api.start()
        assert first.failure_class == "cluster"
        assert "the API was unavailable when the container ended" in first.failure_message
        (episode,) = finished(running, run.id, 120.0)
        assert (episode.outcome, episode.score, episode.ended_by) == ("scored", 1.0, "done")

    def test_killed_container_is_retried(self, running: World, engine: Path) -> None:
        run = submit(running, "container", benchmark="notes", params={"image": "agent-killed"})
        (episode,) = finished(running, run.id, 120.0)
        assert (episode.outcome, episode.score, episode.ended_by) == ("scored", 1.0, "done")
        first, second = attempts(running, episode.id)
        assert (first.state, first.failure_class, second.state) == ("lost", "cluster", "scored")
        until(lambda: not list(engine.glob("*.container")), 30.0, what="the containers are gone")

    def test_a_database_that_is_away_for_a_moment_is_waited_for(
        self, running: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tries = iter([Unavailable("the database is away")] * 2)

        def issue_late(*args: Any, **more: Any) -> str:
            for error in tries:
                raise error
            return issue(*args, **more)

        monkeypatch.setattr("worker.bootstrap.assembly.issue", issue_late)
        run = submit(running, "container", benchmark="notes", params={"image": "agent-good"})
        (episode,) = finished(running, run.id, 120.0)
        assert (episode.outcome, episode.score) == ("scored", 1.0)
        assert [one.state for one in attempts(running, episode.id)] == ["scored"]

    def test_is_removed_when_the_run_is_cancelled(self, running: World, engine: Path) -> None:
        from backend.services.runs.runs import cancel_run

        run = submit(running, "container", benchmark="notes", params={"image": "agent-idle"})
        until(lambda: list(engine.glob("*.container")), 60.0, what="the container runs")
        running.do(cancel_run, run.id)
        (episode,) = finished(running, run.id, 60.0)
        assert [attempt.state for attempt in attempts(running, episode.id)] == ["cancelled"]
        until(lambda: not list(engine.glob("*.container")), 30.0, what="the container is gone")


class TestSweep:
    def test_removes_what_a_dead_worker_left(self, engine: Path) -> None:
        import socket

        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as left:
            (engine / "old.container").write_text(json.dumps([left.pid, f"{socket.gethostname()}:999999999:1"]))
            (engine / "other.container").write_text(json.dumps([left.pid, "elsewhere:1:1"]))
            assert Engine("docker").sweep() == 1
            assert left.wait(30) == -9
        assert [path.stem for path in engine.glob("*.container")] == ["other"]


class TestAvailability:
    def test_says_why_not(self, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        registry.load()
        monkeypatch.setattr("worker.agents.containers.ENGINES", ())
        world.benchmark(benchmark_of(note_task()), name="notes")
        worker = InProcessWorker(Settings(data_dir=tmp_path, slots=1), world)
        try:
            with raises_code(Conflict, "agent_not_runnable"):
                submit(world, "container", benchmark="notes")
        finally:
            worker.stop()
