"""Electronic books."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

TOC = '<?xml version="1.0"?>\n<ncx>\n<docTitle><text>{title}</text></docTitle>\n<navPoint id="{id}"/>\n</ncx>\n'
OPF = (
    '<?xml version="1.0"?>\n<package>\n<metadata>\n<dc:title>{title}</dc:title>\n'
    "<dc:identifier>{id}</dc:identifier>\n</metadata>\n</package>\n"
)
CHAPTER = "<html><head><title>{title}</title></head><body><h1>{title}</h1>{text}</body></html>"


def chapter(title: str, *paragraphs: str, lines: str = "") -> str:
    """A chapter's HTML; `lines`: text between its paragraphs, which does not count."""
    return CHAPTER.format(title=title, text=lines.join(f"<p>{paragraph}</p>" for paragraph in paragraphs))


def epub(
    path: Path, chapters: Mapping[str, str], *, title: str = "Pass Through", number: str = "1", folder: str = ""
) -> str:
    """Writes a book. `number`: the identifier, which each converter generates; `folder`: the folder of its files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr(f"{folder}toc.ncx", TOC.format(title=title, id=number))
        book.writestr(f"{folder}content.opf", OPF.format(title=title, id=number))
        for name, text in chapters.items():
            book.writestr(f"{folder}{name}", text)
    return str(path)
