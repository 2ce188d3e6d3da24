"""Files whose content a model writes from their description, once, before anything is measured.

What a model wrote is kept beside the benchmark's own files, under the hash of the description: it belongs to the
version of the task set, and every attempt finds the same bytes. Form and limits are checked; pictures and programs are
made by rules.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import Field, ValidationError

from backend.domain.errors import Invalid
from backend.domain.file_generators import office, texts
from backend.domain.file_generators.make import FileRequest, asks_for_today
from backend.domain.file_generators.pdf import pdf
from backend.domain.file_generators.prompt import MAX_COLUMNS, MAX_ROWS
from backend.domain.file_generators.prose import Prose
from backend.domain.file_generators.tables import SheetContent
from backend.domain.model.task import Frozen
from backend.domain.ports.model import Message, MessagePart, ModelClient, ModelRequest

MAX_TOKENS = 16_000
Cell = Annotated[str, Field(max_length=2000)] | int | float
Line = Annotated[str, Field(max_length=4000)]

_TABLE = 'an object {"sheets": [{"name": "...", "headings": ["..."], "rows": [["...", 1]]}]}'
_TEXT = 'an object {"title": "...", "sections": [{"heading": "...", "paragraphs": ["..."]}], "items": ["..."]}'
_ASK = """Write the content of the file {name!r} ({file_type}), which somebody will work with. It has to be all of this:
{prompts}
{like}Use the language of the description. Make up plausible, harmless values; no real person's data.
Answer with {form} as JSON and nothing else."""


class _Sheet(Frozen):
    name: str = Field(default="Sheet1", min_length=1, max_length=31)
    headings: tuple[Line, ...] = Field(min_length=1, max_length=MAX_COLUMNS)
    rows: tuple[tuple[Cell, ...], ...] = Field(max_length=MAX_ROWS)


class _Table(Frozen):
    sheets: tuple[_Sheet, ...] = Field(min_length=1, max_length=20)


class _Section(Frozen):
    heading: Line = ""
    paragraphs: tuple[Line, ...] = Field(default=(), max_length=200)


class _Text(Frozen):
    title: Line
    sections: tuple[_Section, ...] = Field(default=(), max_length=100)
    items: tuple[Line, ...] = Field(default=(), max_length=500)


def writable(file_type: str, order: FileRequest) -> bool:
    """Whether a model may write such a file; one that mentions the current date is generated for each attempt."""
    return file_type in _MAKE and not asks_for_today(order.prompts) and not order.words.startswith("空")


def asset_of(file_type: str, order: FileRequest) -> str:
    """The name of the asset under which what was written is kept."""
    return f"generated/{order.seed[:32]}.{file_type}"


def write(file_type: str, order: FileRequest, client: ModelClient, model: str) -> bytes:
    """Asks a model for the content and makes the file.

    Args:
        file_type: one that is `writable`.
        order: what is wanted.
        client: of the model's API.
        model: as the API names it.

    Raises:
        Invalid: the answer has another form, rows of another width, or is too large.
        ModelApiFailed: there is no answer.
    """
    form = _TABLE if file_type in _TABLES else _TEXT
    prompts = "\n".join(f"- {prompt}" for prompt in order.prompts)
    like = f"'The same as above' means: {order.like}\n" if order.like else ""
    question = _ASK.format(name=order.name, file_type=file_type, prompts=prompts, like=like, form=form)
    message = Message(role="user", parts=(MessagePart(text=question),))
    reply = client.complete(ModelRequest(model=model, messages=(message,), temperature=0.0, max_tokens=MAX_TOKENS))
    return _MAKE[file_type](_object(reply.text))


def _object(text: str) -> object:
    """The JSON object in an answer, also where it stands in a fence."""
    match = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        return json.loads(match.group() if match else text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the model's answer is not JSON: {error}", code="invalid_model_answer") from error


def _sheets(value: object) -> list[SheetContent]:
    try:
        table = _Table.model_validate(value)
    except ValidationError as error:
        raise Invalid(
            f"the model's table is wrong: {error.errors(include_url=False)[0]['msg']}", code="invalid_model_answer"
        ) from error
    for sheet in table.sheets:
        if any(len(row) != len(sheet.headings) for row in sheet.rows):
            raise Invalid(
                f"a row of the sheet {sheet.name!r} is not as wide as its headings", code="invalid_model_answer"
            )
    return [SheetContent(sheet.name, sheet.headings, sheet.rows) for sheet in table.sheets]


def _prose(value: object) -> Prose:
    try:
        text = _Text.model_validate(value)
    except ValidationError as error:
        raise Invalid(
            f"the model's text is wrong: {error.errors(include_url=False)[0]['msg']}", code="invalid_model_answer"
        ) from error
    return Prose(text.title, tuple((one.heading, one.paragraphs) for one in text.sections), items=text.items)


_TABLES = frozenset({"xlsx", "csv"})
_MAKE: Mapping[str, Callable[[object], bytes]] = {
    "xlsx": lambda value: office.workbook(_sheets(value)),
    "csv": lambda value: texts.comma_separated(_sheets(value)[0]),
    "docx": lambda value: office.document(_prose(value)),
    "pdf": lambda value: pdf(_prose(value).lines()),
    "md": lambda value: texts.markdown(_prose(value)),
    "txt": lambda value: "\n".join([*_prose(value).lines(), ""]).encode(),
}
