"""Static files under an address that names their content: cached for ever, and never out of date."""

import hashlib
from functools import lru_cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
STATIC = FRONTEND / "static"
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


class VersionedFiles(StaticFiles):
    """Serves `/static/<version>/<path>`; an older version's address gives the present file, uncached."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file, with cache headers by whether its address is of this version."""
        asked, _, inside = path.partition("/")
        response = await super().get_response(inside, scope)
        response.headers["Cache-Control"] = FOREVER if asked == version() else "no-cache"
        return response
