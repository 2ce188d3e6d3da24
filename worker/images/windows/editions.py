"""Editions of Windows on an installation medium, read before an hour is spent on it."""

import struct
from collections.abc import Sequence
from pathlib import Path

from lxml import etree

from backend.domain.errors import Invalid
from backend.domain.model.task import Frozen
from worker.images.windows.udf import Udf

IMAGES = ("sources/install.wim", "sources/install.esd")
_MAGIC = b"MSWIM\0\0\0"
_HEADER_BYTES = 208
_XML_AT = 72
_MOST_XML = 16 * 2**20
_AMD64 = "9"
_WINDOWS_11 = 22000
# First builds of each Server version, and the folders of its drivers on the virtio-win medium.
_SERVERS = ((26100, "2k25"), (20348, "2k22"), (17763, "2k19"), (14393, "2k16"))


class Edition(Frozen):
    """One edition.

    Attributes:
        index: from 1, as the answer file names it.
        name: Microsoft's name, for example `Windows 11 Enterprise Evaluation`.
        id: for example `EnterpriseEval`.
        installation: `Client`, `Server` or `Server Core`.
        build: Windows' build number.
        languages: available languages, the default first.
    """

    index: int
    name: str
    id: str
    installation: str
    build: int
    languages: tuple[str, ...]

    @property
    def server(self) -> bool:
        """Whether it is a Windows Server."""
        return self.installation != "Client"

    @property
    def drivers(self) -> str:
        """Folder of its drivers on the virtio-win medium."""
        if not self.server:
            return "w11" if self.build >= _WINDOWS_11 else "w10"
        return next((folder for oldest, folder in _SERVERS if self.build >= oldest), "2k16")


def editions(iso: Path) -> tuple[Edition, ...]:
    """The editions for amd64.

    Raises:
        Invalid: It is not a Windows installation medium, or has no edition.
    """
    with Udf(iso) as medium:
        extents = next(filter(None, (medium.find(name) for name in IMAGES)), None)
        if extents is None:
            raise Invalid(
                f"the file {IMAGES[0]} is missing",
                code="invalid_iso",
                path=str(iso),
                hint=("Check that it is a Windows ISO."),
            )
        header = medium.read(extents, 0, _HEADER_BYTES)
        # 7 bytes of size, a byte of flags, an offset. Source: Microsoft's description of the Windows Imaging format.
        size, offset = struct.unpack_from("<QQ", header, _XML_AT)
        size &= 2**56 - 1
        if header[:8] != _MAGIC or size > _MOST_XML:
            raise Invalid("its Windows image is damaged", code="invalid_iso", path=str(iso))
        return read_editions(medium.read(extents, offset, size))


def read_editions(description: bytes) -> tuple[Edition, ...]:
    """Editions from the XML at the end of a WIM file. Raises Invalid."""
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        root = etree.fromstring(description.decode("utf-16").encode(), parser)
        all_editions = tuple(
            _edition(image) for image in root.iter("IMAGE") if image.findtext("WINDOWS/ARCH") == _AMD64
        )
    except (UnicodeDecodeError, etree.XMLSyntaxError, ValueError) as error:
        raise Invalid(f"its list of editions cannot be read: {error}", code="invalid_iso") from error
    if not all_editions:
        raise Invalid("it has no edition for x86-64", code="invalid_iso")
    return all_editions


def _edition(image: etree._Element) -> Edition:
    languages = [language.text or "" for language in image.iterfind("WINDOWS/LANGUAGES/LANGUAGE")]
    default = image.findtext("WINDOWS/LANGUAGES/DEFAULT") or ""
    return Edition(
        index=int(image.get("INDEX", "")),
        name=image.findtext("NAME") or "",
        id=image.findtext("WINDOWS/EDITIONID") or "",
        installation=image.findtext("WINDOWS/INSTALLATIONTYPE") or "",
        build=int(image.findtext("WINDOWS/VERSION/BUILD") or ""),
        languages=tuple(dict.fromkeys([*([default] if default else []), *languages])),
    )


def edition_of(all_editions: Sequence[Edition], name: str) -> Edition:
    """The edition with that name or id; empty = the only one.

    Raises:
        Invalid: There is none, or there are several; the hint lists them.
    """
    hint = "Editions: " + "; ".join(f"{edition.name} ({edition.id})" for edition in all_editions)
    if not name:
        if len(all_editions) > 1:
            raise Invalid(
                "the medium has several editions: choose one with --edition",
                code="invalid_image_plan",
                path="edition",
                hint=hint,
            )
        return all_editions[0]
    # A Server medium has each edition id twice, with and without desktop: take the one with desktop.
    matching = [edition for edition in all_editions if name.lower() in {edition.name.lower(), edition.id.lower()}]
    choices = [edition for edition in matching if edition.installation != "Server Core"] or matching
    if len(choices) != 1:
        raise Invalid(f"{len(choices)} editions match {name!r}", code="invalid_image_plan", path="edition", hint=hint)
    return choices[0]
