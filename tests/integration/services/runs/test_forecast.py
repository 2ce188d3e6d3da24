"""The form's forecast is what runs: forecast and submission ask for the same reasons."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from backend.db.models import Episode, Task
from backend.domain.model.reason import ReasonCode
from backend.domain.model.run import ScreenSize
from backend.services.benchmarks import quarantine
from backend.services.benchmarks.benchmarks import latest_task_set, list_tasks
from backend.services.capacity.run_request import RunRequest
from backend.services.runs.forecast import Forecast, forecast
from tests.factories.records import World, capabilities
from tests.factories.tasks import make_benchmark, make_task


def foretold(made: World, **more: Any) -> Forecast:
    request = RunRequest.model_validate({"benchmark": "starter", "agent": "noop", **more})
    found: Forecast = made.do(forecast, request)
    return found


def blocked(expected: Forecast) -> list[tuple[str, str, str]]:
    """(task, reason, its code) of what cannot run."""
    return [(each.task, each.reason, each.reason_code) for each in expected.not_runnable]


def submitted(made: World, **more: Any) -> list[tuple[str, str, str]]:
    """(task, reason, its code) of what cannot run of a run that is submitted."""
    run = made.submit(**more)
    with made.work() as session:
        columns = (Task.domain + "/" + Task.name, Episode.reason, Episode.reason_code)
        query = select(*columns).join(Episode, Episode.task_id == Task.id)
        query = query.where(Episode.run_id == run.id, Episode.state == "not_runnable").order_by(Episode.id)
        return [(row[0], row[1], str(row[2])) for row in session.execute(query)]


def quarantined(made: World) -> UUID:
    with made.work() as session:
        task = list_tasks(session, latest_task_set(session, "starter").id).items[0]
        quarantine.quarantine_task(session, task.id, "flaky clock", made.who(session)[1])
        return task.id


class TestNotRunnable:
    def test_quarantined_tasks_do_not_run(self, ready: World) -> None:
        ready.worker()
        quarantined(ready)
        found = foretold(ready, repeats=2)
        assert (found.tasks, found.episodes) == (2, 4)
        assert [each.reason_code for each in found.not_runnable] == [ReasonCode.QUARANTINED]
        assert blocked(found) == submitted(ready)

    def test_quarantined_tasks_count_in_a_validation_run(self, ready: World) -> None:
        ready.worker()
        quarantined(ready)
        assert foretold(ready, purpose="validate").tasks == 3

    def test_also_while_it_is_unknown_what_can_run(self, ready: World) -> None:
        quarantined(ready)
        assert foretold(ready).tasks == 2

    def test_a_screen_that_the_image_of_a_task_cannot_show(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "b", os="windows")))
        linux = {"name": "debian", "os": "linux", "programs": [], "screens": [{"width": 1280, "height": 800}]}
        windows = {"name": "eleven", "os": "windows", "programs": [], "default": True}
        offer = {"ok": True, "reason": "", "programs": [], "os": ["linux", "windows"], "images": [linux, windows]}
        installation.worker(capabilities=capabilities() | {"providers": {"local": offer}})
        screen = ScreenSize(width=640, height=480)
        found = foretold(installation, screen=screen)
        assert found.problems == []
        assert [each.task for each in found.not_runnable if each.reason_code is ReasonCode.IMAGE_UNUSABLE] == [
            "files/a"
        ]
        assert blocked(found) == submitted(installation, screen=screen)
