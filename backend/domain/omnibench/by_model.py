"""Instructions written by a model, and read back by one that has not seen the graph.

Source: OmniBench's instructions and consistency validator; protocols reference, section 6. A text counts only if the
    dependencies extracted from it alone order the subtasks exactly as the graph does, and no parameter is missing.
"""

import json
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from backend.domain.omnibench.consistency import Edges, edges_of
from backend.domain.omnibench.subtask import fill_values
from backend.domain.omnibench.task_file import GraphTask, Pool
from backend.domain.ports.model import Message, MessagePart, ModelClient, ModelRequest

TRIES = 3
_MOST_ANSWER = 50_000
_WRITE = """You write what a person asks an assistant at their computer to do. You are given things to do and which of
them must be done before which. Write one request in natural words, in any order that reads well, that asks for all of
them and for nothing else, says of each what it must come after, and keeps every quoted detail letter by letter. Do not
number the things. Answer with JSON alone: {"instruction": "..."}"""
_READ = """You are given a request to an assistant at a computer and a list of things to do. Tell from the request alone
which of them it asks for, and which must directly follow which. Answer with JSON alone:
{"asked": ["A", ...], "before": [["A", "B"], ...]}, where ["A", "B"] says that B can only be done after A."""


class TextModel:
    """Asks a model for texts.

    Attributes:
        calls: requests so far.
    """

    def __init__(self, client: ModelClient, model: str) -> None:
        """Args: client: of an endpoint; model: as its API names it."""
        self._client = client
        self._model = model
        self.calls = 0

    def write(self, subtasks: Mapping[str, str], before: Edges, problems: Sequence[str] = ()) -> str:
        """One instruction; empty if the answer is unusable. `problems`: errors of the previous one."""
        lines = [f"- {name}: {text}" for name, text in subtasks.items()]
        lines += [f"{first} must be done before {second}." for first, second in sorted(before)] or [
            "Any order will do."
        ]
        lines += [f"Your last answer was wrong: {words}" for words in problems]
        answer = self._ask(_WRITE, "\n".join(lines)).get("instruction")
        return answer.strip() if isinstance(answer, str) else ""

    def read(self, text: str, subtasks: Mapping[str, str]) -> Edges | None:
        """Implements the validator's `Reader`. Names and order of the nodes would tell the graph: letters hide them."""
        letters = dict(zip(_letters(len(subtasks)), sorted(subtasks, key=lambda name: subtasks[name]), strict=True))
        lines = [f"{letter}: {subtasks[name]}" for letter, name in letters.items()]
        answer = self._ask(_READ, f"Request: {text}\n\nThings to do:\n" + "\n".join(lines))
        try:
            if sorted(answer["asked"]) != sorted(letters):
                return None
            return frozenset((letters[first], letters[second]) for first, second in answer["before"])
        except (KeyError, TypeError, ValueError):
            return None

    def _ask(self, system: str, user: str) -> dict[str, Any]:
        """The JSON object of an answer; empty without one. Raises ModelApiFailed."""
        messages = (
            Message(role="system", parts=(MessagePart(text=system),)),
            Message(role="user", parts=(MessagePart(text=user),)),
        )
        self.calls += 1
        reply = self._client.complete(ModelRequest(model=self._model, messages=messages, temperature=0.0))
        text = "" if reply.problem else reply.text
        try:
            answer = json.loads(text[text.index("{") : text.rindex("}") + 1][:_MOST_ANSWER])
        except (ValueError, RecursionError):
            return {}
        return answer if isinstance(answer, dict) else {}


def retold(task: GraphTask, pool: Pool, model: TextModel, *, tries: int = TRIES) -> GraphTask | None:
    """The task with an instruction of the model's. Its other orders go: they would be another's words.

    Args:
        task: a task with the template's texts.
        pool: its subtasks.
        model: writes, and reads back in requests of their own.
        tries: texts that it may write.

    Returns:
        None if no text matched the graph.

    Raises:
        ModelApiFailed: the model does not answer.
    """
    subtasks = {node.name: pool[node.subtask].instruction(node.values) for node in task.graph.nodes}
    problems: list[str] = []
    for _ in range(tries):
        text = model.write(subtasks, edges_of(task.graph), problems)
        problems = _wrong(text, task, pool, model.read(text, subtasks) if text else None)
        if not problems:
            return task.model_copy(update={"instruction": text, "orders": ()})
    return None


def _wrong(text: str, task: GraphTask, pool: Pool, edges: Edges | None) -> list[str]:
    words = [f"it lacks {detail!r}" for detail in _details(task, pool) if detail not in text]
    if edges is None:
        return [*words, "it does not ask for exactly these things"]
    expected, actual = _all_after(edges_of(task.graph)), _all_after(edges)
    words += [
        f"it does not say that {first} must be done before {second}" for first, second in sorted(expected - actual)
    ]
    return words + [f"it says that {first} must be done before {second}" for first, second in sorted(actual - expected)]


def _details(task: GraphTask, pool: Pool) -> list[str]:
    """The parameters that the template's texts show."""
    return [
        str(value)
        for node in task.graph.nodes
        for name, value in node.values.items()
        if fill_values(pool[node.subtask].instruction_template, {name: "\0"}) != pool[node.subtask].instruction_template
    ]


def _all_after(edges: Edges) -> Edges:
    """With what follows from them: a text need not repeat that the third comes after the first."""
    closure = set(edges)
    while more := {(a, d) for a, b in closure for c, d in closure if b == c} - closure:
        closure |= more
    return frozenset(closure)


def _letters(number: int) -> list[str]:
    return [ascii_uppercase[at % 26] + (str(at // 26) if at >= 26 else "") for at in range(number)]  # noqa: PLR2004 - letters
