"""`check_enabled_experiments`: exactly these experiments of the browser are set."""

from typing import Any

from backend.domain.evaluators.metrics._browser_pages import kind_of
from backend.domain.evaluators.metrics._rules import rule as rule_of
from backend.domain.evaluators.metrics._rules import texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_enabled_experiments")
def check_enabled_experiments(enabled_experiments: Any, rule: Any) -> MetricValue:
    """1 if these experiments are set, in this order, and no other. The value after `@` is ignored.

    Args:
        enabled_experiments: a list of `name@choice`; None = no profile.
        rule: `{"type": "names", "names": [...]}`.
    """
    kind_of(rule, "names")
    names = texts(rule_of(rule, "names"), "`names`")
    if enabled_experiments is None:
        return verdict(met=False, reason="the browser has no settings")
    experiments = [str(experiment).split("@")[0] for experiment in enabled_experiments]
    return verdict(experiments == names, f"set are {short(experiments, 300)}, expected {short(names, 300)}")
