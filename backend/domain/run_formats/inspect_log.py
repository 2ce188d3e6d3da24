"""Inspect's `.eval` log: a zip with a header, summaries and one JSON file per sample.

Public description: inspect.aisi.org.uk/eval-logs.html; `inspect_ai` reads it (`read_eval_log`, `inspect view`). An
episode is a sample, a pass is an epoch. One without a result has an error and no score.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

from backend.domain.model.run_export import ExportedEpisode, ExportedRun
from backend.domain.model.trajectory_export import PictureRef, RecordedStep
from backend.domain.ports.run_format import NamedFile, ReadPicture
from backend.domain.run_formats._messages import after, moment, tool_calls, words
from backend.domain.run_formats._model_events import model_events, usage_by_model

VERSION = 2
SCORER = "deskarena"
_STATUS = {"completed": "success", "cancelled": "cancelled"}
_HASH = 32
"""Length of an attachment's name."""


class InspectLog:
    """One log."""

    suffix = "eval"
    media_type = "application/zip"

    def files(
        self, run: ExportedRun, episodes: Iterable[ExportedEpisode], read_picture: ReadPicture
    ) -> Iterator[NamedFile]:
        spec, plan = specification(run), {"name": run.agent, "steps": []}
        yield "_journal/start.json", _json({"version": VERSION, "eval": spec, "plan": plan})
        summaries: list[dict[str, Any]] = []
        for episode in episodes:
            content = sample(run, episode, read_picture)
            yield f"samples/{content['id']}_epoch_{episode.repeat}.json", _json(content)
            summaries.append(_summary(content))
        yield "summaries.json", _json(summaries)
        ids = sorted({summary["id"] for summary in summaries})
        spec["dataset"] |= {"samples": len(ids), "sample_ids": ids}
        header = {
            "version": VERSION,
            "status": _STATUS.get(run.state, "started"),
            "eval": spec,
            "plan": plan,
            "results": _results(summaries),
            "stats": {
                "started_at": moment(run.created_at),
                "completed_at": moment(run.ended_at) or "",
                "model_usage": {},
            },
        }
        yield "header.json", _json(header)


def specification(run: ExportedRun) -> dict[str, Any]:
    """Description of the evaluation."""
    return {
        "eval_id": run.id,
        "run_id": run.id,
        "created": moment(run.created_at),
        "task": run.benchmark["name"],
        "task_id": run.id,
        "task_version": run.benchmark["version"],
        "task_display_name": run.title,
        "solver": run.agent,
        "dataset": {"name": run.benchmark["name"]},
        "model": run.model,
        "config": {"epochs": run.passes, "epochs_reducer": ["mean"]},
        "packages": {"deskarena": str(run.code.get("version") or "unknown")},
        "metadata": {
            "configuration": run.configuration,
            "origin": run.origin,
            "content_hash": run.benchmark["content_hash"],
            "config": dict(run.config),
        },
        "scorers": [{"name": SCORER, "metrics": [{"name": "mean"}]}],
    }


def sample(run: ExportedRun, episode: ExportedEpisode, read_picture: ReadPicture) -> dict[str, Any]:
    """An episode with its conversation. Screens are attachments, each once."""
    attachments: dict[str, str] = {}

    def screen(step: RecordedStep | None) -> list[dict[str, str]]:
        data = read_picture(step.frame) if step and step.frame else None
        if step is None or step.frame is None or data is None:
            return []
        name = step.frame.sha256[:_HASH]
        attachments[name] = _data_uri(step.frame, data)
        return [{"type": "image", "image": f"attachment://{name}"}]

    first = screen(episode.steps[0]) if episode.steps else []
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": episode.task.instruction}, *first]}
    ]
    for number, step in enumerate(episode.acted):
        messages += _turn(run, step, screen(after(episode, number)))
    no_result = episode.no_result
    error = {"message": no_result.text, "traceback": "", "traceback_ansi": ""} if no_result else None
    score = {"value": episode.score, "explanation": episode.ended_by, "metadata": dict(episode.measures)}
    return {
        "id": str(episode.task.key),
        "epoch": episode.repeat,
        "input": episode.task.instruction,
        "target": "",
        "messages": messages,
        "output": {"model": run.model, "choices": []},
        "scores": {SCORER: score} if episode.score is not None else None,
        "metadata": {"seed": episode.seed, "state": episode.state, "ended_by": episode.ended_by},
        "model_usage": usage_by_model(episode.acted, run.model),
        "started_at": moment(episode.started_at),
        "completed_at": moment(episode.ended_at),
        "uuid": episode.id,
        "error": error,
        "events": model_events(episode, run.model),
        "attachments": attachments,
    }


def _turn(run: ExportedRun, step: RecordedStep, screen: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """The agent's message, and one of each tool; the last one has the screen afterwards."""
    calls = list(tool_calls(step))
    yield {
        "role": "assistant",
        "content": words(step),
        "model": run.model,
        "tool_calls": [
            {"id": call, "function": name, "arguments": values, "type": "function"} for call, name, values in calls
        ]
        or None,
    }
    for number, (call, name, _) in enumerate(calls, 1):
        content: Any = screen if number == len(calls) and screen else ""
        yield {"role": "tool", "tool_call_id": call, "function": name, "content": content}


def _summary(content: dict[str, Any]) -> dict[str, Any]:
    names = (
        "id",
        "epoch",
        "input",
        "target",
        "metadata",
        "scores",
        "model_usage",
        "started_at",
        "completed_at",
        "uuid",
    )
    error = content["error"]
    return {
        **{name: content[name] for name in names},
        "error": error["message"] if error else None,
        "completed": error is None,
        "message_count": len(content["messages"]),
    }


def _results(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the samples with a score."""
    values = [summary["scores"][SCORER]["value"] for summary in summaries if summary["scores"]]
    score = {
        "name": SCORER,
        "scorer": SCORER,
        "scored_samples": len(values),
        "unscored_samples": len(summaries) - len(values),
        "metrics": {"mean": {"name": "mean", "value": fmean(values)}} if values else {},
    }
    return {"total_samples": len(summaries), "completed_samples": len(values), "scores": [score] if values else []}


def _data_uri(picture: PictureRef, data: bytes) -> str:
    return f"data:{picture.media_type};base64,{base64.b64encode(data).decode()}"


def _json(value: Any) -> bytes:
    return json.dumps(value, default=str).encode()
