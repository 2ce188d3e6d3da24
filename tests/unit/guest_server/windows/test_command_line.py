"""Command lines and programs of Windows."""

from pathlib import Path

import pytest

from guest_server.windows.command_line import join, split_words
from guest_server.windows.commands import decode_output
from guest_server.windows.programs import Programs


class TestSplit:
    @pytest.mark.parametrize(
        ("line", "words"),
        [
            (r"C:\Windows\notepad.exe C:\a.txt", [r"C:\Windows\notepad.exe", r"C:\a.txt"]),
            (r'"C:\Program Files\x.exe" --a="b c"', [r"C:\Program Files\x.exe", "--a=b c"]),
            ("python -c 'print(1, 2)'", ["python", "-c", "print(1, 2)"]),
            (r'python -c "print(\"a b\")"', ["python", "-c", 'print("a b")']),
            ('a "" b', ["a", "", "b"]),
            ("  a\t b  ", ["a", "b"]),
        ],
    )
    def test_quotes_hold_words_together_and_backslashes_stay(self, line: str, words: list[str]) -> None:
        assert split_words(line) == words

    def test_an_open_quote_is_refused(self) -> None:
        with pytest.raises(ValueError, match="quotation"):
            split_words('say "hello')

    @pytest.mark.parametrize("words", [["a b", r"C:\x y\z", 'say "hi"'], ["plain"]])
    def test_joined_commands_split_into_the_same_words(self, words: list[str]) -> None:
        assert split_words(join(words)) == words


class TestPrograms:
    def programs(self, folder: Path) -> Programs:
        (folder / "chrome").write_text("")
        (folder / "chrome").chmod(0o755)
        return Programs({"PATH": str(folder), "COMSPEC": r"C:\Windows\cmd.exe"})

    def test_names_of_linux_mean_the_same_program(self, tmp_path: Path) -> None:
        programs = self.programs(tmp_path)
        assert programs.find("google-chrome") == programs.find("chrome") == str(tmp_path / "chrome")
        assert programs.find("firefox") == ""

    def test_commands_of_cmd_are_run_by_it(self, tmp_path: Path) -> None:
        programs = self.programs(tmp_path)
        assert programs.command(["start", "ms-clock:"]) == r'C:\Windows\cmd.exe /d /s /c "start ms-clock:"'
        assert programs.command(["mkdir", "a b"]) == r'C:\Windows\cmd.exe /d /s /c "mkdir "a b""'
        assert programs.command(["echo", "a b"]) == r'C:\Windows\cmd.exe /d /s /c "echo a b"'

    def test_a_path_is_left_alone(self, tmp_path: Path) -> None:
        assert self.programs(tmp_path).command([r"C:\x y\start.exe", "1"]) == r'"C:\x y\start.exe" 1'


class TestDecoded:
    def test_each_encoding_of_windows_programs(self) -> None:
        assert decode_output("ü\r\nx".encode()) == "ü\nx"
        assert decode_output("\ufeffü".encode("utf-16-le")) == "ü"
        assert decode_output(b"\x81") == "ü"
