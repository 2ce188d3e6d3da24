"""Reads a set of demonstrations from a folder."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from backend.domain.demonstrations import android_control, mind2web, omniact
from backend.domain.demonstrations._folder import SetFolder
from backend.domain.errors import Invalid
from backend.domain.model.demonstration import Demonstration, SetForm
from backend.domain.model.validation_words import problem_words

MOST_DEMONSTRATIONS = 20_000


def _own(folder: SetFolder) -> Iterator[Demonstration]:
    for _, value in folder.json_objects((".jsonl",)):
        yield Demonstration.model_validate(value)


READERS: Mapping[SetForm, Callable[[SetFolder], Iterator[Demonstration]]] = {
    SetForm.DESKARENA: _own,
    SetForm.MIND2WEB: mind2web.demonstrations,
    SetForm.ANDROID_CONTROL: android_control.demonstrations,
    SetForm.OMNIACT: omniact.demonstrations,
}


def read_set(form: SetForm, folder: Path) -> list[Demonstration]:
    """All demonstrations of a folder, in order of files and lines.

    Raises:
        Invalid: a file is not as its form has it; `path` names it. Or there is no demonstration.
    """
    result: list[Demonstration] = []
    names = set[str]()
    try:
        for demonstration in READERS[form](SetFolder(folder)):
            if demonstration.id in names:
                raise Invalid(f"the id {demonstration.id!r} occurs twice", code="demonstrations_invalid", path="id")
            if len(result) == MOST_DEMONSTRATIONS:
                raise Invalid(f"more than {MOST_DEMONSTRATIONS} demonstrations", code="demonstrations_invalid")
            names.add(demonstration.id)
            result.append(demonstration)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise Invalid(problem_words(first), code="demonstrations_invalid", path=path) from error
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise Invalid(
            f"this is not in the form {form.value}: {type(error).__name__}: {error}"[:300],
            code="demonstrations_invalid",
            hint="docs/studies.md describes the form.",
        ) from error
    if not result:
        raise Invalid(
            f"there is no demonstration in the form {form.value}",
            code="demonstrations_invalid",
            hint="docs/studies.md describes the form.",
        )
    return result
