from pathlib import Path

from backend.domain.evaluators.getters.gimp.gimp_config_file import GimpConfigFile
from tests.factories.desktops import linux

PARAMETERS = {"file_name": "gimprc", "dest": "gimprc"}


def read(files: dict[str, bytes], folder: Path) -> bytes | None:
    path = GimpConfigFile().read(GimpConfigFile().collect(linux(files), PARAMETERS), PARAMETERS, folder)
    return None if path is None else Path(path).read_bytes()


def test_folder_of_a_newer_gimp_is_read(tmp_path: Path) -> None:
    assert read({"~/.config/GIMP/3.0/gimprc": b"3"}, tmp_path) == b"3"


def test_the_published_version_comes_first(tmp_path: Path) -> None:
    assert read({"~/.config/GIMP/3.0/gimprc": b"3", "~/.config/GIMP/2.10/gimprc": b"2"}, tmp_path) == b"2"


def test_empty_file_is_none(tmp_path: Path) -> None:
    assert read({"~/.config/GIMP/2.10/gimprc": b""}, tmp_path) is None
