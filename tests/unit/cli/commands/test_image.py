"""`deskarena image` on a data folder with small images that nobody boots."""

import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from backend.cli.main import main
from tests.factories.machine_images import write_small_image


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_small_image(tmp_path / "images", "debian")
    write_small_image(tmp_path / "images", "eleven", os="windows", programs=("notepad",))
    return tmp_path


@dataclass(frozen=True)
class Done:
    """Result of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def image(data: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs `deskarena image` on the data folder, within this process."""

    def run(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["image", *words, "--data", str(data)])
        told = capfd.readouterr()
        return Done(int(ended.value.code or 0), told.out, told.err)

    return run


Image = Callable[..., Done]


class TestList:
    def test_as_a_table_and_as_json(self, data: Path, image: Image) -> None:
        table = image("list")
        assert table.returncode == 0
        assert "debian" in table.stdout
        rows = json.loads(image("list", "-o", "json").stdout)
        assert [(row["name"], row["os"], row["problem"]) for row in rows] == [
            ("debian", "linux", ""),
            ("eleven", "windows", ""),
        ]
        lines = image("list", "-o", "jsonl").stdout.splitlines()
        assert [json.loads(line)["name"] for line in lines] == ["debian", "eleven"]

    def test_empty_list_shows_the_build_command(self, data: Path, image: Image) -> None:
        shutil.rmtree(data / "images")
        done = image("list")
        assert (done.returncode, done.stdout) == (0, "")
        assert "deskarena image build linux" in done.stderr


class TestShow:
    def test_all_that_it_says_of_itself(self, data: Path, image: Image) -> None:
        told = json.loads(image("show", "eleven", "-o", "json").stdout)
        assert (told["memory_mib"], told["programs"]) == (768, ["notepad"])
        assert "1920x1080, 1280x800" in image("show", "eleven").stdout

    def test_unknown_image_is_refused(self, data: Path, image: Image) -> None:
        done = image("show", "xp")
        assert done.returncode == 2
        assert "There are: debian, eleven." in done.stderr


class TestBuild:
    def test_unknown_system_is_refused(self, data: Path, image: Image) -> None:
        done = image("build", "plan9")
        assert done.returncode == 2
        assert "Known: linux, windows." in done.stderr

    def test_help_names_its_own_options(self, data: Path, image: Image) -> None:
        done = image("build", "--help")
        assert done.returncode == 0
        assert "--accelerator" in done.stdout


class TestRemove:
    def test_remove_asks_for_confirmation(self, data: Path, image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
        done = image("remove", "debian")
        assert done.returncode != 0
        assert (data / "images" / "debian").is_dir()

    def test_remove_deletes_the_image(self, data: Path, image: Image) -> None:
        done = image("remove", "debian", "--yes")
        assert (done.returncode, done.stdout) == (0, "")
        assert [each.name for each in (data / "images").iterdir()] == ["eleven"]


class TestPrepare:
    def test_a_damaged_one_is_not_booted(self, data: Path, image: Image) -> None:
        disk = data / "images" / "debian" / "disk.qcow2"
        disk.chmod(0o644)
        disk.write_bytes(b"")
        done = image("prepare", "debian")
        assert done.returncode == 3
        assert "cannot be used" in done.stderr

    def test_unusable_image_is_reported(self, data: Path, image: Image) -> None:
        """The disk image is invalid, so no template can be created on any machine."""
        done = image("prepare", "debian", "--screen", "1280x800")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("Preparing debian for 1280x800 ...")
