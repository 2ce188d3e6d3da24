import io
import re
import zipfile
from pathlib import Path

from worker.images.windows.server import GUEST, LOCK, api_version, archive, read_python
from worker.qemu.arguments import SCREEN_NAME, SECRET_NAME

SETUP = GUEST.parent / "windows" / "setup"


class TestReadPython:
    def test_its_hash_is_pinned(self) -> None:
        python = read_python()
        assert python.minor == "3.12"
        assert python.version in python.url


class TestLock:
    def test_pins_every_package_with_hashes(self) -> None:
        pins = re.split(r"^(?=[a-z0-9])", LOCK.read_text(), flags=re.MULTILINE)[1:]
        wanted = {line for line in LOCK.with_suffix(".in").read_text().splitlines() if not line.startswith("#")}
        assert wanted <= {pin.split("==")[0] for pin in pins}
        assert [pin for pin in pins if "--hash=sha256:" not in pin] == []


class TestArchive:
    def test_same_content_same_bytes(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            folder = tmp_path / name
            (folder / "sub").mkdir(parents=True)
            (folder / "sub" / "a.py").write_text("a = 1\n")
            (folder / "__pycache__").mkdir()
            (folder / "__pycache__" / name).write_text("compiled")
        assert archive(tmp_path / "one") == archive(tmp_path / "two")

    def test_an_earlier_folder_wins(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "both").write_text(name)
        (tmp_path / "two" / "more").write_text("more")
        made = zipfile.ZipFile(io.BytesIO(archive(tmp_path / "one", tmp_path / "two", inside="in")))
        assert sorted(made.namelist()) == ["in/both", "in/more"]
        assert made.read("in/both") == b"one"


class TestApiVersion:
    def test_is_that_of_the_guest_server(self) -> None:
        from guest_server import API_VERSION

        assert api_version() == API_VERSION


class TestScripts:
    """Of the set-up, as far as it can be read: nothing here runs them."""

    def test_the_python_minds_its_environment(self) -> None:
        """Agents' code gets its library by PYTHONPATH, which a Python with a `._pth` file ignores."""
        script = (SETUP / "server.ps1").read_text()
        assert re.findall(r"^ *([A-Z]\S+) .*\._pth", script, re.MULTILINE) == ["Remove-Item"]

    def test_the_server_finds_its_packages_and_itself(self) -> None:
        line = next(line for line in (SETUP / "serve.ps1").read_text().splitlines() if "$env:PYTHONPATH =" in line)
        assert re.findall(r"\$PSScriptRoot '(\w+)'", line) == ["site", "server"]

    def test_secret_and_screen_have_the_names_that_the_machine_gives_them(self) -> None:
        names = re.findall(r"Get-OemString '(.*)='", (SETUP / "serve.ps1").read_text())
        assert sorted(names) == sorted([SCREEN_NAME, SECRET_NAME])

    def test_it_has_no_window(self) -> None:
        script = (SETUP / "server.ps1").read_text()
        assert "-Execute 'conhost.exe'" in script
        assert '"--headless powershell.exe ' in script
