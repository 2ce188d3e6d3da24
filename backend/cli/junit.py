"""A run's episodes as JUnit XML: one test suite per domain, one test case per episode.

A scored episode that is not solved is a failure, a lost one an error; cancelled and not runnable ones are skipped. The
form is that of pytest's `xunit2` and of Jenkins' xUnit plugin (its schema junit-10.xsd).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from backend.domain.formats.foreign_text import xml_document

Episode = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class _SuiteHead:
    """Attributes that all suites of a document share."""

    timestamp: str
    url: str
    properties: Mapping[str, str]


def junit_xml(
    run: Mapping[str, Any], episodes: Iterable[Episode], server: str, report: Mapping[str, Any] | None = None
) -> bytes:
    """The document.

    Args:
        run: As the API returns it.
        episodes: Its episodes, in any order.
        server: Address of the service, for links.
        report: Of the test against a baseline; its sentence and numbers become properties of every suite.
    """
    ordered = sorted(episodes, key=lambda episode: (episode["domain"], episode["task"], episode["repeat"]))
    head = _SuiteHead(
        timestamp=str(run.get("started_at") or run["created_at"]),
        url=f"{server}/runs/{run['id']}",
        properties=_of_run(run, server) | (_of_report(report) if report else {}),
    )
    root = Element("testsuites", name=f"{run['benchmark']} {run['configuration']['name']}")
    for domain, members in groupby(ordered, key=lambda episode: episode["domain"]):
        _suite(root, domain, list(members), head, server)
    _count(root, ordered)
    return xml_document(root)


def _of_run(run: Mapping[str, Any], server: str) -> dict[str, str]:
    return {
        "run.id": str(run["id"]),
        "run.url": f"{server}/runs/{run['id']}",
        "run.name": str(run["name"]),
        "run.status": str(run["status"]),
        "run.benchmark": str(run["benchmark"]),
        "run.benchmark_version": str(run["task_set"]["version"]),
        "run.configuration": str(run["configuration"]["name"]),
        "run.provider": str(run["provider"]),
    }


def _of_report(report: Mapping[str, Any]) -> dict[str, str]:
    """Of the test against a baseline; a difference in points."""
    difference = report["difference"] or {}
    low, high = difference.get("interval", (None, None))
    values = {
        "baseline": report["baseline"],
        "baseline_status": report["baseline_status"],
        "passed": report["passed"],
        "alpha": report["alpha"],
        "p_value": report["p_value"],
        "difference": difference.get("value"),
        "difference_low": low,
        "difference_high": high,
        "common_tasks": report["common_tasks"],
        "sentence": report["sentence"],
    }
    return {
        f"regression.{name}": value if isinstance(value, str) else json.dumps(value) for name, value in values.items()
    }


def _suite(root: Element, domain: str, episodes: list[Episode], head: _SuiteHead, server: str) -> None:
    suite = SubElement(root, "testsuite", name=domain, timestamp=head.timestamp, url=head.url)
    _count(suite, episodes)
    suite.set("skipped", str(_number(episodes, "skipped")))
    parent = SubElement(suite, "properties")
    for name, value in head.properties.items():
        SubElement(parent, "property", name=name, value=value)
    for episode in episodes:
        case = SubElement(suite, "testcase", classname=domain, name=_name(episode), time=f"{_seconds(episode):.3f}")
        link = f"{server}/episodes/{episode['id']}"
        if (verdict := _verdict(episode)) is not None:
            kind, reason, message = verdict
            SubElement(case, kind, type=reason, message=message).text = f"{message}\n{link}"
        SubElement(case, "system-out").text = f"{episode['steps']} steps, {episode['attempts']} attempts\n{link}"


def _name(episode: Episode) -> str:
    name = str(episode["task"]).partition("/")[2] or str(episode["task"])
    return name if episode["repeat"] == 1 else f"{name} #{episode['repeat']}"


def _verdict(episode: Episode) -> tuple[str, str, str] | None:
    """Element, its type and message; None for a solved episode."""
    if episode["outcome"] == "scored" and episode.get("human_assisted"):
        return "skipped", "human_assisted", "a person helped: not counted for the agent"
    if episode["outcome"] == "scored":
        if episode["solved"]:
            return None
        return "failure", "not_solved", f"score {episode['score']:.3g}, ended by {episode['ended_by']}"
    if episode["outcome"] == "handed_in":
        return "skipped", "handed_in", "submitted: people judge it"
    if episode["outcome"] == "lost":
        return "error", str(episode["failure_class"]), f"{episode['failure_class']}: {episode['failure_message']}"
    return "skipped", str(episode["state"]), episode["reason"] or str(episode["state"])


def _seconds(episode: Episode) -> float:
    return float(sum(episode["seconds"].values()))


def _number(episodes: Iterable[Episode], kind: str) -> int:
    return sum((verdict := _verdict(episode)) is not None and verdict[0] == kind for episode in episodes)


def _count(element: Element, episodes: list[Episode]) -> None:
    element.set("tests", str(len(episodes)))
    element.set("failures", str(_number(episodes, "failure")))
    element.set("errors", str(_number(episodes, "error")))
    element.set("time", f"{sum(map(_seconds, episodes)):.3f}")
