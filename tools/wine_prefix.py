"""Makes the template of Wine's prefix: `python3 tools/wine_prefix.py HOME PYTHON`. `make setup` calls it.

A prefix is Windows as Wine's programs see it: drives, registry, users. Every desktop with Windows programs gets one as
an overlay over this template (worker/local/wine.py), so it is kept small: what Wine copies out of its own folder, some
690 MB, becomes links into that folder. It is made to be moved, and holds nothing of the machine or its user.

Only the standard library is used: it runs on the machine's own Python.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SETTINGS = Path(__file__).resolve().parent.parent / "vm_images" / "wine" / "settings.reg"
LOADERS = (Path("/usr/lib/wine/wine64"), Path("/usr/lib/wine/wine"))
"""Where Debian and Ubuntu put the program itself, behind their wrapper in /usr/bin."""
OWN_FOLDERS = (Path("/usr/lib/x86_64-linux-gnu/wine"), Path("/usr/share/wine"), Path("/usr/lib/wine"))
FONTS = Path("/usr/share/wine/fonts")
USER = "Docker"
"""The name that WindowsAgentArena's tasks use in their paths."""
PYTHON = r"C:\Python"
_ENVIRONMENT = r"HKLM\System\CurrentControlSet\Control\Session Manager\Environment"
_SYSTEM_PATH = r"%SystemRoot%\system32;%SystemRoot%;%SystemRoot%\system32\wbem"
_SECONDS = 300


class PrefixError(Exception):
    """Wine could not create it; the message names the command.

    Attributes:
        code: stable name of the case.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


def loader() -> Path | None:
    """Wine's own program on this machine; None where Wine is not installed."""
    return next((path for path in LOADERS if path.is_file() and os.access(path, os.X_OK)), None)


def make(prefix: Path, python: Path) -> None:
    """Makes the template at `prefix`, which must not exist; `python` is the folder of Windows' Python.

    Raises:
        PrefixError: a step failed.
        OSError: files could not be written.
    """
    program = loader()
    if program is None:
        raise PrefixError("Wine is not installed", code="wine_missing")
    with tempfile.TemporaryDirectory(prefix="wine-home-") as home:
        wine = Wine(program, prefix, Path(home))
        try:
            wine.run("wineboot", "--init")
            wine.run("winecfg", "-v", "win10")
            wine.run("regedit", "/S", wine.path(SETTINGS))
            path = f"{_SYSTEM_PATH};{PYTHON}"
            wine.run("reg", "add", _ENVIRONMENT, "/v", "PATH", "/t", "REG_EXPAND_SZ", "/d", path, "/f")
            wine.run(wine.path(python / "python.exe"), "-m", "compileall", "-q", wine.path(python))
        finally:
            wine.end()
    own_folders(prefix)
    link_fonts(prefix / "drive_c" / "windows" / "Fonts")
    link_own_files(prefix / "drive_c")
    # A drive for the host's root would show programs a Linux that tasks know nothing of.
    for drive in (prefix / "dosdevices").iterdir():
        if drive.name != "c:":
            drive.unlink()
    (prefix / "wineserver").unlink(missing_ok=True)  # Of the server that has ended.
    # Wine updates a prefix when its own files seem newer.
    (prefix / ".update-timestamp").write_text("disable\n")


class Wine:
    """Wine on a prefix in the making."""

    def __init__(self, program: Path, prefix: Path, home: Path) -> None:
        self._program = program
        self._environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "USER": USER,
            "LOGNAME": USER,
            "LANG": "C.UTF-8",
            "WINEPREFIX": str(prefix),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            # Set before our settings exist: no offers to download Mono and Gecko.
            "WINEDLLOVERRIDES": "mscoree=;mshtml=;winemenubuilder.exe=",
        }

    def run(self, *words: str) -> None:
        """Runs a Windows program to its end.

        Raises:
            PrefixError: it failed, or took too long.
        """
        self._call([str(self._program), *words])

    def end(self) -> None:
        """Ends Wine's programs, and returns when the registry is written."""
        server = [str(self._program.parent / "wineserver")]
        self._call([*server, "-k"], may_fail=True)
        self._call([*server, "-w"])

    @staticmethod
    def path(path: Path) -> str:
        """A path of this machine as Windows programs name it."""
        return "Z:" + str(path).replace("/", "\\")

    def _call(self, command: Sequence[str], *, may_fail: bool = False) -> None:
        # Pipes for all three, because Windows' Python cannot use a Linux terminal or file under Wine.
        try:
            result = subprocess.run(
                command, input=b"", capture_output=True, env=self._environment, timeout=_SECONDS, check=False, cwd="/"
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PrefixError(f"{' '.join(command)}: {error}", code="not_started") from error
        if result.returncode and not may_fail:
            output = (result.stdout + result.stderr).decode(errors="replace").strip()[-1000:]
            raise PrefixError(
                f"{' '.join(command)} failed with exit code {result.returncode}: {output}", code="command_failed"
            )


def own_folders(prefix: Path) -> None:
    """The user's folders are folders: by default they are links to the home of the user who made the prefix.

    They are removed here. Each desktop makes its own, because an overlay cannot rename a folder of its lower layer.
    """
    for path in (prefix / "drive_c" / "users" / USER).rglob("*"):
        if path.is_symlink():
            path.unlink()


def link_fonts(folder: Path) -> None:
    """Gives the prefix Wine's own fonts, those of the signs in title bars among them: Debian's Wine leaves them out."""
    for path in sorted(FONTS.glob("*")):
        link = folder / path.name
        if not link.exists():
            link.symlink_to(path)


def link_own_files(drive: Path) -> int:
    """Replaces copies of Wine's own files by links to them. Returns how many bytes that saved."""
    known: dict[str, list[Path]] = {}
    for folder in OWN_FOLDERS:
        for path in folder.rglob("*"):
            if path.is_file():
                known.setdefault(path.name.lower(), []).append(path)
    saved = 0
    for path in [path for path in drive.rglob("*") if path.is_file() and not path.is_symlink()]:
        same = [
            candidate for candidate in known.get(path.name.lower(), []) if filecmp.cmp(candidate, path, shallow=False)
        ]
        if same:
            saved += path.stat().st_size
            path.unlink()
            path.symlink_to(same[0])
    return saved


def main() -> int:
    """Makes a home with the prefix in it, whole or not at all. Returns the exit status."""
    home, python = (Path(word).absolute() for word in sys.argv[1:3])
    fresh = home.with_name(home.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        make(fresh / ".wine", python)
    except (PrefixError, OSError) as error:
        shutil.rmtree(fresh, ignore_errors=True)
        print(f"Wine's prefix could not be made: {error}", file=sys.stderr)
        return 1
    shutil.rmtree(home, ignore_errors=True)
    fresh.rename(home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
