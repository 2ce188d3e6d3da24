"""A worker runs judged tasks with a judge whose replies are recorded."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from backend.config import Settings
from backend.db.models import Episode, Evidence, Judge, JudgeResponse, JudgeVerdict, Measure, Reevaluation, Run
from backend.domain import registry
from backend.domain.errors import Invalid, UnknownPlugin
from backend.domain.judging.judgement import Judgement
from backend.domain.judging.prompt import PROMPT_SHA256
from backend.domain.model.episode import REPEAT_PAUSES
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.task import Task
from backend.services.attempts import reevaluation
from backend.services.judging.judges import JudgeCost
from backend.services.runs.views.episode_page import episode_page
from backend.services.runs.views.run_page import RunPageQuery, run_page
from tests.error_codes import raises_code
from tests.factories.claims import note_task
from tests.factories.judging import CRITERIA, answer, judged_task
from tests.factories.records import World
from tests.fakes.evaluator import InProcessJudge
from tests.integration.worker.in_process import (
    InProcessWorker,
    attempts,
    benchmark_of,
    episodes,
    evaluations,
    finished,
    submit,
)
from tests.waiting import until
from worker.background.reevaluator import Rescorer
from worker.base.database import Database
from worker.models.model_pool import ModelPool

StartWorker = Callable[[], InProcessWorker]
GOOD = answer(opened=True, final=True)
HALF = answer(opened=(True, 0), final=False)
USAGE = {"input_tokens": 900, "output_tokens": 30, "usd": 0.01, "calls": 1}


class Installation:
    """A worker whose endpoint `tape` answers from a cassette."""

    def __init__(self, world: World, start_worker: StartWorker, folder: Path) -> None:
        self.world = world
        self.start_worker = start_worker
        self.tape = folder / "tape.jsonl"
        (folder / "models.toml").write_text(f'[endpoints.tape]\napi = "recorded"\ncassette = "{self.tape}"\n')

    def record(self, *replies: str) -> None:
        """From now on the model gives these replies, in this order."""
        lines = [json.dumps({"reply": {"text": text, "usage": USAGE}}) for text in replies]
        self.tape.write_text("\n".join(lines) + "\n")

    def run(self, *replies: str, task: Task | None = None, **more: Any) -> tuple[Run, Episode]:
        """One episode with a judge that gives these replies, in this order."""
        run, worker = self._begin(*replies, task=task, **more)
        (episode,) = finished(self.world, run.id)
        worker.stop()
        return run, episode

    def unjudged(self, *replies: str) -> Episode:
        """The same without a verdict: the episode that waits for another evaluation."""
        run, worker = self._begin(*replies)

        def waits() -> Sequence[Episode]:
            return [one for one in episodes(self.world, run.id) if "no verdict" in one.reason]

        (episode,) = until(waits, 30.0, what="the evaluation is to be repeated")
        worker.stop()
        return episode

    def ask(self, episode: Episode, wish: reevaluation.ReevaluationOptions | None = None) -> None:
        """Requests another evaluation."""
        with self.world.work() as session:
            _, actor = self.world.who(session)
            reevaluation.request(session, episode.id, actor, wish)

    def rescorer(self) -> Rescorer:
        """A worker that scores again, with the same models."""
        models = ModelPool.from_settings(Settings(data_dir=self.tape.parent)).models
        return Rescorer(Database(self.world.factory), self.world.store, InProcessJudge(), models, every=0.1)

    def make_due(self) -> None:
        """Lets the pause pass."""
        with self.world.work() as session:
            session.execute(update(Reevaluation).values(available_at=Reevaluation.created_at))

    def _begin(self, *replies: str, task: Task | None = None, **more: Any) -> tuple[Run, InProcessWorker]:
        self.record(*replies)
        self.world.benchmark(benchmark_of(task or judged_task()))
        worker = self.start_worker()
        judge: Mapping[str, Any] = {"endpoint": "tape", "model": "judge-1", **more.pop("judge", {})}
        run = submit(self.world, "noop", judge=judge, **more)
        worker.dispatcher.wake()
        return run, worker

    def all(self, kind: Any) -> list[Any]:
        with self.world.work() as session:
            return list(session.scalars(select(kind)))


@pytest.fixture
def here(world: World, start_worker: StartWorker, tmp_path: Path) -> Installation:
    registry.load("worker.models")
    return Installation(world, start_worker, tmp_path)


@pytest.mark.sampled(2)
class TestScored:
    def test_verdicts_become_score_measures_and_evidence(self, here: Installation) -> None:
        run, episode = here.run(HALF)
        assert (episode.state, episode.score) == ("scored", 0.0)
        measures = {row.name: row.value for row in here.all(Measure)}
        assert measures == {"score": 0.0, "S_final": 0.0, "S_int": 1.0}
        (attempt,) = attempts(here.world, episode.id)
        (evaluation,) = evaluations(here.world, attempt.id)
        (part,) = evaluation.parts
        assert (part["name"], part["value"], part["step"], part["reasons"]) == ("opened", 1.0, 0, ["opened: seen"])

        kept = here.all(Evidence)
        assert len({row.sha256 for row in kept}) == 1
        judgement = Judgement.from_evidence(json.loads(here.world.store.get(kept[0].sha256)))
        assert (judgement.judge.model, judgement.criteria) == ("judge-1", CRITERIA)
        assert judgement.votes[0].replies[0].text == HALF
        assert run.config["judge"]["temperature"] == 0.0

    def test_judge_verdict_and_cost_are_stored(self, here: Installation) -> None:
        here.run(HALF)
        (judge,) = here.all(Judge)
        assert (judge.kind, judge.endpoint, judge.model, judge.config["votes"]) == ("vlm", "tape", "judge-1", 1)
        (kept,) = here.all(JudgeResponse)
        assert (kept.usable, kept.usd, kept.priced, kept.vote_index) == (True, 0.01, True, 0)
        verdicts = {row.criterion: (row.reached, row.step, row.text) for row in here.all(JudgeVerdict)}
        assert verdicts == {
            "opened": (True, 0, "The note is open."),
            "final": (False, None, "The note says hello."),
        }

    def test_judging_cost_is_separate_from_the_agent_s_cost(self, here: Installation) -> None:
        run, episode = here.run(answer(opened=True), GOOD)
        page = here.world.do(run_page, run.id, RunPageQuery({}))
        assert (page.judged, page.spent.usd) == (JudgeCost(2, 0.02, priced=True), 0.0)
        shown = here.world.do(episode_page, episode.id, None)
        assert (shown.judged, shown.steps.spent.usd) == (page.judged, 0.0)
        assert run.pins["prompts"]["judge"] == PROMPT_SHA256

    def test_invalid_reply_is_retried(self, here: Installation) -> None:
        _, episode = here.run(answer(opened=True), GOOD)
        assert episode.score == 1.0
        assert [row.usable for row in here.all(JudgeResponse)] == [False, True]
        assert sum(row.usd for row in here.all(JudgeResponse)) == pytest.approx(0.02)

    def test_the_majority_of_three_votes(self, here: Installation) -> None:
        _, episode = here.run(GOOD, HALF, GOOD, judge={"votes": 3})
        assert episode.score == 1.0
        assert sorted(row.vote_index for row in here.all(JudgeResponse)) == [0, 1, 2]

    def test_preset_sets_the_temperature(self, here: Installation) -> None:
        run, _ = here.run(GOOD, preset="windowsworld")
        assert run.config["judge"]["temperature"] == 0.3


class TestScoredAgain:
    def test_stored_responses_are_reused_without_a_call(self, here: Installation) -> None:
        _, episode = here.run(HALF)
        here.tape.unlink()
        here.ask(episode)
        assert here.rescorer().process_next()
        (row,) = here.world.do(reevaluation.listing)
        assert (row.rescore.state, row.before, row.after) == ("done", 0.0, 0.0)
        (attempt,) = attempts(here.world, episode.id)
        old, new = sorted(evaluations(here.world, attempt.id), key=lambda one: one.id)
        assert (new.current, new.parts) == (True, old.parts)
        assert len(here.all(JudgeResponse)) == 1


@pytest.mark.sampled(2)
class TestAnotherJudge:
    OTHER = JudgeConfig(endpoint="tape", model="judge-2", votes=3, temperature=0.3)

    def test_new_verdict_is_stored_beside_the_old_one(self, here: Installation) -> None:
        _, episode = here.run(HALF)
        here.record(GOOD, GOOD, HALF)
        here.ask(episode, reevaluation.ReevaluationOptions(judge=self.OTHER))
        assert here.rescorer().process_next()
        (row,) = here.world.do(reevaluation.listing)
        assert (row.rescore.state, row.before, row.after, row.rescore.make_current) == ("done", 0.0, 1.0, False)
        (attempt,) = attempts(here.world, episode.id)
        old, new = sorted(evaluations(here.world, attempt.id), key=lambda one: one.id)
        assert [(one.current, one.score) for one in (old, new)] == [(True, 0.0), (False, 1.0)]
        assert here.all(Episode)[0].score == 0.0

    def test_other_configuration_is_a_separate_judge(self, here: Installation) -> None:
        _, episode = here.run(HALF)
        here.record(GOOD, GOOD, HALF)
        here.ask(episode, reevaluation.ReevaluationOptions(judge=self.OTHER))
        assert here.rescorer().process_next()
        names = {judge.id: judge.model for judge in here.all(Judge)}
        assert sorted(names.values()) == ["judge-1", "judge-2"]
        said = {(names[row.judge_id], row.criterion): row.reached for row in here.all(JudgeVerdict)}
        assert said == {
            ("judge-1", "opened"): True,
            ("judge-1", "final"): False,
            ("judge-2", "opened"): True,
            ("judge-2", "final"): True,
        }

    def test_new_verdict_counts_on_request(self, here: Installation) -> None:
        _, episode = here.run(HALF)
        here.record(GOOD, GOOD, GOOD)
        here.ask(episode, reevaluation.ReevaluationOptions(judge=self.OTHER, make_current=True))
        assert here.rescorer().process_next()
        assert here.all(Episode)[0].score == 1.0

    def test_old_verdict_stays_when_the_judge_fails(self, here: Installation) -> None:
        _, episode = here.run(HALF)
        here.record("yes", "no")
        here.ask(episode, reevaluation.ReevaluationOptions(judge=self.OTHER))
        assert here.rescorer().process_next()
        (row,) = here.world.do(reevaluation.listing)
        assert (row.rescore.state, row.after) == ("failed", None)
        assert "cannot be used" in row.rescore.message
        assert here.all(Episode)[0].score == 0.0

    def test_unknown_endpoint_is_refused(self, here: Installation) -> None:
        _, episode = here.run(HALF)
        with raises_code(UnknownPlugin, "unknown_plugin", mentions="'tapes'"):
            here.ask(episode, reevaluation.ReevaluationOptions(judge=JudgeConfig(endpoint="tapes", model="m")))

    def test_a_task_without_a_criterion_for_it(self, here: Installation) -> None:
        _, episode = here.run(HALF, task=note_task())
        with raises_code(Invalid, "task_not_judged"):
            here.ask(episode, reevaluation.ReevaluationOptions(judge=self.OTHER))


@pytest.mark.sampled(2)
class TestWithoutVerdict:
    @pytest.mark.parametrize(
        ("replies", "words"),
        [
            ((answer(opened=True), answer(opened=True)), "without a verdict: final"),
            ((answer(opened=True, final=True, more=True), "yes"), "not one JSON object"),
            (("I would say so.", answer(opened=(True, 99), final=True)), "there is no step 99"),
            ((), "has no reply"),
        ],
    )
    def test_episode_without_a_verdict_is_scheduled_for_a_retry(
        self, here: Installation, replies: tuple[str, ...], words: str
    ) -> None:
        episode = here.unjudged(*replies)
        (attempt,) = attempts(here.world, episode.id)
        assert (episode.state, attempt.state, attempt.failure_class) == ("waiting", "lost", "evaluator")
        assert words in attempt.failure_message
        assert here.all(Measure) == here.all(JudgeVerdict) == []
        assert len(here.all(JudgeResponse)) == len(replies)

    def test_retried_judge_scores_the_episode_once(self, here: Installation) -> None:
        episode = here.unjudged(answer(opened=True), "yes")
        here.record(HALF)
        here.make_due()
        assert here.rescorer().process_next()
        (found,) = here.all(Episode)
        assert (found.state, found.score, found.attempt_count) == ("scored", 0.0, 1)
        (attempt,) = attempts(here.world, episode.id)
        assert (attempt.state, attempt.failure_class) == ("scored", None)
        assert {row.name: row.value for row in here.all(Measure)} == {"score": 0.0, "S_final": 0.0, "S_int": 1.0}
        assert here.all(Run)[0].state == "completed"
        assert here.world.do(episode_page, found.id, None).repeated

    def test_episode_is_lost_after_the_last_failed_retry(self, here: Installation) -> None:
        here.unjudged("yes", "yes")
        for _ in REPEAT_PAUSES:
            here.make_due()
            assert here.rescorer().process_next()
        (found,) = here.all(Episode)
        assert (found.state, found.failure_class, found.score) == ("lost", "evaluator", None)
        assert "cannot be used" in found.failure_message
        assert here.all(Run)[0].state == "completed"


class TestSubmit:
    def test_run_with_only_judged_tasks_requires_a_judge(self, here: Installation) -> None:
        here.world.benchmark(benchmark_of(judged_task()))
        here.start_worker()
        with raises_code(Invalid, "judge_missing") as raised:
            submit(here.world)
        assert raised.value.path == "judge"

    def test_judged_tasks_are_not_runnable_without_a_judge(self, here: Installation) -> None:
        here.world.benchmark(benchmark_of(judged_task(), note_task()))
        worker = here.start_worker()
        run = submit(here.world)
        worker.dispatcher.wake()
        found = {episode.state: episode.reason for episode in finished(here.world, run.id)}
        assert found["not_runnable"] == "a model judges it, and the run names none: give it a judge"
        assert "scored" in found

    def test_unknown_endpoint_is_refused(self, here: Installation) -> None:
        here.world.benchmark(benchmark_of(judged_task()))
        here.start_worker()
        with raises_code(UnknownPlugin, "unknown_plugin", mentions="'tapes'"):
            submit(here.world, judge={"endpoint": "tapes", "model": "m"})
