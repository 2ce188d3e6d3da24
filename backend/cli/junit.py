"""A run's episodes as JUnit XML: one test suite per domain, one test case per episode.

A scored episode that is not solved is a failure, a lost one an error; cancelled and not runnable ones are skipped.
"""

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from backend.domain.formats.foreign_text import visible

Episode = Mapping[str, Any]


def junit_xml(run: Mapping[str, Any], episodes: Iterable[Episode], report: Mapping[str, Any] | None = None) -> bytes:
    """The document.

    Args:
        run: As the API returns it.
        episodes: Its episodes, in any order.
        report: Of the test against a baseline; its sentence and numbers become properties of every suite.
    """
    ordered = sorted(episodes, key=lambda episode: (episode["domain"], episode["task"], episode["repeat"]))
    root = Element("testsuites", name=f"{run['benchmark']} {run['configuration']['name']}")
    for domain, members in groupby(ordered, key=lambda episode: episode["domain"]):
        _suite(root, domain, list(members), _properties(report) if report else {})
    _count(root, ordered)
    for element in root.iter():
        for name, value in element.items():
            element.set(name, visible(value))
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _properties(report: Mapping[str, Any]) -> dict[str, str]:
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
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}


def _suite(root: Element, domain: str, episodes: list[Episode], properties: Mapping[str, str]) -> None:
    suite = SubElement(root, "testsuite", name=domain)
    _count(suite, episodes)
    if properties:
        parent = SubElement(suite, "properties")
        for name, value in properties.items():
            SubElement(parent, "property", name=f"regression.{name}", value=value)
    for episode in episodes:
        case = SubElement(suite, "testcase", classname=domain, name=_name(episode), time=f"{_seconds(episode):.3f}")
        if (verdict := _verdict(episode)) is not None:
            kind, message = verdict
            SubElement(case, kind, message=message)


def _name(episode: Episode) -> str:
    name = str(episode["task"]).partition("/")[2] or str(episode["task"])
    return name if episode["repeat"] == 1 else f"{name} #{episode['repeat']}"


def _verdict(episode: Episode) -> tuple[str, str] | None:
    if episode["outcome"] == "scored" and episode.get("human_assisted"):
        return "skipped", "a person helped: not counted for the agent"
    if episode["outcome"] == "scored":
        if episode["solved"]:
            return None
        return "failure", f"score {episode['score']:.3g}, ended by {episode['ended_by']}"
    if episode["outcome"] == "handed_in":
        return "skipped", "submitted: people judge it"
    if episode["outcome"] == "lost":
        return "error", f"{episode['failure_class']}: {episode['failure_message']}"
    return "skipped", episode["reason"] or str(episode["state"])


def _seconds(episode: Episode) -> float:
    return float(sum(episode["seconds"].values()))


def _count(element: Element, episodes: list[Episode]) -> None:
    kinds = [verdict[0] for episode in episodes if (verdict := _verdict(episode)) is not None]
    element.set("tests", str(len(episodes)))
    element.set("failures", str(kinds.count("failure")))
    element.set("errors", str(kinds.count("error")))
    element.set("skipped", str(kinds.count("skipped")))
    element.set("time", f"{sum(map(_seconds, episodes)):.3f}")
