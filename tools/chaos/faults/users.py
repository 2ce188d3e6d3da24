"""Users and messages: runs are paused, resumed and cancelled in the middle; messages come twice or not at all."""

from contextlib import suppress

import httpx
import redis
from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy import text

from tools.chaos.faults.base import Fault, Scene, kind
from tools.chaos.load import insist

MESSAGES = ("worker.tasks.wake", "worker.tasks.reap")


class PauseRun(Fault):
    """A run under way is paused and resumed by its user."""

    def __init__(self, share: float, seconds: float) -> None:
        self.share, self.seconds = share, seconds
        self._run: str | None = None

    def inject(self, scene: Scene) -> str:
        self._run = _run(scene, self.share)
        if self._run is None:
            return "no run is under way"
        _post(scene, self._run, "pause")
        return f"run {self._run} paused for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        if self._run is not None:
            _post(scene, self._run, "resume")


class CancelRun(Fault):
    """A run under way is cancelled by its user."""

    def __init__(self, share: float) -> None:
        self.share = share

    def inject(self, scene: Scene) -> str:
        run = _run(scene, self.share)
        if run is None:
            return "no run is under way"
        # Recorded first: the request may succeed and its response get lost.
        scene.cancelled.add(run)
        _post(scene, run, "cancel")
        return f"run {run} cancelled"


class RepeatMessages(Fault):
    """Every kind of message is sent many times."""

    def __init__(self, number: int) -> None:
        self.number = number

    def inject(self, scene: Scene) -> str:
        options = {"socket_timeout": 2.0, "socket_connect_timeout": 2.0, "max_retries": 0}
        with Celery("chaos", broker=scene.stack.redis_url, set_as_current=False) as app:
            app.conf.update(
                broker_transport_options=options, broker_connection_retry=False, broker_connection_timeout=2.0
            )
            try:
                for _ in range(self.number):
                    for name in MESSAGES:
                        app.send_task(name, ignore_result=True, retry=False)
            except (OperationalError, OSError) as error:
                return f"nothing: the broker takes no messages: {error}"
        return f"{self.number} times each of {', '.join(MESSAGES)}"


class DropMessages(Fault):
    """The broker loses all data, including messages."""

    def inject(self, scene: Scene) -> str:
        try:
            redis.Redis.from_url(scene.stack.redis_url, socket_timeout=2.0).flushall()
        except redis.RedisError as error:
            return f"the broker is unavailable: {error}"
        return "the broker has forgotten everything"


def _run(scene: Scene, share: float) -> str | None:
    query = """SELECT id FROM run WHERE state IN ('queued', 'running') AND NOT accepts_episodes ORDER BY id"""
    with scene.stack.world.work() as session:
        run_ids = [str(run) for run in session.scalars(text(query))]
    return run_ids[min(len(run_ids) - 1, int(share * len(run_ids)))] if run_ids else None


def _post(scene: Scene, run: str, command: str) -> None:
    # The run may have ended in between; then there is nothing to pause any more.
    with suppress(httpx.HTTPStatusError):
        insist(lambda: scene.stack.api.post(f"/api/v1/runs/{run}/{command}"))


kind(
    "pause run",
    "a user pauses a run in the middle and resumes it",
    lambda r: PauseRun(r.random(), r.uniform(2.0, 10.0)),
)
kind("cancel run", "a user cancels a run in the middle", lambda r: CancelRun(r.random()))
kind("duplicate messages", "messages arrive many times", lambda r: RepeatMessages(r.randint(10, 60)))
kind("lose messages", "the broker loses all messages", lambda _: DropMessages())
