"""English criteria of WindowsWorld's tasks, from `windowsworld_english.csv`, written and reviewed here.

WindowsWorld's checkpoints and final states are in Chinese and were written for the Chinese instructions: some quote a
subject, a file name or a search term that the English instruction words differently or does not have. Columns: `task`,
`criterion` (`c1` and so on = checkpoints, `final`, `a1` and so on = assertions), `published` (what the criterion says),
`english` (what it says for the English instruction), `source`: `instruction` (the English instruction's own words),
`set-up` (it names something in a file of the set-up, which is the same in both languages), `review` (our words).
Published words are WindowsWorld's, under Apache-2.0.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Literal

from pydantic import Field

from backend.domain.benchmarks._windowsworld_format import Metrics, WindowsWorldTask
from backend.domain.model.task import Frozen

_QUOTED = re.compile("|".join(f"{a}([^{a}{b}\n]+){b}" for a, b in ("“”", "‘’", "「」", "''", '""')))
_CHINESE = re.compile("[\u4e00-\u9fff]")
_FILE_ENDING = re.compile(r"\.[a-z]{2,4}$")


class Correspondence(Frozen):
    """English counterpart of a published criterion's words."""

    criterion: str = Field(pattern=r"^(final|[ac][1-9][0-9]?)$")
    published: str = Field(min_length=1)
    english: str = Field(min_length=1)
    source: Literal["instruction", "set-up", "review"]


@lru_cache(maxsize=1)
def correspondences() -> Mapping[str, Sequence[Correspondence]]:
    """The whole table by task, in the order in which words are replaced."""
    text = resources.files(__package__).joinpath("windowsworld_english.csv").read_text("utf-8")
    table: dict[str, list[Correspondence]] = {}
    for row in csv.DictReader(text.splitlines()):
        table.setdefault(row.pop("task"), []).append(Correspondence.model_validate(row))
    return table


def criteria(metrics: Metrics) -> dict[str, str]:
    """Texts by name: checkpoints, the final state and assertions."""
    return {
        **{f"c{number}": text for number, text in enumerate(metrics.intermediate_checks, start=1)},
        "final": metrics.expected_final_state or metrics.success_criterion,
        **{f"a{number}": text for number, text in enumerate(metrics.assertions, start=1)},
    }


def english(entry: WindowsWorldTask) -> WindowsWorldTask:
    """The entry with the criteria that fit its English instruction."""
    metrics = entry.evaluation_metrics
    texts = criteria(metrics)
    for row in correspondences().get(entry.task_id, ()):
        if row.published in texts.get(row.criterion, ""):
            texts[row.criterion] = texts[row.criterion].replace(row.published, row.english)
    reviewed = metrics.model_copy(
        update={
            "intermediate_checks": [texts[f"c{at + 1}"] for at in range(len(metrics.intermediate_checks))],
            "expected_final_state": texts["final"],
            "assertions": [texts[f"a{at + 1}"] for at in range(len(metrics.assertions))],
        }
    )
    return entry.model_copy(update={"evaluation_metrics": reviewed})


def unreviewed_quotes(entry: WindowsWorldTask) -> dict[str, list[str]]:
    """Quoted words of checkpoints and final state that do not fit the English instruction; the table has no entry."""
    unknown: dict[str, list[str]] = {}
    if entry.task_category == "L4":  # Judged by FAIL alone.
        return unknown
    rows = correspondences().get(entry.task_id, ())
    for name, text in criteria(entry.evaluation_metrics).items():
        known = [row.published for row in rows if row.criterion == name and row.published in text]
        for words in [*chinese_only(entry, text), *_from_nowhere(entry, text)]:
            if not name.startswith("a") and not any(words in other_path or other_path in words for other_path in known):
                unknown.setdefault(name, []).append(words)
    return unknown


def chinese_only(entry: WindowsWorldTask, text: str) -> list[str]:
    """Quoted words of a criterion that the Chinese instruction has and the English one has not."""
    return [words for words in _quoted_texts(text) if words in entry.instruction_cn and words not in entry.instruction]


def _from_nowhere(entry: WindowsWorldTask, text: str) -> list[str]:
    """Quoted Chinese words that neither instruction has, nor a file of the set-up: labels of a window, an own title."""
    setup = entry.environment_setup.model_dump_json()
    texts = (entry.instruction, entry.instruction_cn, setup)
    return [
        words
        for words in _quoted_texts(text)
        if _CHINESE.search(words) and not any(_FILE_ENDING.sub("", words) in text for text in texts)
    ]


def _quoted_texts(text: str) -> list[str]:
    return [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
