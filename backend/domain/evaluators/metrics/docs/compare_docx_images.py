"""`compare_docx_images`: two documents show the same pictures."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.docs._documents import compare_documents, first_wrong
from backend.domain.formats.documents import pictures
from backend.domain.formats.pictures import decode_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


class DocumentPicture(NamedTuple):
    """A picture's content: the hash of its pixels, or of its bytes if it cannot be decoded."""

    shows: str
    words: str


@register(PluginKind.METRIC, "compare_docx_images")
def compare_docx_images(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """Compares the pictures of the text pixel by pixel, in the order in which they are shown.

    Args:
        result: path of the document to judge.
        expected: path of the expected document.
        strict_upstream: compare the stored pictures in storage order, shown or not.
    """

    def take(document: "Document") -> list[DocumentPicture]:
        parts = {
            name: relation.target_part.blob
            for name, relation in document.part.rels.items()
            if "image" in relation.reltype and not relation.is_external
        }
        names = list(parts) if strict_upstream else [name for name in pictures(document.element.body) if name in parts]
        return _pictures(names, parts, as_stored=strict_upstream)

    return compare_documents(result, expected, take, _judge, as_stored=strict_upstream)


def _pictures(names: Sequence[str], parts: Mapping[str, bytes], *, as_stored: bool) -> list[DocumentPicture]:
    pictures = {name: _document_picture(parts[name], as_stored=as_stored) for name in dict.fromkeys(names)}
    return [pictures[name] for name in names]


def _judge(actual: list[DocumentPicture], expected: list[DocumentPicture]) -> MetricValue:
    if len(actual) != len(expected):
        return verdict(met=False, reason=f"the document shows {len(actual)} pictures, expected {len(expected)}")
    wrong = [
        f"picture {number} ({result.words}) is not the expected one ({gold.words})"
        for number, (result, gold) in enumerate(zip(actual, expected, strict=True), start=1)
        if result.shows != gold.shows
    ]
    return first_wrong(wrong, f"all {len(expected)} pictures are the same")


def _document_picture(data: bytes, *, as_stored: bool) -> DocumentPicture:
    picture, reason = decode_picture(io.BytesIO(data), as_stored=as_stored)
    if picture is None:  # Drawings (EMF, WMF, SVG) and damaged pictures cannot be decoded.
        return DocumentPicture(hashlib.sha256(data).hexdigest(), f"{len(data)} bytes, {reason}")
    size = f"{picture.width}x{picture.height}"
    pixels = picture.convert("RGBA").tobytes()
    return DocumentPicture(hashlib.sha256(size.encode() + pixels).hexdigest(), size)
