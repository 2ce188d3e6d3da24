"""Folders of results in OSWorld's form: what is read, and that everything wrong is listed."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import Invalid
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import ScreenSize
from backend.domain.run_formats import osworld_reader
from backend.domain.run_formats.osworld_reader import read_results

MODEL = "results/pyautogui/screenshot/gpt-5"


def example(root: Path, name: str, result: str | None = "1.0\n", *lines: Any, base: str = MODEL) -> Path:
    """One example's folder."""
    folder = root / base / name
    folder.mkdir(parents=True)
    if result is not None:
        (folder / "result.txt").write_text(result)
    if lines:
        (folder / "traj.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


def step(number: int, action: Any = "pyautogui.click(1, 2)") -> dict[str, Any]:
    return {"step_num": number, "action": action, "reward": 0, "done": False, "info": {}}


class TestResults:
    @pytest.mark.parametrize("depth", ["results", "results/pyautogui", "results/pyautogui/screenshot", MODEL])
    def test_are_read_from_any_folder_above_the_domains(self, tmp_path: Path, depth: str) -> None:
        example(tmp_path, "chrome/a", "0.5", step(1), step(2), step(2))
        example(tmp_path, "os/b", "0.0\n")
        results = read_results(tmp_path / depth)
        assert (results.action_space, results.observation, results.model) == ("pyautogui", "screenshot", "gpt-5")
        assert [(each.task, each.score, each.steps) for each in results.episodes] == [
            ("chrome/a", 0.5, 2),
            ("os/b", 0.0, 0),
        ]

    @pytest.mark.parametrize(
        ("action", "ended_by"),
        [
            ("DONE", EndedBy.DONE),
            ("FAIL", EndedBy.INFEASIBLE),
            ({"action_type": "DONE"}, EndedBy.DONE),
            ({"action_type": "FAIL", "parameters": {}}, EndedBy.INFEASIBLE),
            ("WAIT", EndedBy.STEPS),
        ],
    )
    def test_the_last_action_says_what_ended_it(self, tmp_path: Path, action: Any, ended_by: EndedBy) -> None:
        example(tmp_path, "os/a", "1", step(1), step(2, action))
        (tmp_path / MODEL / "args.json").write_text(json.dumps({"max_steps": 2, "client_password": "secret"}))
        results = read_results(tmp_path)
        assert (results.episodes[0].ended_by, results.max_steps) == (ended_by, 2)
        assert "client_password" not in results.arguments

    @pytest.mark.parametrize(
        ("info", "ended_by"),
        [({"ended_by": "time"}, EndedBy.TIME), ({"ended_by": "?"}, EndedBy.DONE), (["time"], EndedBy.DONE)],
    )
    def test_our_exports_say_what_ended_it(self, tmp_path: Path, info: Any, ended_by: EndedBy) -> None:
        example(tmp_path, "os/a", "1", step(1), {**step(2, "DONE"), "info": info})
        assert read_results(tmp_path).episodes[0].ended_by == ended_by

    def test_none_is_not_zero(self, tmp_path: Path) -> None:
        example(tmp_path, "os/a")
        example(tmp_path, "os/b", None, step(1), {"Error": "Time limit exceeded in os/b"})
        example(tmp_path, "os/c", None)
        episodes = {each.task: each for each in read_results(tmp_path).episodes}
        assert (episodes["os/b"].score, episodes["os/b"].error) == (None, "Time limit exceeded in os/b")
        assert (episodes["os/c"].score, episodes["os/c"].error) == (None, "no result.txt")

    def test_several_passes_are_read(self, tmp_path: Path) -> None:
        for number in (1, 2):
            example(tmp_path, "os/a", f"{number - 1}", base=f"pass_{number}/a/b/c")
        assert [(each.repeat, each.score) for each in read_results(tmp_path).episodes] == [(1, 0.0), (2, 1.0)]

    def test_names_can_be_corrected(self, tmp_path: Path) -> None:
        example(tmp_path, "os/a")
        results = read_results(tmp_path / MODEL, {"model": "own", "observation": ""})
        assert (results.model, results.observation) == ("own", "screenshot")

    def test_arguments_that_make_no_sense_are_unknown(self, tmp_path: Path) -> None:
        example(tmp_path, "os/a")
        (tmp_path / MODEL / "args.json").write_text(
            '{"max_steps": "x", "screen_width": 1, "screen_height": null, "t": NaN}'
        )
        results = read_results(tmp_path)
        assert (results.max_steps, results.screen, results.arguments["t"]) == (None, None, None)

    def test_screen_size_is_read_from_the_arguments(self, tmp_path: Path) -> None:
        example(tmp_path, "os/a")
        (tmp_path / MODEL / "args.json").write_text('{"screen_width": 1280, "screen_height": 800}')
        assert read_results(tmp_path).screen == ScreenSize(width=1280, height=800)


class TestWrong:
    def test_names_that_are_too_long(self, tmp_path: Path) -> None:
        example(tmp_path, f"{'d' * 200}/{'e' * 200}")
        with pytest.raises(Invalid) as error:
            read_results(tmp_path)
        assert "task" in error.value.message

    @pytest.mark.parametrize("text", ["abc", "", "nan", "inf", "1.5", "-0.1", "__import__('os')", "9" * 2000])
    def test_invalid_result_is_named(self, tmp_path: Path, text: str) -> None:
        example(tmp_path, "os/a", text)
        with pytest.raises(Invalid) as error:
            read_results(tmp_path)
        assert error.value.code == "invalid_results"
        assert "os/a/result.txt" in error.value.message

    def test_files_are_all_listed(self, tmp_path: Path) -> None:
        example(tmp_path, "os/a", "x")
        example(tmp_path, "os/b", "y")
        (example(tmp_path, "os/c") / "traj.jsonl").write_text('{"step_num": 1}\n{"step')
        with pytest.raises(Invalid) as error:
            read_results(tmp_path)
        assert all(name in error.value.message for name in ("os/a/result.txt", "os/b/result.txt", "os/c/traj.jsonl"))

    def test_links_to_elsewhere(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret.txt"
        secret.write_text("1.0")
        folder = example(tmp_path / "in", "os/a", None, step(1))
        (folder / "result.txt").symlink_to(secret)
        (folder.parent / "b").symlink_to(tmp_path)
        with pytest.raises(Invalid) as error:
            read_results(tmp_path / "in")
        assert "os/b" in error.value.message
        (folder.parent / "b").unlink()
        with pytest.raises(Invalid) as error:
            read_results(tmp_path / "in")
        assert "result.txt" in error.value.message

    def test_trajectories_that_are_too_large(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(osworld_reader, "LARGEST_TRAJECTORY", 10)
        example(tmp_path, "os/a", "1", step(1))
        with pytest.raises(Invalid) as error:
            read_results(tmp_path)
        assert "traj.jsonl" in error.value.message

    def test_results_of_several_models_are_rejected(self, tmp_path: Path) -> None:
        example(tmp_path, "os/a", base="r/a/b/one")
        example(tmp_path, "os/a", base="r/a/b/two")
        with pytest.raises(Invalid) as error:
            read_results(tmp_path)
        assert "r/a/b/one" in error.value.message

    def test_folders_without_results(self, tmp_path: Path) -> None:
        (tmp_path / "a/b").mkdir(parents=True)
        for folder in (tmp_path, tmp_path / "none"):
            with pytest.raises(Invalid) as error:
                read_results(folder)
            assert error.value.code == "invalid_results"
