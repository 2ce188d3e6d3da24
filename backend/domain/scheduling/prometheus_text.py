"""Figures in Prometheus' text format, version 0.0.4, as its documentation "Exposition formats" describes it."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Sample:
    """One number with its labels."""

    value: float
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """A figure: a gauge, which goes up and down.

    Attributes:
        name: letters, digits and underscores.
        about: one sentence.
        samples: each with its labels.
    """

    name: str
    about: str
    samples: tuple[Sample, ...]


def gauge(name: str, about: str, values: Iterable[tuple[Mapping[str, str], float]]) -> Family:
    """A gauge from (labels, number)."""
    return Family(name, about, tuple(Sample(value, labels) for labels, value in values))


def text(families: Iterable[Family]) -> str:
    """All of them, one line per sample; a family without samples is still declared."""
    lines: list[str] = []
    for family in families:
        about = family.about.replace("\\", r"\\").replace("\n", r"\n")
        lines += [f"# HELP {family.name} {about}", f"# TYPE {family.name} gauge"]
        lines += [f"{family.name}{_labels(each.labels)} {_number(each.value)}" for each in family.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) else repr(round(value, 6))
