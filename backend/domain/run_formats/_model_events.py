"""Calls of models as Inspect's `ModelEvent`.

Public description: inspect.aisi.org.uk/reference/inspect_ai.event.html.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backend.domain.model.run_export import ExportedEpisode
from backend.domain.model.trajectory_export import RecordedStep
from backend.domain.run_formats._messages import moment, words

Usage = dict[str, Any]


def model_events(episode: ExportedEpisode, model: str) -> list[dict[str, Any]]:
    """One event per call, in order.

    A step of an agent with one model is one call. What was asked is known of agents that ask several models only, and
    not where it was the step's prompt.

    Args:
        episode: whose steps.
        model: the run's.
    """
    return [_event(step, call, episode.started_at) for step in episode.acted for call in _calls_of(step, model)]


def usage_by_model(steps: Iterable[RecordedStep], model: str) -> dict[str, Usage]:
    """Tokens by the model that was asked."""
    totals: dict[str, Usage] = defaultdict(dict)
    for step in steps:
        for call in _calls_of(step, model):
            own = totals[call["model"]]
            for name, number in _usage(call["usage"]).items():
                own[name] = own.get(name, 0) + number
    return {name: usage for name, usage in totals.items() if usage.get("total_tokens")}


def _calls_of(step: RecordedStep, model: str) -> Iterator[Mapping[str, Any]]:
    if step.model_calls:
        yield from ({**call, "model": call.get("model") or model} for call in step.model_calls)
    elif step.by == "agent" and (step.usage.get("calls") or step.usage.get("output_tokens") or step.reply):
        yield {"model": model, "usage": step.usage, "seconds": step.timing.get("agent")}


def _event(step: RecordedStep, call: Mapping[str, Any], started: Any) -> dict[str, Any]:
    usage, reply = _usage(call.get("usage") or {}), str(call.get("reply") or words(step))
    seconds = call.get("seconds")
    message = {"role": "assistant", "content": reply, "model": call["model"], "source": "generate"}
    facts = {name: call[name] for name in ("endpoint", "failure") if call.get(name)}
    return {
        "event": "model",
        **({"timestamp": moment(step.at or started)} if step.at or started else {}),
        "model": call["model"],
        **({"role": call["part"]} if call.get("part") else {}),
        "input": [{"role": "user", "content": call["query"]}] if call.get("query") else [],
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": {
            "model": call["model"],
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": reply,
            **({"usage": usage} if usage else {}),
            **({"time": seconds} if seconds is not None else {}),
        },
        **({"working_time": seconds} if seconds is not None else {}),
        "metadata": {"step": step.index, **facts},
    }


def _usage(usage: Mapping[str, Any]) -> Usage:
    sent, received = int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0)
    if not sent and not received:
        return {}
    return {
        "input_tokens": sent,
        "output_tokens": received,
        "total_tokens": sent + received,
        **({"input_tokens_cache_read": int(usage["cached_tokens"])} if usage.get("cached_tokens") else {}),
        **({"total_cost": float(usage["usd"])} if usage.get("usd") and usage.get("priced", True) else {}),
    }
