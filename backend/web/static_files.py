"""Static files of pages, and the documentation."""

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from backend.domain.errors import NotFound

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
STATIC = FRONTEND / "static"
DOCS_SITE = ROOT / ".docs-site"
"""Output of `make docs`."""
FOREVER = "public, max-age=31536000, immutable"
STYLE_SHEET = "css/all.css"
"""All style sheets as one file: a page waits for one request, not for eight."""
STYLE_SHEETS = ("tokens", "base", "components", "tables", "lists", "screens", "forms", "print")
"""Its parts in `css`, in their order."""
_TEXT = {".css", ".js", ".svg"}


@lru_cache(maxsize=1)
def version() -> str:
    """A hash over all static files; part of their address, so modules that import each other stay of one version."""
    content = hashlib.sha256()
    for path in _paths():
        content.update(str(path.relative_to(STATIC)).encode())
        content.update(path.read_bytes())
    return content.hexdigest()[:12]


def _paths() -> Sequence[Path]:
    return sorted(path for path in STATIC.rglob("*") if path.is_file())


def static_url(path: str) -> str:
    """The address of a static file."""
    return f"/static/{version()}/{path}"


_IMPORT = re.compile(r"""^(?:import|export)\b[^;'"]*?["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


@lru_cache(maxsize=1)
def _imports() -> dict[str, tuple[str, ...]]:
    """Modules by the module that imports them by name, as paths below `static`."""
    return {
        str(path.relative_to(STATIC)): tuple(
            str((path.parent / name).resolve().relative_to(STATIC)) for name in _IMPORT.findall(path.read_text())
        )
        for path in STATIC.rglob("*.js")
    }


@lru_cache(maxsize=256)
def modules_of(controllers: frozenset[str]) -> Sequence[str]:
    """Every module that a page with these controllers loads, so that one request need not wait for another."""
    imports = _imports()
    names = ["js/main.js", *(f"js/controllers/{name.replace('-', '_')}.js" for name in sorted(controllers))]
    modules: dict[str, None] = {}
    while names:
        name = names.pop(0)
        if name in imports and name not in modules:
            modules[name] = None
            names += imports[name]
    return tuple(modules)


@dataclass(frozen=True)
class _File:
    """A file as it is sent; `packed` by gzip, None if that saves nothing."""

    media_type: str
    content: bytes
    packed: bytes | None


@lru_cache(maxsize=1)
def _files() -> dict[str, _File]:
    """Every static file by its path below `static`: half a megabyte, read and compressed once."""
    files = {str(path.relative_to(STATIC)): _file(path, path.read_bytes()) for path in _paths()}
    parts = [(STATIC / "css" / f"{name}.css").read_bytes() for name in STYLE_SHEETS]
    return files | {STYLE_SHEET: _file(STATIC / STYLE_SHEET, b"".join(parts))}


def _file(path: Path, content: bytes) -> _File:
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return _File(media_type, content, gzip.compress(content, mtime=0) if path.suffix in _TEXT else None)


class VersionedFiles(StaticFiles):
    """Serves `/static/<version>/<path>`; an older version's address returns the current file, uncached."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file, with cache headers by whether its address is of this version."""
        prefix, _, inside = path.partition("/")
        file = _files().get(inside)
        if file is None or scope["method"] not in {"GET", "HEAD"}:
            return await super().get_response(inside, scope)
        headers = {"Cache-Control": FOREVER if prefix == version() else "no-cache"}
        if file.packed is not None and "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
            return Response(file.packed, headers=headers, media_type=file.media_type)
        return Response(file.content, headers=headers, media_type=file.media_type)


class Documentation(StaticFiles):
    """Serves the documentation site, revalidated at each visit."""

    def __init__(self, site: Path = DOCS_SITE) -> None:
        super().__init__(directory=site, html=True, check_dir=False)
        self._site = site

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file of the site.

        Raises:
            NotFound: the site was not built.
        """
        if not (self._site / "index.html").is_file():
            raise NotFound(
                "The documentation site is not built.",
                code="docs_not_built",
                hint="Run `make docs`, then reload this page.",
            )
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response
