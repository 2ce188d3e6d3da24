"""LibreOffice, for files as an application writes them."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

SECONDS = 120
_made: dict[tuple[str, str], bytes] = {}


def soffice(path: Path, to: str) -> Path:
    """The file as LibreOffice saves it in the format `to` (`docx`, `odt`, `pdf`, `xlsx:Calc MS Excel 2007 XML`, ...).

    Lies beside the original, in a folder `office`. The same bytes are converted once per process. Every call has a
    profile folder of its own, so that calls may run side by side.
    """
    return soffice_all([path], to)[0]


def soffice_all(paths: list[Path], to: str) -> list[Path]:
    """Several files in one start of LibreOffice, which takes most of the time. Their names must differ."""
    if shutil.which("soffice") is None:
        pytest.skip("needs LibreOffice (soffice)")
    missing = [path for path in paths if _key(path, to) not in _made]
    if missing:
        _convert(missing, to)
    converted = []
    for path in paths:
        target = path.parent / "office" / f"{path.stem}.{to.split(':', maxsplit=1)[0]}"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(_made[_key(path, to)])
        converted.append(target)
    return converted


def _key(path: Path, to: str) -> tuple[str, str]:
    return hashlib.sha256(path.suffix.encode() + path.read_bytes()).hexdigest(), to


def _convert(paths: list[Path], to: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        profile, out = Path(folder, "profile"), Path(folder, "out")
        words = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore"]
        words += ["--convert-to", to, "--outdir", str(out), *map(str, paths)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        for path in paths:
            converted = out / f"{path.stem}.{to.split(':', maxsplit=1)[0]}"
            assert converted.is_file(), f"LibreOffice did not convert {path.name}: {done.stdout} {done.stderr}"
            _made[_key(path, to)] = converted.read_bytes()
