"""`evaluate_presentation_fill_to_rgb_distance`: how close the slides' backgrounds are to a colour."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.slides._fill_distance import (
    colour_rule,
    effective_background,
    nearness,
    stored_background,
)
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "evaluate_presentation_fill_to_rgb_distance")
def evaluate_presentation_fill_to_rgb_distance(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 minus the mean distance between the backgrounds and a colour.

    Args:
        result: path of the agent's .pptx file.
        rules: `rgb`, three numbers from 0 to 255, and optionally `original_rgb`: a slide that still has it counts 0.
        strict_upstream: read only colours that are written as RRGGBB at the slide or its master.

    Raises:
        EvaluatorFailed: the rules have no such colours.
    """
    expected = colour_rule(rules, "rgb")
    original = colour_rule(rules, "original_rgb") if rules.get("original_rgb") is not None else None
    return nearness(result, expected, original, stored_background if strict_upstream else effective_background)


@register(PluginKind.METRIC, "evaluate_presentation_fill_to_rgb_distance", dialect="waa")
def evaluate_presentation_fill_to_rgb_distance_waa(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """`evaluate_presentation_fill_to_rgb_distance` of WindowsAgentArena, without an original colour.

    1 minus the mean distance between the backgrounds and a colour.

    Args:
        result: path of the agent's .pptx file.
        rules: `rgb`, three numbers from 0 to 255.
        strict_upstream: read only colours that are written as RRGGBB at the slide or its master.

    Raises:
        EvaluatorFailed: the rules have no such colour.
    """
    return nearness(
        result, colour_rule(rules, "rgb"), None, stored_background if strict_upstream else effective_background
    )
