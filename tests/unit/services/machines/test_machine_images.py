import json
from pathlib import Path

import pytest

from backend.domain.errors import NotFound
from backend.services.machines.machine_images import all_images, description, image_by_name, remove_image
from tests.factories.machine_images import image_of, write_small_image


def write_template(data: Path, key: str, image: str, screen: tuple[int, int] = (1280, 800)) -> Path:
    place = data / "templates" / key
    place.mkdir(parents=True)
    (place / "memory").write_bytes(b"x" * 5000)
    (place / "template.json").write_text(json.dumps({"image": image, "screen": screen, "secret": "never shown"}))
    (data / "templates" / f"{key}.lock").touch()
    return place


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two whole images, one of them prepared, and a build that did not end."""
    write_small_image(tmp_path / "images", "debian")
    write_small_image(tmp_path / "images", "eleven", os="windows", programs=("notepad",))
    (tmp_path / "images" / "half").mkdir()
    (tmp_path / "images" / ".making-x").mkdir()
    write_template(tmp_path, "a1", "debian")
    return tmp_path


class TestAllImages:
    def test_distinguishes_complete_and_broken_images(self, data: Path) -> None:
        found = all_images(data)
        assert [(each.name, each.image is not None) for each in found] == [
            ("debian", True),
            ("eleven", True),
            ("half", False),
        ]
        assert "image.json is missing" in found[2].problem
        assert found[0].size > 0

    def test_lists_prepared_templates(self, data: Path) -> None:
        assert [[template.screen for template in each.templates] for each in all_images(data)] == [
            [(1280, 800)],
            [],
            [],
        ]

    def test_other_folders_are_ignored(self, data: Path) -> None:
        for key, text in {"b1": "{", "b2": "[]", "b3": '{"image": "debian", "screen": [1]}', "b4": "\0"}.items():
            (data / "templates" / key).mkdir()
            (data / "templates" / key / "template.json").write_text(text)
        assert len(all_images(data)[0].templates) == 1

    def test_marks_the_configured_default(self, data: Path) -> None:
        assert [each.name for each in all_images(data, "eleven") if each.default] == ["eleven"]

    def test_the_only_whole_one_needs_no_name(self, data: Path) -> None:
        assert not any(each.default for each in all_images(data))
        remove_image(data, "eleven")
        assert [each.name for each in all_images(data) if each.default] == ["debian"]

    def test_damaged_image_has_a_problem(self, data: Path) -> None:
        (data / "images" / "debian" / "disk.qcow2").chmod(0o644)
        (data / "images" / "debian" / "disk.qcow2").write_bytes(b"")
        assert "disk.qcow2" in all_images(data)[0].problem

    def test_missing_folder_has_no_images(self, tmp_path: Path) -> None:
        assert all_images(tmp_path) == []


class TestOneImage:
    def test_says_which_there_are(self, data: Path) -> None:
        assert image_by_name(data, "half").image is None
        with pytest.raises(NotFound) as caught:
            image_by_name(data, "debian-full")
        assert caught.value.hint == "There are: debian, eleven, half."

    @pytest.mark.parametrize("name", ["../debian", "", ".", "/", "images/debian"])
    def test_a_name_is_not_a_path(self, data: Path, name: str) -> None:
        with pytest.raises(NotFound):
            image_by_name(data, name)


class TestRemoveImage:
    def test_takes_its_templates_along_and_nothing_else(self, data: Path) -> None:
        other = write_template(data, "c3", "eleven")
        freed = remove_image(data, "debian")
        assert freed >= 5000
        assert [each.name for each in all_images(data)] == ["eleven", "half"]
        assert sorted(each.name for each in (data / "templates").iterdir()) == ["c3", "c3.lock"]
        assert other.is_dir()
        assert not list((data / "images").glob(".removed*"))

    def test_unfinished_build_is_removed(self, data: Path) -> None:
        remove_image(data, "half")
        assert not (data / "images" / "half").exists()

    def test_unknown_image_is_refused(self, data: Path) -> None:
        with pytest.raises(NotFound):
            remove_image(data, "nothing")


class TestAbout:
    def test_is_one_line(self) -> None:
        assert description(image_of(memory_mib=1536, cpus=1)) == "minimal 1; 1.5 GiB, 1 processor, disk 8 GiB"
