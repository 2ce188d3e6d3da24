"""Static files of pages, and the documentation."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

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


@lru_cache(maxsize=1)
def version() -> str:
    """A hash over all static files; part of their address, so modules that import each other stay of one version."""
    content = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            content.update(str(path.relative_to(STATIC)).encode())
            content.update(path.read_bytes())
    return content.hexdigest()[:12]


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


class VersionedFiles(StaticFiles):
    """Serves `/static/<version>/<path>`; an older version's address returns the current file, uncached."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file, with cache headers by whether its address is of this version."""
        prefix, _, inside = path.partition("/")
        response = await super().get_response(inside, scope)
        response.headers["Cache-Control"] = FOREVER if prefix == version() else "no-cache"
        return response


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
