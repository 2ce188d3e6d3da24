"""Presentations whose slide has a sound or a background picture, inside of the file or linked."""

import io
import zipfile
from collections.abc import Callable

from pptx import Presentation

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELS = "ppt/slides/_rels/slide{}.xml.rels"


def presentation(slides: int = 2) -> bytes:
    """A .pptx file with empty slides."""
    deck = Presentation()
    for _ in range(slides):
        deck.slides.add_slide(deck.slide_layouts[6])
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def with_link(kind: str, target: str, data: bytes | None = None, *, slide: int = 0, external: bool = False) -> bytes:
    """A presentation one of whose slides has a relationship of that kind.

    Args:
        kind: `audio`, `image`.
        target: as in the .rels part, for example `../media/media1.wav`.
        data: the bytes of the part under `ppt/media/`, if the target is one.
        slide: from 0.
        external: the target is outside of the file.
    """
    mode = ' TargetMode="External"' if external else ""
    link = f'<Relationship Id="rId99" Type="{RELATIONS}/{kind}" Target="{target}"{mode}/>'

    def linked(text: str) -> str:
        return text.replace("</Relationships>", f"{link}</Relationships>")

    parts: dict[str, Callable[[str], str]] = {RELS.format(slide + 1): linked}
    if kind == "image":
        parts[f"ppt/slides/slide{slide + 1}.xml"] = _with_background
    return _changed(presentation(), parts, {} if data is None else {f"ppt/media/{target.rsplit('/', 1)[-1]}": data})


def _with_background(text: str) -> str:
    fill = (
        f'<p:bg><p:bgPr><a:blipFill><a:blip xmlns:r="{RELATIONS}" r:embed="rId99"/><a:stretch><a:fillRect/>'
        "</a:stretch></a:blipFill><a:effectLst/></p:bgPr></p:bg>"
    )
    return text.replace("<p:cSld>", f"<p:cSld>{fill}")


def _changed(package: bytes, parts: dict[str, Callable[[str], str]], more: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, parts[name](data.decode()).encode() if name in parts else data)
        for name, data in more.items():
            new.writestr(name, data)
    return out.getvalue()
