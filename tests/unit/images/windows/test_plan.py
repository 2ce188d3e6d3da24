import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import Invalid
from tests.architecture.tree import ROOT
from tests.error_codes import raises_code
from tests.factories.windows_media import windows_iso
from worker.images.windows.autounattend_schema import faults
from worker.images.windows.fetch import Installer
from worker.images.windows.options import WindowsBuildOptions
from worker.images.windows.plan import (
    BuildRequest,
    ServerArchive,
    first_content,
    machine_plan,
    make_plan,
    second_content,
    summary,
)


def request(folder: Path, **changed: Any) -> BuildRequest:
    """Asks for an image from a small medium; `changed` are fields of the request or of its options."""
    options = {"edition": "Professional"} | {
        key: changed.pop(key) for key in list(changed) if key in WindowsBuildOptions.model_fields
    }
    iso = folder / "windows.iso"
    return BuildRequest(
        name="w",
        iso=iso if iso.exists() else windows_iso(folder),
        virtio=folder / "virtio-win.iso",
        options=WindowsBuildOptions.model_validate(options),
        data=folder / "data",
        **changed,
    )


class TestMakePlan:
    def test_takes_edition_and_programs(self, tmp_path: Path) -> None:
        plan = make_plan(request(tmp_path, without=("chrome",)))
        assert plan.edition.index == 2
        assert "chrome" not in {each.id for each in plan.programs.all()}
        assert {"vlc", "notepad"} <= {each.id for each in plan.programs.all()}
        assert faults(plan.answers) == []

    @pytest.mark.parametrize(
        ("wrong", "named"),
        [
            ({"edition": "Ultimate"}, "0 editions match 'Ultimate'"),
            ({"language": "de-DE"}, "does not support the language de-DE"),
            ({"sets": ("wa",)}, "no programs for the set wa"),
            ({"without": ("vcl",)}, "unknown programs in --without: vcl"),
        ],
    )
    def test_refuses_before_anything_starts(self, tmp_path: Path, wrong: dict[str, Any], named: str) -> None:
        with raises_code(Invalid, "invalid_image_plan", mentions=named):
            make_plan(request(tmp_path, **wrong))
        assert not (tmp_path / "data").exists()

    def test_refuses_more_media_than_the_machine_has_drives(self, tmp_path: Path) -> None:
        known = {"name": "P", "version": "1", "sets": ["mine"], "licence": "x", "file": "a.exe", "there": "C:\\a"}
        entries = [known | {"id": f"p{number}", "medium": "M", "iso": f"{number}.iso"} for number in range(3)]
        (tmp_path / "l.yaml").write_text(json.dumps({"programs": entries}))
        with raises_code(Invalid, "invalid_image_plan", mentions="2"):
            make_plan(request(tmp_path, sets=("mine",), lists=(tmp_path / "l.yaml",)))


class TestContent:
    def test_windows_is_set_up_without_any_program(self, tmp_path: Path) -> None:
        asked = request(tmp_path)
        files = first_content(asked, make_plan(asked))
        assert {"autounattend.xml", "deskarena/start.cmd", "deskarena/plan.json", "deskarena/setup/run.ps1"} <= set(
            files
        )
        plan = files["deskarena/plan.json"]
        assert isinstance(plan, bytes)
        assert json.loads(plan)["programs"] == []

    def test_scripts_have_the_line_ends_of_windows(self, tmp_path: Path) -> None:
        asked = request(tmp_path)
        scripts = [
            data for path, data in first_content(asked, make_plan(asked)).items() if path.endswith((".ps1", ".cmd"))
        ]
        assert len(scripts) >= 7
        assert all(isinstance(data, bytes) and data.count(b"\n") == data.count(b"\r\n") > 0 for data in scripts)

    def test_programs_lie_under_their_ids_but_those_with_a_medium_of_their_own(self, tmp_path: Path) -> None:
        asked = request(tmp_path, without=("chrome",))
        programs = make_plan(asked).programs.programs
        own = programs[1].model_copy(update={"url": "", "medium": "DISC", "iso": "x.iso", "file": "a\\setup.exe"})
        installers = tuple(Installer(program=each, path=tmp_path / "x", sha256="0" * 64) for each in (programs[0], own))
        files = second_content(asked, installers, {"python": ServerArchive("python.zip", b"zip", "1" * 64)})
        assert "deskarena/programs/python.exe" in files
        assert not [path for path in files if own.id in path]
        assert files["deskarena/server/python.zip"] == b"zip"


class TestMachinePlan:
    def test_every_field_that_a_strict_script_reads_is_there(self, tmp_path: Path) -> None:
        plan = make_plan(request(tmp_path, without=("chrome",)))
        installers = tuple(Installer(program=each, path=tmp_path, sha256="0" * 64) for each in plan.programs.programs)
        made = machine_plan(WindowsBuildOptions(), installers, [])
        fields = {"id", "name", "kind", "file", "sha256", "arguments", "minutes", "to", "there", "path", "medium"}
        assert {frozenset(each) for each in made["programs"]} == {
            frozenset(fields | {"registry", "files", "shortcuts"})
        }
        scripts = "".join(path.read_text() for path in (ROOT / "vm_images" / "windows" / "setup").glob("*.ps1"))
        for name in ("user", "password", "also_home", "settings", "programs", "server"):
            assert f"lan.{name}" in scripts, "nothing is told that nobody reads"
            assert name in made

    def test_the_server_serves_where_the_worker_asks(self) -> None:
        server = machine_plan(WindowsBuildOptions(), (), [])["server"]
        assert server["arguments"][-2:] == ["--port", "5000"]
        assert (server["port"], server["proxy"]) == (5000, "127.0.0.1:3128")


class TestTold:
    def test_says_what_is_still_missing(self, tmp_path: Path) -> None:
        asked = request(tmp_path)
        lines = list(summary(asked, make_plan(asked)))
        assert lines[0] == "image w: Windows 11 Pro (build 26100), user Docker, uefi"
        assert any("MISSING: provide googlechromestandaloneenterprise64.msi" in line for line in lines)
        assert any("download from https://download.videolan.org" in line for line in lines)
