"""One entry of WindowsWorld's file, and its conversion to a Task and variants."""

from collections.abc import Iterator, Mapping

from backend.domain.benchmarks._labels import unknown_label
from backend.domain.benchmarks._windowsworld_checks import INFEASIBLE, as_released, evaluator_of, without_judge
from backend.domain.benchmarks._windowsworld_english import criteria, english, unreviewed_quotes
from backend.domain.benchmarks._windowsworld_format import WindowsWorldTask
from backend.domain.benchmarks._windowsworld_names import apps_of, needs_by_app, persona_of, slug, text_of
from backend.domain.benchmarks._windowsworld_setup import SharedAssets, mocks_of, setup_of
from backend.domain.machines.applications import ApplicationNeeds
from backend.domain.machines.egress_rules import mocked_place
from backend.domain.model.task import JSON, Labels, Task, TaskKey, Variant

DIALECT = "windowsworld"
BUDGETS = {"L1": 15, "L2": 25, "L3": 40, "L4": 20}
"""Step budget by level. Protocols reference, section 3."""
CRITERIA, RELEASED = "criteria", "released"
"""The variant that is judged by the criteria of the benchmark's released code."""


def task_of(entry: WindowsWorldTask, raw: Mapping[str, JSON], shared: SharedAssets, warnings: list[str]) -> Task:
    """The task with the English instruction and the criteria that fit it. Oddities become warnings."""
    warnings += _odd(entry)
    return Task(
        key=TaskKey(domain=slug(persona_of(entry.persona)) or "persona", name=entry.task_id),
        dialect=DIALECT,
        instruction=text_of(entry.instruction),
        setup=setup_of(entry, shared),
        evaluator=evaluator_of(english(entry), warnings),
        labels=_labels(entry),
        oracle=None if entry.deskarena.oracle is None else tuple(entry.deskarena.oracle),
        max_steps=BUDGETS[entry.task_category],
        raw=raw,
    )


def variants_of(entry: WindowsWorldTask, task: Task) -> Iterator[Variant]:
    """The variants: in Chinese, with the criteria as released, and with assertions only if those suffice."""
    if entry.instruction_cn.strip():
        chinese = {"instruction": text_of(entry.instruction_cn), "evaluator": evaluator_of(entry, [])}
        yield Variant(axis="language", value="cn", task=task.model_copy(update=chinese))
    released = as_released(entry)
    if released is not None:
        yield Variant(axis=CRITERIA, value=RELEASED, task=task.model_copy(update={"evaluator": released}))
    present = {str(step.parameters.get("path")) for step in task.setup if step.type == "generate_file"}
    alone = without_judge(task.evaluator, present)
    if alone is not None:
        yield Variant(axis="judge", value="none", task=task.model_copy(update={"evaluator": alone}))


def _labels(entry: WindowsWorldTask) -> Labels:
    validity, metrics, additions = entry.validity_info, entry.evaluation_metrics, entry.deskarena
    mocks, unknown = mocks_of(entry), unreviewed_quotes(entry)
    reviewed = criteria(english(entry).evaluation_metrics)
    published = {name: text for name, text in criteria(metrics).items() if text != reviewed[name]}
    needs = ApplicationNeeds() if additions.requires else needs_by_app(entry.involved_apps, additions.os)
    return Labels(
        apps=apps_of(entry.involved_apps),
        requires=tuple(additions.requires) or needs.commands,
        difficulty=additions.difficulty,
        difficulty_source=additions.difficulty_source,
        level=entry.task_category,
        os=additions.os,
        feasible=entry.task_category != INFEASIBLE,
        extra={
            "persona": persona_of(entry.persona),
            "persona_raw": entry.persona,
            "apps_raw": list(entry.involved_apps),
            "pre_conditions": [text_of(condition) for condition in entry.pre_conditions],
            "success_criterion": text_of(metrics.success_criterion),
            "expected_final_state": text_of(metrics.expected_final_state or ""),
            "checkpoints": len(metrics.intermediate_checks),
            "valid": validity.is_valid,
            "validity_note": validity.validity_note or "",
            "review": entry.review_status,
            **({"mocks": mocks} if mocks else {}),
            **({"published_criteria": published} if published else {}),
            **({"unreviewed_criteria": unknown} if unknown else {}),
            **unknown_label(needs),
        },
        licences=needs.licences,
    )


def _odd(entry: WindowsWorldTask) -> Iterator[str]:
    """Warnings about a task as published."""
    name, validity = entry.task_id, entry.validity_info
    if not validity.is_valid:
        yield f"{name}: validity_info: its authors' review found it not valid: {(validity.validity_note or '?')[:300]}"
    if entry.review_status != "approved":
        yield f"{name}: review_status: it is {entry.review_status}, its authors' review is not finished"
    if len(set(entry.involved_apps)) < len(entry.involved_apps):
        yield f"{name}: involved_apps: one application is listed twice; it counts once"
    for criterion, words in unreviewed_quotes(entry).items():
        yield f"{name}: {criterion}: no reviewed English for {words[0][:200]!r}, which is not in the instruction"
    for url in entry.environment_setup.urls_to_mock:
        if url.startswith("https://") and not mocked_place(url):
            yield f"{name}: urls_to_mock: {url[:300]} is https, and no certificate can name its host"
    if entry.task_category == INFEASIBLE:
        dropped = len(entry.evaluation_metrics.intermediate_checks)
        if dropped:
            yield f"{name}: intermediate_checks: it has {dropped} and is infeasible; S_int is of L1 to L3 only"
    elif not entry.evaluation_metrics.intermediate_checks:
        yield f"{name}: intermediate_checks: there are none, it has no S_int"
