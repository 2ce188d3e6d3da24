from pathlib import Path

import pytest

from guest_server.linux.menu import MenuEntry, menu, read_entry

GOOD = "[Desktop Entry]\nType=Application\nName=Shell\nExec=sh -c 'a b' %U\n"


class TestReadEntry:
    def test_name_and_command_without_field_codes(self, tmp_path: Path) -> None:
        file = tmp_path / "a.desktop"
        file.write_text(GOOD)
        assert read_entry(file) == MenuEntry("Shell", "sh -c 'a b'")

    @pytest.mark.parametrize(
        "text",
        [
            GOOD + "NoDisplay=true\n",
            GOOD + "Terminal=true\n",
            GOOD.replace("Exec=sh", "Exec=no-such-program"),
            GOOD.replace("Type=Application", "Type=Link"),
            "rubbish",
            "[Desktop Entry]\nType=Application\nExec='open",
        ],
    )
    def test_others_are_left_out(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "a.desktop"
        file.write_text(text)
        assert read_entry(file) is None


class TestMenu:
    def test_sorted_and_escaped(self) -> None:
        text = menu([MenuEntry("Z", "z"), MenuEntry("A<b", "a & b")])
        assert text.index("A&lt;b") < text.index('"Z"')
        assert "<command>a &amp; b</command>" in text
