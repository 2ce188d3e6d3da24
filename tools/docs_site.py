"""Builds the documentation site from docs/ into .docs-site, where the service serves it from: `make docs`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = ROOT / ".docs-site"
STATIC = ROOT / "frontend" / "static"
SHARED = ("css/tokens.css", "fonts", "img/logo.svg")
"""Files that the site shares with the service, below `frontend/static`."""
OWN = ("docs.css", "docs.js")


def sources() -> list[Path]:
    """All sources of the site."""
    shared = [STATIC / name for name in SHARED]
    paths = [path for folder in (DOCS, *shared) for path in ([folder] if folder.is_file() else folder.rglob("*"))]
    return sorted(path for path in paths if path.is_file())


class NotBuiltError(Exception):
    """Sphinx failed; the text is its output."""


def build(site: Path = SITE, docs: Path = DOCS) -> None:
    """Builds the site; the old one stays until the new one is complete. A warning of Sphinx is an error.

    Raises:
        NotBuiltError: Sphinx failed.
    """
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=".docs-site-") as folder:
        fresh, cache = Path(folder) / "site", Path(folder) / "cache"
        _run_sphinx(docs, fresh, cache)
        for name in SHARED:
            _copy(STATIC / name, fresh / "_static" / name)
        for name in OWN:
            _copy(docs / "site" / name, fresh / "_static" / name)
        for page in fresh.rglob("README.html"):
            shutil.copyfile(page, page.with_name("index.html"))  # What the address of a folder shows.
        shutil.rmtree(site, ignore_errors=True)
        fresh.rename(site)


def _run_sphinx(docs: Path, site: Path, cache: Path) -> None:
    options = ["-q", "-W", "--keep-going", "-c", str(docs / "site"), "-d", str(cache)]
    command = [sys.executable, "-m", "sphinx", *options, str(docs), str(site)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise NotBuiltError(result.stdout + result.stderr)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


def main() -> int:
    """Returns 0 when the site is built, else 1 with Sphinx's output."""
    try:
        build()
    except NotBuiltError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
