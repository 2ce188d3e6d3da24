"""Generates a file's bytes from a request."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from backend.domain.file_generators import office, texts
from backend.domain.file_generators.pdf import pdf
from backend.domain.file_generators.pictures import picture
from backend.domain.file_generators.prose import Prose, prose_of
from backend.domain.file_generators.tables import SheetContent, sheets_of
from backend.domain.file_generators.values import FIXED

_TODAY = re.compile(r"今天|昨天|天前|近\s*\d+\s*天|未来|(?i:today|yesterday|days ago)")
_AGES = {"今天": 0, "昨天": 1}


@dataclass(frozen=True)
class FileRequest:
    """A request for a file.

    Attributes:
        name: name of the file, with its suffix.
        prompts: descriptions of this file.
        like: the description that "the same as above" means; empty = none.
        today: the date around which dates are generated; see `asks_for_today`.
    """

    name: str
    prompts: tuple[str, ...]
    like: str = ""
    today: date = FIXED

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> "FileRequest":
        """The request of a `generate_file` step."""
        name = str(parameters["path"]).replace("\\", "/").rsplit("/", 1)[-1]
        return cls(name=name, prompts=tuple(parameters["prompts"]), like=str(parameters.get("like", "")))

    @property
    def seed(self) -> str:
        """Hash of everything but the day: random content is the same for the same request."""
        return hashlib.sha256("\x00".join((self.name, self.like, *self.prompts)).encode()).hexdigest()

    @property
    def words(self) -> str:
        """All descriptions joined."""
        return "；".join(self.prompts)


def make(file_type: str, order: FileRequest) -> bytes:
    """Generates the file. Raises KeyError for a type that is not in KINDS."""
    return KINDS[file_type](order)


def asks_for_today(prompts: tuple[str, ...]) -> bool:
    """Whether a description mentions today, so that the desktop's date is part of the request."""
    return any(_TODAY.search(prompt) for prompt in prompts)


def age_days(prompts: tuple[str, ...]) -> int | None:
    """How many days ago the file was last changed, if described."""
    for prompt in prompts:
        age = re.search(r"修改时间为(今天|昨天|(\d{1,4})天前)", prompt)
        if age:
            return int(age.group(2)) if age.group(2) else _AGES[age.group(1)]
    return None


def _sheets(order: FileRequest) -> list[SheetContent]:
    return sheets_of(order.prompts, order.like, order.seed, order.today)


def _prose(order: FileRequest) -> Prose:
    return prose_of(order.prompts, order.name, order.seed)


def _pdf(order: FileRequest) -> bytes:
    prose = _prose(order)
    return pdf([] if order.words.startswith("空") else prose.lines(), prose.pages)


KINDS: Mapping[str, Callable[[FileRequest], bytes]] = {
    "xlsx": lambda order: office.workbook(_sheets(order)),
    "docx": lambda order: office.document(_prose(order)),
    "pdf": _pdf,
    "csv": lambda order: texts.comma_separated(_sheets(order)[0]),
    "json": lambda order: texts.json_text(order.words, order.seed),
    "log": lambda order: texts.log(order.words, order.seed),
    "md": lambda order: texts.markdown(_prose(order)),
    "py": lambda order: texts.program(order.words),
    "txt": lambda order: texts.plain(order.words, _prose(order), order.seed),
    "png": lambda order: picture(order.words, order.name, "PNG", order.seed),
    "jpg": lambda order: picture(order.words, order.name, "JPEG", order.seed),
    "jpeg": lambda order: picture(order.words, order.name, "JPEG", order.seed),
}
"""Generators by file type."""
