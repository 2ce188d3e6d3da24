"""ATIF, the Agent Trajectory Interchange Format of Harbor: one JSON document per episode, its screens beside it.

Public specification: github.com/harbor-framework/harbor, rfcs/0001-trajectory-format.md. A zip has a folder
`<domain>/<task>/pass_<n>/` with `trajectory.json` and `images/`. ATIF has no field for a result: `extra.score` has it,
and an episode without one has `extra.error` and a last step that says so.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from backend.domain.model.run_export import ExportedEpisode, ExportedRun
from backend.domain.model.trajectory_export import SUFFIXES, RecordedStep
from backend.domain.ports.run_format import NamedFile, ReadPicture
from backend.domain.run_formats._messages import after, moment, tokens, tool_calls, words
from backend.domain.run_formats.osworld import segment

VERSION = "ATIF-v1.7"


class Atif:
    """One zip of trajectories."""

    suffix = "zip"
    media_type = "application/zip"

    def files(
        self, run: ExportedRun, episodes: Iterable[ExportedEpisode], read_picture: ReadPicture
    ) -> Iterator[NamedFile]:
        for episode in episodes:
            key = episode.task.key
            folder = f"{segment(key.domain)}/{segment(key.name)}/pass_{episode.repeat}"
            parts: dict[int, list[dict[str, Any]]] = {}
            for step in episode.steps:
                data = read_picture(step.frame) if step.frame else None
                if step.frame and data is not None and step.frame.media_type in SUFFIXES:
                    name = f"images/step_{step.index}.{SUFFIXES[step.frame.media_type]}"
                    yield f"{folder}/{name}", data
                    source = {"media_type": step.frame.media_type, "path": name}
                    parts[step.index] = [{"type": "image", "source": source}]
            document = trajectory(run, episode, parts)
            yield f"{folder}/trajectory.json", json.dumps(document, indent=1, default=str).encode()


def trajectory(run: ExportedRun, episode: ExportedEpisode, pictures: dict[int, list[dict[str, Any]]]) -> dict[str, Any]:
    """The document. `pictures`: parts with the screen before each step, by the step's index."""
    first = pictures.get(episode.steps[0].index, []) if episode.steps else []
    steps = [_step("user", [{"type": "text", "text": episode.task.instruction}, *first], episode.started_at)]
    for number, step in enumerate(episode.acted):
        following = after(episode, number)
        steps.append(_agent_step(step, pictures.get(following.index, []) if following else []))
    if episode.no_result:
        steps.append(_step("system", f"No result. {episode.no_result.text}", episode.ended_at))
    usage = [tokens(step) for step in episode.acted]
    return {
        "schema_version": VERSION,
        "session_id": run.id,
        "trajectory_id": episode.id,
        "agent": {
            "name": run.agent,
            "version": str(run.code.get("version") or "unknown"),
            "model_name": run.model,
            "extra": {"configuration": run.configuration, "config": dict(run.config)},
        },
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": {
            "total_prompt_tokens": sum(sent for sent, _ in usage),
            "total_completion_tokens": sum(received for _, received in usage),
            "total_steps": len(steps),
        },
        "extra": {
            "benchmark": dict(run.benchmark),
            "task": str(episode.task.key),
            "pass": episode.repeat,
            "seed": episode.seed,
            "origin": run.origin,
            "state": episode.state,
            "score": episode.score,
            "error": {"code": reason.code, "message": reason.message} if (reason := episode.no_result) else None,
            "ended_by": episode.ended_by,
            "measures": dict(episode.measures),
        },
    }


def _step(source: str, message: Any, at: Any) -> dict[str, Any]:
    return {"source": source, "message": message, **({"timestamp": moment(at)} if at else {})}


def _agent_step(step: RecordedStep, screen: list[dict[str, Any]]) -> dict[str, Any]:
    calls = [
        {"tool_call_id": call, "function_name": name, "arguments": values} for call, name, values in tool_calls(step)
    ]
    sent, received = tokens(step)
    extra = {
        **({"by": step.by} if step.by != "agent" else {}),
        **({"model_calls": [dict(call) for call in step.model_calls]} if step.model_calls else {}),
    }
    return {
        **_step("agent", words(step), step.at),
        **({"tool_calls": calls} if calls else {}),
        **({"observation": {"results": [{"content": screen}]}} if screen else {}),
        **({"metrics": {"prompt_tokens": sent, "completion_tokens": received}} if sent or received else {}),
        **({"extra": extra} if extra else {}),
    }
