"""OSWorld's folder of results, which its own `show_result.py` and those of its forks read.

`<action space>/<observation>/<model>/<domain>/<example>/` has `result.txt` (one number), `traj.jsonl` (one line per
action), `runtime.log` and the pictures after each step. Without `result.txt` an example has no result. A run with
several passes has one such tree in each of `pass_1`, `pass_2`, ... Public source: github.com/xlang-ai/OSWorld
(`lib_run_single.py`, `show_result.py`).
"""

import io
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from PIL import Image

from backend.domain.model.run_export import ExportedEpisode, ExportedRun
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.model.trajectory_export import RecordedStep, action_json
from backend.domain.ports.run_format import NamedFile, ReadPicture
from backend.domain.run_formats._messages import after

TIMESTAMP = "%Y%m%d@%H%M%S%f"
_PNG = b"\x89PNG"
_ENDS = {ActionType.DONE: {"done": True}, ActionType.FAIL: {"fail": True}}


class OsworldFolder:
    """One zip with the folder of results."""

    suffix = "zip"
    media_type = "application/zip"

    def files(
        self, run: ExportedRun, episodes: Iterable[ExportedEpisode], read_picture: ReadPicture
    ) -> Iterator[NamedFile]:
        for repeat in range(1, run.passes + 1):
            yield f"{folder_of(run, repeat)}/args.json", _json(arguments(run))
        for episode in episodes:
            key = episode.task.key
            folder = f"{folder_of(run, episode.repeat)}/{segment(key.domain)}/{segment(key.name)}"
            yield from _example(episode, folder, read_picture)


def folder_of(run: ExportedRun, repeat: int) -> str:
    """Folder of the domains of one pass."""
    names = [segment(run.action_space), segment(run.observation), segment(run.model)]
    return "/".join([f"pass_{repeat}", *names] if run.passes > 1 else names)


def segment(name: str) -> str:
    """The name as one segment of a path."""
    plain = re.sub(r"[^\w.@+= -]", "_", name).strip()
    return plain if plain.strip(".") else "_"


def arguments(run: ExportedRun) -> dict[str, Any]:
    """`args.json`: OSWorld's own names of settings, and ours below `deskarena`."""
    screen = run.config.get("screen") or {}
    return {
        "action_space": run.action_space,
        "observation_type": run.observation,
        "model": run.model,
        "max_steps": (run.config.get("budget") or {}).get("max_steps"),
        "screen_width": screen.get("width"),
        "screen_height": screen.get("height"),
        "deskarena": {
            "run": run.id,
            "benchmark": dict(run.benchmark),
            "configuration": run.configuration,
            "origin": run.origin,
            "config": dict(run.config),
            "code": dict(run.code),
        },
    }


def _example(episode: ExportedEpisode, folder: str, read_picture: ReadPicture) -> Iterator[NamedFile]:
    lines: list[dict[str, Any]] = []
    if episode.steps and (first := _picture(episode.steps[0], read_picture)) is not None:
        yield f"{folder}/initial_state.png", first
    for number, step in enumerate(episode.acted):
        following = after(episode, number)
        data = _picture(following, read_picture) if following else None
        stamp = _stamp(step.at or episode.started_at)
        name = f"step_{step.index + 1}_{stamp}.png" if data is not None else None
        if name and data is not None:
            yield f"{folder}/{name}", data
        lines += _lines(step, stamp, name)
    if episode.ended_by:
        # Only DONE and FAIL are actions; what else ended it is known from here alone.
        last: dict[str, Any] = lines[-1] if lines else {}
        lines[-1:] = [{**last, "info": {**last.get("info", {}), "ended_by": episode.ended_by}}]
    if episode.no_result is not None:
        lines.append({"Error": episode.no_result.text})
    yield f"{folder}/traj.jsonl", b"".join(_json(line) + b"\n" for line in lines)
    yield f"{folder}/runtime.log", _log(episode).encode()
    if episode.score is not None:
        yield f"{folder}/result.txt", f"{episode.score}\n".encode()


def _lines(step: RecordedStep, stamp: str, picture: str | None) -> Iterator[dict[str, Any]]:
    """One line per action; one without an action if the reply had none. The first has the calls of several models."""
    for number, action in enumerate(step.actions or (None,)):
        yield {
            "step_num": step.index + 1,
            "action_timestamp": stamp,
            "action": None if action is None else _action(action),
            "response": step.reply or step.explanation,
            "reward": 0,
            "done": action is not None and action.type in _ENDS,
            "info": _ENDS.get(action.type, {}) if action else {"invalid": step.invalid},
            "screenshot_file": picture,
            **({"model_calls": [dict(call) for call in step.model_calls]} if step.model_calls and not number else {}),
        }


def _action(action: Action) -> dict[str, Any]:
    """As in OSWorld's `computer_13`."""
    fields = action_json(action)
    return {"action_type": fields.pop("type"), "parameters": fields}


def _picture(step: RecordedStep, read_picture: ReadPicture) -> bytes | None:
    """The step's screen as PNG."""
    data = read_picture(step.frame) if step.frame else None
    if data is None or data.startswith(_PNG):
        return data
    target = io.BytesIO()
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.save(target, "PNG", compress_level=1)
    except (OSError, Image.DecompressionBombError):
        return None
    return target.getvalue()


def _log(episode: ExportedEpisode) -> str:
    result = f"result {episode.score}" if episode.no_result is None else f"no result, {episode.no_result.text}"
    times = " to ".join(at.isoformat() for at in (episode.started_at, episode.ended_at) if at)
    ended = f", ended by {episode.ended_by}" if episode.ended_by else ""
    return f"{times} {episode.task.key} pass {episode.repeat} seed {episode.seed}: {result}{ended}\n".lstrip()


def _stamp(at: datetime | None) -> str:
    return at.strftime(TIMESTAMP) if at else "0"


def _json(value: Any) -> bytes:
    return json.dumps(value, default=str).encode()
