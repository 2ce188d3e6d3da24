import contextlib
import json
import threading
from pathlib import Path

from worker.qemu.template import ABOUT, DISK, MEMORY, STATE
from worker.qemu.templates import Template, Templates

KEY = "a" * 64


def made(templates: Templates, key: str = KEY, *, image: str = "mini") -> Template:
    with templates.making(key) as place:
        for name in (MEMORY, STATE, DISK):
            (place / name).write_bytes(b"x" * 10)
        return templates.keep(place, key=key, image=image, screen=(800, 600), secret="s", seconds={"boot": 1.5})


class TestFind:
    def test_finds_what_was_made(self, tmp_path: Path) -> None:
        templates = Templates(tmp_path / "templates")
        kept = made(templates)
        assert templates.find(KEY) == kept
        assert kept.place == tmp_path / "templates" / KEY
        assert templates.all() == [kept]

    def test_missing_folder_has_no_templates(self, tmp_path: Path) -> None:
        assert Templates(tmp_path / "none").find(KEY) is None
        assert Templates(tmp_path / "none").all() == []

    def test_truncated_template_is_ignored(self, tmp_path: Path) -> None:
        templates = Templates(tmp_path)
        (made(templates).place / STATE).write_bytes(b"x")
        assert templates.find(KEY) is None

    def test_broken_description_is_ignored(self, tmp_path: Path) -> None:
        templates = Templates(tmp_path)
        about = made(templates).place / ABOUT
        about.write_text(json.dumps([1]))
        assert templates.find(KEY) is None
        about.write_text("{")
        assert templates.find(KEY) is None


class TestMaking:
    def test_leaves_nothing_when_it_fails(self, tmp_path: Path) -> None:
        templates = Templates(tmp_path)
        with contextlib.suppress(ValueError), templates.making(KEY) as place:
            (place / MEMORY).write_bytes(b"x")
            raise ValueError
        assert [each.name for each in tmp_path.iterdir()] == [f"{KEY}.lock"]

    def test_starts_empty_after_a_crashed_attempt(self, tmp_path: Path) -> None:
        (tmp_path / f".making-{KEY}").mkdir()
        (tmp_path / f".making-{KEY}" / MEMORY).write_bytes(b"x")
        with Templates(tmp_path).making(KEY) as place:
            assert list(place.iterdir()) == []

    def test_is_done_by_one_at_a_time(self, tmp_path: Path) -> None:
        inside, entered = Templates(tmp_path), threading.Event()

        def other() -> None:
            with Templates(tmp_path).making(KEY):
                entered.set()

        with inside.making(KEY):
            thread = threading.Thread(target=other)
            thread.start()
            assert not entered.wait(0.1)
        thread.join(60)
        assert entered.is_set()


class TestReplace:
    def test_removes_only_the_same_image_s_others(self, tmp_path: Path) -> None:
        templates = Templates(tmp_path)
        old, other = made(templates, "b" * 64), made(templates, "c" * 64, image="other")
        new = made(templates)
        templates.replace(new)
        assert templates.all() == [new, other]
        assert not old.place.exists()
