"""Figures in Prometheus' text format."""

import math

from backend.domain.scheduling.prometheus_text import Family, gauge, text


def test_families_as_a_whole_text() -> None:
    result = text(
        [
            gauge(
                "deskarena_queue_episodes",
                "Episodes that wait.",
                [({"provider": "k8s", "reason": "ready"}, 12), ({"provider": "k8s", "reason": "later"}, 0)],
            ),
            gauge("deskarena_oldest_seconds", "Seconds,\nby a \\ clock.", [({}, 1.25)]),
            Family("deskarena_nothing", "Nothing yet.", ()),
        ]
    )
    assert result == (
        "# HELP deskarena_queue_episodes Episodes that wait.\n"
        "# TYPE deskarena_queue_episodes gauge\n"
        'deskarena_queue_episodes{provider="k8s",reason="ready"} 12\n'
        'deskarena_queue_episodes{provider="k8s",reason="later"} 0\n'
        "# HELP deskarena_oldest_seconds Seconds,\\nby a \\\\ clock.\n"
        "# TYPE deskarena_oldest_seconds gauge\n"
        "deskarena_oldest_seconds 1.25\n"
        "# HELP deskarena_nothing Nothing yet.\n"
        "# TYPE deskarena_nothing gauge\n"
    )


def test_a_label_may_be_anything() -> None:
    (line,) = text([gauge("a", "b", [({"worker": 'x"\\\n{}'}, 1)])]).splitlines()[2:]
    assert line == 'a{worker="x\\"\\\\\\n{}"} 1'


def test_numbers_that_are_none() -> None:
    lines = text([gauge("a", "b", [({}, math.nan), ({}, math.inf), ({}, -math.inf), ({}, 1 / 3)])]).splitlines()
    assert lines[2:] == ["a NaN", "a +Inf", "a -Inf", "a 0.333333"]
