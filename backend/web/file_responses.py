"""Files of guests as answers: pictures to look at, everything else to save."""

from fastapi import Response

from backend.domain.people.submissions import form_of

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=3600",
}


def guest_file(data: bytes, name: str) -> Response:
    """The bytes with a type that their first bytes bear out; no browser runs any of them."""
    form = form_of(data)
    shown = form.picture
    headers = {**HEADERS, "Content-Disposition": "inline" if shown else f'attachment; filename="{name}"'}
    return Response(data, media_type=form.value if shown else "application/octet-stream", headers=headers)
