"""Runs and episodes as the API gives them, with what a test does not care about filled in."""

from typing import Any


def episode(task: str = "files/rename", outcome: str | None = "scored", **more: Any) -> dict[str, Any]:
    scored = outcome == "scored"
    return {
        "id": "018f0000-0000-7000-8000-000000000001",
        "run_id": "018f0000-0000-7000-8000-000000000000",
        "task": task,
        "domain": task.partition("/")[0],
        "difficulty": "easy",
        "repeat": 1,
        "state": outcome or "not_runnable",
        "reason": "",
        "outcome": outcome,
        "ended_by": "done" if scored else None,
        "failure_class": "guest" if outcome == "lost" else None,
        "failure_message": "the desktop froze" if outcome == "lost" else "",
        "score": 1.0 if scored else None,
        "solved": True if scored else None,
        "steps": 3,
        "attempts": 1,
        "seconds": {"reset": 0.5, "agent": 1.25},
        **more,
    }


def run(*, solved: int = 0, status: str = "completed", **counts: int) -> dict[str, Any]:
    names = ("scored", "lost", "cancelled", "not_runnable", "waiting", "running")
    all_counts = {name: counts.get(name, 0) for name in names}
    scored = all_counts["scored"]
    return {
        "id": "018f0000-0000-7000-8000-000000000000",
        "name": "",
        "status": status,
        "benchmark": "starter",
        "task_set": {"id": "018f0000-0000-7000-8000-000000000002", "version": 1, "content_hash": "0" * 64},
        "agent": "oracle",
        "configuration": {"id": "0198c0de-0000-7000-8000-00000000000c", "name": "oracle"},
        "provider": "local",
        "counts": all_counts,
        "summary": {
            "counts": all_counts,
            "solved": solved,
            "success_rate": solved / scored if scored else None,
            "success_interval": [0.2, 0.9] if scored else None,
            "mean_score": solved / scored if scored else None,
            "mean_interval": [0.2, 0.9] if scored else None,
            "lower_bound_success": None,
            "lower_bound_mean": None,
            "counts_text": f"{scored} scored",
            "interval": {"text": "95 %"},
        },
        "created_at": "2026-03-01T12:30:05.123456Z",
    }


def regression(**more: Any) -> dict[str, Any]:
    """The report against a baseline."""
    return {
        "run": "018f0000-0000-7000-8000-000000000000",
        "run_status": "completed",
        "baseline": "018f0000-0000-7000-8000-000000000009",
        "baseline_status": "completed",
        "alpha": 0.05,
        "passed": False,
        "p_value": 0.004,
        "test": "exact McNemar test",
        "difference": {"base": 0.6, "other": 0.538, "value": -0.062, "interval": [-0.104, -0.021]},
        "common_tasks": 154,
        "alike": True,
        "conditions": [],
        "sentence": "Regression.",
        **more,
    }
