import threading
from pathlib import Path

import pytest

from backend.domain.errors import Conflict
from tests.error_codes import raises_code
from worker.images.windows.stages import Stage, Stages, folder_lock, logged


class CountedStages:
    """Three stages that count how often they were done; each makes a file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.done = folder, list[str]()
        self.inputs = {"a": "1", "b": "1", "c": "1"}
        self.fails = ""

    def stages(self) -> list[Stage]:
        return [self._stage(name) for name in self.inputs]

    def _stage(self, name: str) -> Stage:
        made = self.folder / f"made-{name}"

        def work() -> None:
            if self.fails == name:
                raise RuntimeError(name)
            self.done.append(name)
            made.write_text(name)

        return Stage(name, f"making {name}", (self.inputs[name],), work, (made,))

    def run(self) -> list[str]:
        """Stages that ran this time."""
        self.done = []
        Stages(self.folder, lambda _: None).run(self.stages())
        return self.done


@pytest.fixture
def work(tmp_path: Path) -> CountedStages:
    return CountedStages(tmp_path)


class TestRun:
    def test_does_all_once(self, work: CountedStages) -> None:
        assert work.run() == ["a", "b", "c"]
        assert work.run() == []

    def test_resumes_with_the_interrupted_stage(self, work: CountedStages) -> None:
        work.fails = "b"
        with pytest.raises(RuntimeError):
            work.run()
        work.fails = ""
        assert work.run() == ["b", "c"]

    def test_does_again_what_has_other_inputs_and_all_behind_it(self, work: CountedStages) -> None:
        work.run()
        work.inputs["b"] = "2"
        assert work.run() == ["b", "c"]

    def test_does_again_what_lost_its_file(self, work: CountedStages) -> None:
        work.run()
        (work.folder / "made-c").unlink()
        assert work.run() == ["c"]

    def test_a_stage_done_again_takes_the_marks_behind_it_along(self, work: CountedStages) -> None:
        work.run()
        (work.folder / "made-a").unlink()
        work.fails = "b"
        with pytest.raises(RuntimeError):
            work.run()
        work.fails = ""
        assert work.run() == ["b", "c"], "c was made of what a made before"

    def test_a_damaged_mark_is_none(self, work: CountedStages) -> None:
        work.run()
        (work.folder / "c.done").write_text("{")
        assert work.run() == ["c"]

    def test_says_how_long_each_took(self, work: CountedStages) -> None:
        work.run()
        assert list(Stages(work.folder, print).seconds()) == ["a", "b", "c"]


class TestHeld:
    def test_keeps_a_second_build_out(self, tmp_path: Path) -> None:
        with folder_lock(tmp_path), raises_code(Conflict, "build_running"), folder_lock(tmp_path):
            pass

    def test_lets_the_next_one_in(self, tmp_path: Path) -> None:
        for _ in range(2):
            with folder_lock(tmp_path):
                assert threading.active_count() >= 1


class TestLogged:
    def test_shows_and_keeps_each_line(self, tmp_path: Path) -> None:
        shown: list[str] = []
        for text in ("one", "two"):
            logged(tmp_path / "log", shown.append)(text)
        assert shown == ["one", "two"]
        assert [line.split(" ", 1)[1] for line in (tmp_path / "log").read_text().splitlines()] == shown
