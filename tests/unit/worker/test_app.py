from pathlib import Path

from worker.app import TASKS, app, make_app


class TestMakeApp:
    def test_messages_are_acknowledged_early_and_leave_no_result(self) -> None:
        conf = make_app(lambda: "redis://127.0.0.1:1/0").conf
        assert conf.task_acks_late is False
        assert conf.task_ignore_result is True
        assert conf.result_backend is None

    def test_a_broker_that_is_away_is_waited_for_without_end(self) -> None:
        conf = make_app(lambda: "redis://127.0.0.1:1/0").conf
        assert conf.broker_connection_retry_on_startup is True
        assert conf.broker_connection_max_retries is None

    def test_without_a_broker_there_is_one_in_memory(self) -> None:
        assert make_app(str).conf.broker_url == "memory://"

    def test_beat_sends_only_tasks_that_exist(self) -> None:
        app.loader.import_default_modules()
        sent = {entry["task"] for entry in app.conf.beat_schedule.values()}
        assert sent == {"worker.tasks.reap", "worker.tasks.sweep"}
        assert sent <= set(app.tasks)

    def test_every_task_file_is_a_task_of_its_name(self) -> None:
        app.loader.import_default_modules()
        files = {path.stem for path in (Path(__file__).parents[3] / "worker" / "tasks").glob("[!_]*.py")}
        assert files == set(TASKS)
        assert {f"worker.tasks.{name}" for name in files} <= set(app.tasks)
