from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from backend.domain.errors import Invalid
from tests.error_codes import raises_code
from worker.images.windows.catalog import Catalog, Inbox, Program, programs_in_sets, read_catalog

ENTRY: dict[str, Any] = {
    "id": "editor",
    "name": "Editor",
    "version": "1",
    "sets": ["mine"],
    "licence": "free",
    "file": "editor.exe",
    "there": "C:\\Editor\\editor.exe",
}


def written(folder: Path, *entries: dict[str, Any]) -> Path:
    file = folder / "list.yaml"
    file.write_text(yaml.safe_dump({"programs": list(entries)}))
    return file


class TestReadCatalog:
    def test_every_benchmark_has_its_programs(self) -> None:
        catalog = read_catalog()
        assert {"chrome", "libreoffice", "vlc", "gimp", "vscode"} <= {
            p.id for p in programs_in_sets(catalog, ["waa"]).programs
        }
        assert {"office", "acrobat-reader"} <= {p.id for p in programs_in_sets(catalog, ["windowsworld"]).programs}
        assert len(programs_in_sets(catalog, ["prosoftarena"]).programs) >= 13

    def test_every_program_can_be_seen_to_start(self) -> None:
        unseen = [program.id for program in read_catalog().programs if program.check is None]
        assert unseen == ["python", "git", "ffmpeg"], "these have no window"

    def test_commercial_programs_have_no_address(self) -> None:
        assert [p.id for p in read_catalog().programs if p.licence.startswith("commercial") and not p.brought] == []

    def test_a_later_list_replaces_and_appends(self, tmp_path: Path) -> None:
        vlc = ENTRY | {"id": "vlc", "version": "4", "sets": ["waa"]}
        programs = {p.id: p for p in read_catalog([read_file(), written(tmp_path, vlc, ENTRY)]).programs}
        assert programs["vlc"].version == "4"
        assert list(programs)[-1] == "editor"

    def test_says_where_a_list_is_wrong(self, tmp_path: Path) -> None:
        with raises_code(Invalid, "invalid_image_plan", mentions=("list.yaml", "programs.0", "sha256")):
            read_catalog([written(tmp_path, ENTRY | {"file": "", "url": "https://example.com/editor.exe"})])

    def test_says_that_a_list_is_missing(self, tmp_path: Path) -> None:
        with raises_code(Invalid, "invalid_image_plan"):
            read_catalog([tmp_path / "none.yaml"])


def read_file() -> Path:
    from worker.images.windows.catalog import FILE

    return FILE


class TestProgram:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"file": ""},
            {"url": "https://example.com/a.exe", "sha256": "0" * 64},
            {"file": "../editor.exe"},
            {"file": "editor.tar"},
            {"file": "editor.zip"},
            {"to": "C:\\Editor"},
            {"medium": "DISC"},
            {"there": "editor.exe"},
            {"sha256": "abc"},
            {"licence": ""},
            {"id": "Editor 2"},
        ],
    )
    def test_refuses_what_could_not_be_installed(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            Program.model_validate(ENTRY | wrong)

    def test_is_called_by_its_id_on_our_medium(self) -> None:
        address = "https://example.com/Editor%20Setup.MSI"
        program = Program.model_validate(ENTRY | {"file": "", "url": address, "sha256": "0" * 64})
        assert (program.installer, program.brought) == ("editor.msi", False)

    def test_may_lie_on_a_medium_of_its_own(self) -> None:
        wanted = {"iso": "editor.iso", "medium": "EDITOR", "file": "x64\\setup.exe"}
        assert Program.model_validate(ENTRY | wanted).kind == "exe"


class TestProbe:
    def test_the_build_opens_what_tasks_require(self) -> None:
        """By the command that tasks require, so that an image lists no command that does not start."""
        console = {"7zip"}
        others = [
            entry.id
            for entry in read_catalog().all()
            if entry.commands and entry.id not in console and isinstance(entry, Program | Inbox)
            if entry.check is not None and not _started(entry.check.command) & set(entry.commands)
        ]
        assert others == []


def _started(command: Sequence[str]) -> set[str]:
    """The program that a check starts, and the address that it lets Windows open."""
    return {command[0], *(word.removesuffix(":") for word in command[1:])}


class TestChosen:
    def test_refuses_a_set_that_nothing_belongs_to(self) -> None:
        with raises_code(Invalid, "invalid_image_plan"):
            programs_in_sets(read_catalog(), ["wa"])

    def test_refuses_an_id_twice(self) -> None:
        with pytest.raises(ValidationError, match="listed twice: editor"):
            Catalog.model_validate({"programs": [ENTRY, ENTRY]})
