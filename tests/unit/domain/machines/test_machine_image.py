import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import Invalid, NotFound
from backend.domain.machines.machine_image import (
    MachineImage,
    describe_file,
    find_image,
    image_names,
    moment,
    read_image,
    verify,
    write_image,
)
from backend.domain.model.run import ScreenSize
from tests.error_codes import raises_code


def _image(folder: Path, **changes: Any) -> MachineImage:
    """An image whose files the test writes into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("disk.qcow2", "vmlinuz", "initrd.img"):
        if not (folder / name).exists():
            (folder / name).write_bytes(name.encode() * 3)
    said: dict[str, Any] = {
        "name": folder.name,
        "os": "linux",
        "variant": "minimal",
        "version": "1",
        "made_at": moment(1_700_000_000),
        "guest_api": "1.0",
        "screens": [{"width": 1920, "height": 1080}, {"width": 1280, "height": 800}],
        "memory_mib": 768,
        "cpus": 2,
        "firmware": "bios",
        "disk": describe_file(folder / "disk.qcow2") | {"virtual_size": 2**30},
        "boot": {
            "kernel": describe_file(folder / "vmlinuz"),
            "initrd": describe_file(folder / "initrd.img"),
            "command_line": "root=/dev/vda quiet",
            "screen_option": "video={width}x{height}",
        },
        "packages": [{"name": "mousepad", "version": "0.5.10", "sha256": "a" * 64}],
        "programs": ["mousepad"],
    }
    return MachineImage.model_validate(said | changes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "images" / "linux-minimal"
    write_image(folder, _image(folder))
    return folder


class TestReadAndWrite:
    def test_written_image_is_read_and_verified(self, folder: Path) -> None:
        assert read_image(folder) == _image(folder)
        assert verify(folder) == _image(folder)

    def test_image_files_are_read_only(self, folder: Path) -> None:
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o444}

    def test_only_its_files_are_there(self, folder: Path) -> None:
        assert {path.name for path in folder.iterdir()} == {"image.json", "disk.qcow2", "vmlinuz", "initrd.img"}

    def test_a_build_that_did_not_end_is_not_an_image(self, folder: Path) -> None:
        (folder / "image.json").unlink()
        with raises_code(NotFound, "image_not_found", mentions="image.json"):
            read_image(folder)

    def test_a_missing_file_is_named(self, folder: Path) -> None:
        (folder / "vmlinuz").unlink()
        with pytest.raises(Invalid) as caught:
            read_image(folder)
        assert caught.value.path.endswith("vmlinuz")

    def test_a_file_that_was_cut_is_named(self, folder: Path) -> None:
        (folder / "disk.qcow2").chmod(0o644)
        (folder / "disk.qcow2").write_bytes(b"short")
        with raises_code(Invalid, "image_damaged", mentions="5"):
            read_image(folder)

    def test_another_content_of_the_same_size_is_found_by_verify_only(self, folder: Path) -> None:
        disk = folder / "disk.qcow2"
        disk.chmod(0o644)
        disk.write_bytes(b"x" * disk.stat().st_size)
        read_image(folder)
        with raises_code(Invalid, "image_damaged"):
            verify(folder)

    def test_a_renamed_folder_is_reported(self, folder: Path) -> None:
        moved = folder.rename(folder.with_name("other"))
        with raises_code(Invalid, "invalid_image", mentions="other"):
            read_image(moved)

    def test_a_wrong_value_is_named_with_its_place(self, folder: Path) -> None:
        file = folder / "image.json"
        said = json.loads(file.read_text())
        said["disk"]["sha256"] = "no hash"
        file.chmod(0o644)
        file.write_text(json.dumps(said))
        with pytest.raises(Invalid) as caught:
            read_image(folder)
        assert caught.value.path == f"{file}.disk.sha256"

    def test_invalid_json_is_reported(self, folder: Path) -> None:
        (folder / "image.json").chmod(0o644)
        (folder / "image.json").write_text("{")
        with raises_code(Invalid, "invalid_image", mentions="JSON"):
            read_image(folder)

    def test_a_file_that_is_not_there_is_not_written_down(self, tmp_path: Path) -> None:
        image = _image(tmp_path / "linux")
        (tmp_path / "linux" / "disk.qcow2").unlink()
        with raises_code(Invalid, "invalid_image", mentions="disk.qcow2"):
            write_image(tmp_path / "linux", image)
        assert not (tmp_path / "linux" / "image.json").exists()


class TestModel:
    @pytest.mark.parametrize(
        "changes",
        [
            {"name": "default"},
            {"name": "../x"},
            {"name": "Linux"},
            {"os": "plan9"},
            {"screens": []},
            {"memory_mib": 1},
            {"firmware": "uefi"},
            {"guest_server": "x"},
            {"made_at": "2026-01-01T00:00:00"},
            {"surprise": 1},
            {"disk": {"file": "../disk", "sha256": "0" * 64, "size": 1, "virtual_size": 1}},
            {"disk": {"file": "vmlinuz", "sha256": "0" * 64, "size": 1, "virtual_size": 1}},
            {"disk": {"file": "image.json", "sha256": "0" * 64, "size": 1, "virtual_size": 1}},
        ],
        ids=str,
    )
    def test_invalid_values_are_rejected(self, tmp_path: Path, changes: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="validation error"):
            _image(tmp_path / "linux", **changes)

    def test_windows_boots_from_its_disk(self, tmp_path: Path) -> None:
        image = _image(tmp_path / "windows", os="windows", firmware="uefi", boot=None)
        assert [file.file for file in image.files()] == ["disk.qcow2"]

    def test_the_command_line_carries_the_screen(self, tmp_path: Path) -> None:
        boot = _image(tmp_path / "linux").boot
        assert boot is not None
        assert boot.line(ScreenSize(width=1280, height=800)) == "root=/dev/vda quiet video=1280x800"

    def test_a_screen_option_without_a_size_is_refused(self, tmp_path: Path) -> None:
        image = _image(tmp_path / "linux")
        with pytest.raises(ValueError, match="screen_option"):
            MachineImage.model_validate(
                image.model_dump() | {"boot": image.model_dump()["boot"] | {"screen_option": "video=on"}}
            )

    def test_another_content_is_another_digest(self, tmp_path: Path) -> None:
        one = _image(tmp_path / "linux")
        assert one.digest() == _image(tmp_path / "linux").digest()
        assert one.digest() != _image(tmp_path / "linux", memory_mib=1024).digest()

    def test_it_shows_only_its_sizes(self, tmp_path: Path) -> None:
        image = _image(tmp_path / "linux")
        assert image.shows(ScreenSize(width=1280, height=800))
        assert not image.shows(ScreenSize(width=1000, height=800))


class TestFind:
    def test_the_only_image_is_the_default(self, folder: Path) -> None:
        assert find_image(folder.parent, "default") == (folder, _image(folder))

    def test_the_setting_names_the_default(self, folder: Path) -> None:
        other = folder.with_name("windows")
        write_image(other, _image(other))
        assert find_image(folder.parent, "default", default="windows")[0] == other
        assert find_image(folder.parent, "linux-minimal", default="windows")[0] == folder

    def test_no_default_among_several_images(self, folder: Path) -> None:
        other = folder.with_name("windows")
        write_image(other, _image(other))
        with raises_code(NotFound, "image_not_found", mentions="2"):
            find_image(folder.parent, "default")

    def test_missing_folder_has_no_image(self, tmp_path: Path) -> None:
        with raises_code(NotFound, "image_not_found", mentions="0"):
            find_image(tmp_path / "images", "default")

    @pytest.mark.parametrize("name", ["other", "..", "linux-minimal/../linux-minimal", ""])
    def test_a_name_that_none_bears_is_not_found(self, folder: Path, name: str) -> None:
        with pytest.raises(NotFound):
            find_image(folder.parent, name or "nothing")

    def test_a_build_under_way_is_not_listed(self, folder: Path) -> None:
        (folder.parent / "half").mkdir()
        (folder.parent / ".linux-building").mkdir()
        assert list(image_names(folder.parent)) == ["linux-minimal"]


class TestDescribed:
    def test_says_name_hash_and_size(self, tmp_path: Path) -> None:
        (tmp_path / "disk").write_bytes(b"disk")
        assert describe_file(tmp_path / "disk") == {
            "file": "disk",
            "sha256": hashlib.sha256(b"disk").hexdigest(),
            "size": 4,
        }
