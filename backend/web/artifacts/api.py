"""Artifacts: bytes by their hash, readable through the episode or task set that refers to them."""

from enum import IntEnum
from typing import Annotated

from fastapi import Path, Query, Response

from backend.domain.errors import NotFound
from backend.domain.screen.pictures import thumbnail
from backend.services.artifacts.artifacts import open_for
from backend.services.lru_cache import LruCache
from backend.web.api_common import api_router
from backend.web.dependencies import ActorDep, EdgeDep, SessionDep

router = api_router("artifacts")
# Our own code encodes these, so browsers may show them. Everything else came from a guest or a task file and is only
# downloaded: as HTML or SVG it could run as a page of ours.
SHOWN = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n\x1a\n"}
TEXT = ("text/plain", "application/xml", "text/xml", "application/json")
Sha256 = Annotated[str, Path(pattern="^[0-9a-f]{64}$", examples=["0" * 64])]
CACHED = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=31536000, immutable",
}


class Width(IntEnum):
    """Pixels across: of a picture along a scrubber, of a tile."""

    STRIP = 160
    TILE = 480


_THUMBNAILS: LruCache[tuple[str, int], bytes] = LruCache(1000)
"""One takes 3 to 30 kB."""


@router.get(
    "/artifacts/{sha256}",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {}, "application/octet-stream": {}}, "description": "The bytes."}},
)
def read(
    session: SessionDep,
    actor: ActorDep,
    edge: EdgeDep,
    sha256: Sha256,
) -> Response:
    """The bytes of an artifact: pictures are shown, everything else is downloaded."""
    artifact = open_for(session, sha256, actor)
    data = edge.store.get(sha256)
    mark = SHOWN.get(artifact.media_type)
    is_known_picture = mark is not None and data.startswith(mark)
    # Neutral types for downloads: no browser runs text or bytes, and our scripts read the tree as text.
    media_type = (
        artifact.media_type
        if is_known_picture
        else ("text/plain" if artifact.media_type in TEXT else "application/octet-stream")
    )
    headers = {
        **CACHED,
        "Content-Disposition": "inline" if is_known_picture else f'attachment; filename="{sha256[:16]}"',
        "ETag": f'"{sha256}"',
    }
    return Response(data, media_type=media_type, headers=headers)


@router.get(
    "/artifacts/{sha256}/thumbnail",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {}}, "description": "A small JPEG of the picture."}},
)
def read_thumbnail(
    session: SessionDep,
    actor: ActorDep,
    edge: EdgeDep,
    sha256: Sha256,
    width: Annotated[Width, Query(description="Pixels; narrower pictures are not enlarged.")] = Width.TILE,
) -> Response:
    """A picture in the size in which it is shown. Raises NotFound if the artifact is not a picture."""
    artifact = open_for(session, sha256, actor)
    small = _THUMBNAILS.get((sha256, width)) if artifact.media_type in SHOWN else None
    if small is None and artifact.media_type in SHOWN:
        small = thumbnail(edge.store.get(sha256), width)
    if small is None:
        raise NotFound("This artifact is not a readable picture.", code="artifact_not_a_picture")
    _THUMBNAILS.put((sha256, width), small)
    return Response(small, media_type="image/jpeg", headers={**CACHED, "ETag": f'"{sha256}-{width}"'})
