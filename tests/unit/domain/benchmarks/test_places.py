"""Finding the folder of tasks in a checkout."""

from pathlib import Path

from backend.domain.benchmarks._places import find_place, sibling
from backend.domain.errors import Invalid
from tests.error_codes import raises_code

TASK = '{"instruction": "x", "evaluator": {}}'


def make(root: Path, *files: str) -> Path:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TASK)
    return root


class TestFindPlace:
    def test_the_named_folder_wins_over_other_json(self, tmp_path: Path) -> None:
        make(tmp_path, "e/examples/os/a.json", "docs/pages/b.json", "e/cases/flow/c.json")
        assert find_place(tmp_path, ["examples"], []).folder == tmp_path / "e" / "examples"

    def test_folder_without_task_files_is_skipped(self, tmp_path: Path) -> None:
        make(tmp_path, "sets/mine/os/a.json")
        (tmp_path / "docs" / "x").mkdir(parents=True)
        (tmp_path / "docs" / "x" / "y.json").write_text("{}")
        assert find_place(tmp_path, ["examples"], []).folder == tmp_path / "sets" / "mine"

    def test_hidden_folders_and_caches_are_passed_over(self, tmp_path: Path) -> None:
        make(tmp_path, ".git/examples/os/a.json", "__pycache__/examples/os/a.json", "node_modules/examples/os/a.json")
        with raises_code(Invalid, "invalid_task_file", path=tmp_path.name):
            find_place(tmp_path, ["examples"], [])

    def test_a_folder_that_links_elsewhere_is_not_followed(self, tmp_path: Path) -> None:
        make(tmp_path / "other", "examples/os/a.json")
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / "link").symlink_to(tmp_path / "other")
        with raises_code(Invalid, "invalid_task_file", path="root"):
            find_place(tmp_path / "root", ["examples"], [])

    def test_folders_set_aside_are_the_last_choice(self, tmp_path: Path) -> None:
        make(tmp_path, "x/examples_windows/word/a.json")
        assert find_place(tmp_path, ["examples"], ["examples_windows"]).folder.name == "examples_windows"
        make(tmp_path, "x/mine/word/a.json")
        assert find_place(tmp_path, ["examples"], ["examples_windows"]).folder.name == "mine"

    def test_task_lists_are_found_in_either_folder(self, tmp_path: Path) -> None:
        make(tmp_path, "e/examples/os/a.json")
        (tmp_path / "e" / "test_all.json").write_text("{}")
        assert [file.name for file in find_place(tmp_path, ["examples"], []).lists] == ["test_all.json"]
        (tmp_path / "e" / "examples" / "test_mine.json").write_text("{}")
        assert [file.name for file in find_place(tmp_path, ["examples"], []).lists] == ["test_mine.json"]

    def test_files_outside_the_root_are_ignored(self, tmp_path: Path) -> None:
        make(tmp_path, "e/examples/os/a.json")
        (tmp_path / "e" / "test_all.json").write_text("{}")
        assert find_place(tmp_path / "e" / "examples", ["examples"], []).lists == []


class TestSibling:
    def test_finds_a_sibling_folder(self, tmp_path: Path) -> None:
        make(tmp_path, "e/examples/os/a.json", "e/hard/os/a.json")
        place = find_place(tmp_path, ["examples"], ["hard"])
        beside = sibling(place, tmp_path, "hard")
        assert beside is not None
        assert beside.folder == tmp_path / "e" / "hard"
        assert sibling(place, tmp_path, "harder") is None

    def test_sibling_outside_the_root_is_ignored(self, tmp_path: Path) -> None:
        make(tmp_path, "examples/os/a.json", "hard/os/a.json")
        root = tmp_path / "examples"
        assert sibling(find_place(root, ["examples"], []), root, "hard") is None
