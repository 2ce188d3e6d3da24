"""A person's run, by the protocol: judge, act, rate, learn; and what comes of it on the board and as labels."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from backend.db.models import AgentConfiguration, Attempt, Episode, Run, Task
from backend.domain.errors import Conflict, FailureClass, Invalid, NotFound
from backend.domain.model.episode import EndedBy
from backend.domain.model.outcome_style import OutcomeStyle
from backend.domain.model.reason import ReasonCode
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation, StepRecord
from backend.services.attempts import attempts
from backend.services.attempts.attempts import StepRow
from backend.services.lifecycle import lease_reaper
from backend.services.lifecycle.human_runs import LATER
from backend.services.people import human_agent, human_baselines
from backend.services.people.human_agent import HumanRunState, NextAction
from backend.services.people.human_baselines import LabelBasis
from backend.services.results import leaderboards
from backend.services.results.views.board_columns import NUMBERS
from backend.services.results.views.leaderboard import board_of, sorted_by
from backend.services.runs import runs
from backend.services.runs.views.episode_page import EpisodePage, episode_page
from backend.services.runs.views.run_page import RunPage, RunPageQuery, run_page
from backend.services.scheduling.wait_reasons import explain
from backend.web.templating import style
from tests.error_codes import raises_code
from tests.factories.records import World, capabilities, emptied


def with_human() -> dict[str, Any]:
    """A worker through whom a person can act."""
    able = capabilities()
    offer = {"about": "", "schema": {}, "observation": "screenshot", "action_space": "computer_13"}
    able["agents"]["human"] = offer | {"privileged": False, "human": True}
    return able


@pytest.fixture
def installed(shared_database: str) -> Iterator[World]:
    with emptied(shared_database) as made:
        made.benchmark()
        made.worker(capabilities=with_human())
        yield made


class HumanStudy:
    """A person in a run."""

    def __init__(self, made: World, **more: Any) -> None:
        self.world = made
        self.run = made.submit("human", **more)
        self.worker = made.worker(capabilities=with_human())

    def desk(self) -> HumanRunState:
        found: HumanRunState = self.world.do(human_agent.desk, self.run.id)
        return found

    def start(self, *, feasible: bool = True) -> UUID:
        """Judges the next task."""
        episode = self.desk().episode
        assert episode is not None
        self.world.do(human_agent.begin, self.run.id, episode.id, feasible=feasible)
        return episode.id

    def play(self, score: float, steps: int = 2) -> UUID:
        """Does the next task."""
        started = self.start()
        claim = self.world.must_claim(self.worker)
        assert claim.episode_id == started
        self.world.score(claim, score, steps)
        return started

    def rate(self, episode: UUID, rating: int) -> None:
        self.world.do(human_agent.rate, self.run.id, episode, rating)


def said(made: World, episode: UUID) -> dict[str, Any]:
    with made.work() as session:
        return dict(session.query(Attempt).filter(Attempt.episode_id == episode).one().human_feedback or {})


def said_of(made: World, episode: UUID) -> list[bool]:
    """Verdicts on each attempt, oldest first."""
    with made.work() as session:
        rows = session.query(Attempt).filter(Attempt.episode_id == episode).order_by(Attempt.id).all()
        return [(row.human_feedback or {})["feasible"] for row in rows]


def page_of(made: World, run: UUID) -> RunPage:
    with made.work() as session:
        return run_page(session, run, RunPageQuery({}))


def shown(made: World, episode: UUID) -> EpisodePage:
    with made.work() as session:
        return episode_page(session, episode, None)


class TestRetry:
    def test_the_person_judges_again(self, installed: World) -> None:
        study = HumanStudy(installed, tasks=("files/a",))
        episode = study.start(feasible=False)
        installed.lose(installed.must_claim(study.worker), FailureClass.TASK_SETUP)
        study.start(feasible=False)
        installed.lose(installed.must_claim(study.worker), FailureClass.TASK_SETUP)
        assert study.desk().next is NextAction.END
        assert installed.do(runs.retry_run, study.run.id) == 1
        assert installed.claim(study.worker) is None
        assert study.desk().next is NextAction.JUDGE
        assert study.start(feasible=True) == episode
        installed.score(installed.must_claim(study.worker), 1.0, 2)
        assert said_of(installed, episode) == [False, False, True]


class TestLost:
    @pytest.mark.parametrize("failure", [FailureClass.GUEST, FailureClass.CLUSTER, FailureClass.TASK_SETUP])
    def test_lost_episode_waits_for_its_person(self, installed: World, failure: FailureClass) -> None:
        study = HumanStudy(installed)
        episode = study.start(feasible=False)
        claim = installed.must_claim(study.worker)
        installed.begin(claim)
        installed.lose(claim, failure)
        assert installed.claim(study.worker) is None
        after = study.desk()
        assert (after.next, after.episode and after.episode.id) == (NextAction.RETRY, episode)
        with installed.work() as session:
            row = session.get_one(Episode, episode)
            assert (row.state, row.score, row.available_at) == ("waiting", None, LATER)
            reason = explain(session, [row])[episode]
            assert reason.reason_code is ReasonCode.PERSON_AGAIN
            assert f"({failure.value})" in reason.reason

    def test_person_restarts_the_episode_and_is_scored(self, installed: World) -> None:
        study = HumanStudy(installed, tasks=("files/a",))
        episode = study.start()
        claim = installed.must_claim(study.worker)
        installed.begin(claim)
        installed.do(lease_reaper.release_lease, claim.lease_id, "the worker died")
        assert installed.claim(study.worker) is None
        assert study.start() == episode
        assert study.desk().next is NextAction.ACT
        installed.score(installed.must_claim(study.worker), 1.0, 2)
        assert said_of(installed, episode) == [True, True]
        assert study.desk().next is NextAction.RATE

    def test_page_restarts_the_episode_with_the_same_judgement(self, installed: World) -> None:
        study = HumanStudy(installed)
        episode = study.start(feasible=False)
        assert shown(installed, episode).anew == ""
        installed.lose(installed.must_claim(study.worker))
        assert shown(installed, episode).anew == "no"
        installed.do(runs.pause_run, study.run.id)
        assert shown(installed, episode).anew == ""
        installed.do(runs.resume_run, study.run.id)
        study.start(feasible=False)
        assert shown(installed, episode).anew == ""

    def test_a_second_try_waits_for_them_too(self, installed: World) -> None:
        study = HumanStudy(installed)
        failed = study.play(0.0)
        study.rate(failed, 3)
        with installed.work() as session:
            project, actor = installed.who(session)
            again = human_agent.try_again(session, study.run.id, failed, project=project, actor=actor)
            second, practice = again.id, again.run_id
        installed.lose(installed.must_claim(study.worker))
        assert installed.claim(study.worker) is None
        assert installed.do(human_agent.desk, practice).next is NextAction.RETRY
        installed.do(human_agent.begin, practice, second, feasible=True)
        installed.score(installed.must_claim(study.worker), 1.0, steps=5)
        assert said(installed, failed)["second_try"]["solved"] is True

    def test_an_agent_s_episode_in_which_somebody_helped_is_the_agent_s_again(self, installed: World) -> None:
        installed.submit("noop", tasks=("files/a",))
        worker = installed.worker(capabilities=with_human())
        claim = installed.must_claim(worker)
        installed.begin(claim)
        helped = Decision(actions=(Action(type=ActionType.CLICK, x=1, y=1),), by="person")
        record = StepRecord(index=0, observation=Observation(index=0), decision=helped)
        installed.do(attempts.record_step, claim.fence, StepRow(record))
        installed.lose(claim)
        again = installed.must_claim(worker)
        assert again.episode_id == claim.episode_id
        installed.score(again)
        with installed.work() as session:
            assert session.get_one(Attempt, claim.attempt_id).controller == "human_assisted"
            assert session.get_one(Attempt, again.attempt_id).controller == "agent"
            assert not session.get_one(Episode, again.episode_id).human_assisted


class TestOrder:
    def test_task_order_is_random_and_repeatable(self, installed: World) -> None:
        def order(seed: int) -> list[UUID]:
            run = installed.submit("human", seed=seed, repeats=3)
            with installed.work() as session:
                rows = session.query(Episode).filter(Episode.run_id == run.id).order_by(Episode.id).all()
                return [row.task_id for row in rows]

        assert order(1) == order(1)
        assert len({tuple(order(seed)) for seed in range(5)}) > 1

    def test_episode_starts_only_with_the_person(self, installed: World) -> None:
        study = HumanStudy(installed)
        assert installed.claim(study.worker) is None
        assert study.desk().next is NextAction.JUDGE


class TestProtocol:
    def test_judge_act_rate_and_the_next(self, installed: World) -> None:
        study = HumanStudy(installed)
        first = study.start(feasible=False)
        assert study.desk().next is NextAction.ACT
        claim = installed.must_claim(study.worker)
        assert study.desk().next is NextAction.ACT
        installed.score(claim, 1.0)
        assert (study.desk().next, study.desk().done) == (NextAction.RATE, [])
        study.rate(first, 2)
        after = study.desk()
        assert after.next is NextAction.JUDGE
        assert [(one.feasible, one.rating, one.steps) for one in after.done] == [(False, 2, 2)]
        assert after.done[0].seconds == pytest.approx(2.0)
        assert said(installed, first) == {"feasible": False, "rating": 2}

    def test_the_run_s_page_keeps_the_result_until_the_rating(self, installed: World) -> None:
        study = HumanStudy(installed)
        done = study.play(1.0)
        hidden = page_of(installed, study.run.id)
        assert hidden.unrated == done
        assert [(style(row, unrated=True).label, row.score) for row in hidden.episodes.rows if row.id == done] == [
            ("waiting for your rating", None)
        ]
        study.rate(done, 1)
        shown = page_of(installed, study.run.id)
        assert shown.unrated is None
        assert [(style(row).label, row.score) for row in shown.episodes.rows if row.id == done] == [("solved", 1.0)]

    def test_the_attempt_is_a_persons(self, installed: World) -> None:
        study = HumanStudy(installed)
        study.start()
        claim = installed.must_claim(study.worker)
        with installed.work() as session:
            assert session.get_one(Attempt, claim.attempt_id).controller == "person"
            assert session.get_one(AgentConfiguration, session.get_one(Run, study.run.id).agent_configuration_id).human

    def test_a_person_who_waits_comes_first(self, installed: World) -> None:
        installed.submit("random")
        study = HumanStudy(installed)
        started = study.start()
        assert installed.must_claim(study.worker).episode_id == started

    def test_one_task_at_a_time(self, installed: World) -> None:
        study = HumanStudy(installed)
        study.start()
        with installed.work() as session:
            other = session.scalars(select(Episode).where(Episode.available_at == LATER).limit(1)).one()
            with raises_code(Conflict, "task_in_progress"):
                human_agent.begin(session, study.run.id, other.id, feasible=True)

    def test_a_failure_is_reported_after_the_rating_and_done_again_for_its_steps(self, installed: World) -> None:
        study = HumanStudy(installed)
        failed = study.play(0.0)
        assert study.desk().next is NextAction.RATE
        study.rate(failed, 3)
        assert study.desk().next is NextAction.LEARN
        with installed.work() as session:
            project, actor = installed.who(session)
            again = human_agent.try_again(session, study.run.id, failed, project=project, actor=actor).id
        claim = installed.must_claim(study.worker)
        assert claim.episode_id == again
        installed.score(claim, 1.0, steps=5)
        told = said(installed, failed)["second_try"]
        assert told == {"episode": str(again), "steps": 5, "seconds": 2.0, "solved": True}
        assert study.desk().next is NextAction.JUDGE
        installed.roll_up()
        with installed.work() as session:
            assert session.get_one(Episode, failed).score == 0.0
            assert [row.run.id for row in leaderboards.leaderboard(session, "starter").rows] == [study.run.id]

    def test_failed_task_leads_to_the_next_task(self, installed: World) -> None:
        study = HumanStudy(installed)
        failed = study.play(0.0)
        study.rate(failed, 1)
        installed.do(human_agent.go_on, study.run.id, failed)
        assert study.desk().next is NextAction.JUDGE

    def test_only_what_has_ended_is_rated_and_once(self, installed: World) -> None:
        study = HumanStudy(installed)
        first = study.start()
        with raises_code(Conflict, "task_not_ended"):
            study.rate(first, 1)
        installed.score(installed.must_claim(study.worker))
        with pytest.raises(Invalid):
            study.rate(first, 4)
        study.rate(first, 1)
        with raises_code(Conflict, "already_rated"):
            study.rate(first, 2)

    def test_an_agents_run_is_nothing_for_a_person(self, installed: World) -> None:
        run = installed.submit("noop")
        with pytest.raises(NotFound):
            installed.do(human_agent.desk, run.id)


class TestBoard:
    def test_board_has_a_human_row(self, installed: World) -> None:
        study = HumanStudy(installed)
        study.rate(study.play(1.0, steps=4), 2)
        installed.roll_up()
        with installed.work() as session:
            board = leaderboards.leaderboard(session, "starter")
            (row,) = board.rows
            assert (row.reference, row.standing) == ("human", None)
            assert row.people is not None
            assert (row.people.steps, row.people.seconds, row.people.rating) == (4.0, 2.0, 2.0)
            assert board.people[0].means.trials == 1

    def test_labels_and_step_efficiency(self, installed: World) -> None:
        study = HumanStudy(installed)
        done = study.play(1.0, steps=4)
        study.rate(done, 3)
        assert installed.do(human_baselines.label_tasks, "starter", LabelBasis.TIME) == (1, 1)
        with installed.work() as session:
            task = session.get_one(Task, session.get_one(Episode, done).task_id)
            labelled = (task.difficulty, task.difficulty_source, task.human_seconds, task.human_steps)
            key = task.key
        assert labelled == ("easy", "human_time", 2.0, 4)
        installed.submit("random", tasks=(key,))
        installed.score(installed.must_claim(study.worker), 1.0, steps=6)
        installed.roll_up()
        with installed.work() as session:
            board = board_of(session, "starter", None)
            random, person = (next(row for row in board.rows if row.agent == name) for name in ("random", "human"))
            column = next(each for each in NUMBERS if each.name == "efficiency")
            assert (column.value(random), column.note(random)) == (1.5, "n = 1")
            assert (column.value(person) is None) == (person.step_ratios.people is None)
            assert sorted_by(board, "efficiency")[0].step_ratios.people is not None

    def test_labels_require_human_results(self, installed: World) -> None:
        with raises_code(Conflict, "no_human_result"):
            installed.do(human_baselines.label_tasks, "starter", LabelBasis.RATING)


class TestMixed:
    def test_a_helped_episode_is_listed_and_not_counted(self, installed: World) -> None:
        run = installed.submit("noop")
        worker = installed.worker(capabilities=with_human())
        claim = installed.must_claim(worker)
        installed.do(attempts.enter_running, claim.fence, {})
        helped = Decision(actions=(Action(type=ActionType.CLICK, x=1, y=1),), by="person")
        record = StepRecord(index=0, observation=Observation(index=0), decision=helped)
        installed.do(attempts.record_step, claim.fence, StepRow(record))
        installed.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
        installed.score_only(claim, 1.0)
        installed.roll_up()
        with installed.work() as session:
            assert session.get_one(Attempt, claim.attempt_id).controller == "human_assisted"
            summary = runs.run_summary(session, run.id)
            assert (summary.counts.human_assisted, summary.counts.scored, summary.solved) == (1, 0, 0)
            assert summary.success_rate is None
            assert "1 human-assisted (not counted)" in summary.counts_text
            assert sum(vars(summary.counts).values()) == summary.episodes
            (row,) = leaderboards.leaderboard(session, "starter").rows
            assert (row.summary.counts.human_assisted, row.summary.counts.scored) == (1, 0)
            assert style(episode_page(session, claim.episode_id, None).episode).style is OutcomeStyle.HELPED
