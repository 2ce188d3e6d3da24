"""Responses with files of guests: pictures are shown, everything else is downloaded."""

from fastapi import Response

from backend.domain.people.submissions import form_of

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=3600",
}


def guest_file(data: bytes, name: str) -> Response:
    """The bytes with a media type verified by their signature; browsers run none of them."""
    form = form_of(data)
    inline = form.picture
    headers = {**HEADERS, "Content-Disposition": "inline" if inline else f'attachment; filename="{name}"'}
    return Response(data, media_type=form.value if inline else "application/octet-stream", headers=headers)
