"""Work that people judge: handed in without a score, compared blind, rated."""

from random import Random
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from backend.db.models import Actor, Attempt, Episode, Evaluation, PairwisePreference, Run, Submission
from backend.db.models.enums import EvidenceRole, Preference
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model import score as verdict
from backend.services.accounts.projects import person_or_local
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts, reevaluation
from backend.services.attempts.attempts import EvidenceRow
from backend.services.results import run_summaries
from backend.services.runs import validation
from backend.services.runs.summary import run_summary
from backend.services.submissions import pairwise_preferences, submissions
from tests.error_codes import raises_code
from tests.factories.creative import creative_benchmark, creative_task, picture
from tests.factories.records import World
from tests.factories.submissions import hand_in
from tests.integration.services.lifecycle.test_repeats import make_due, unjudged

NAME = "creative"
RED, GREEN, BLUE = picture((250, 10, 10)), picture((10, 250, 10)), picture((10, 10, 250))


def handed_in(world: World, *agents: str, expert: bool = False, data: bytes | None = RED) -> list[str]:
    """A work of each agent on one task; returns the runs' ids."""
    task = creative_task(expert="expert/one.png" if expert else "")
    world.benchmark(creative_benchmark(task, assets={"expert/one.png": GREEN} if expert else {}), NAME)
    worker = world.worker(slots=len(agents) or 1)
    found = []
    for agent in agents:
        run = world.submit(agent, benchmark=NAME)
        hand_in(world, world.must_claim(worker), data)
        found.append(str(run.id))
    return found


def person(world: World, name: str = "") -> Actor:
    with world.work() as session:
        project, _ = world.who(session)
        return person_or_local(session, project, name)


def contestants(world: World) -> dict[UUID, str]:
    """The agent of each submission, or the expert."""
    query = select(Submission.id, Run.config["agent"].as_string())
    query = query.outerjoin(Attempt, Attempt.id == Submission.attempt_id)
    query = query.outerjoin(Episode, Episode.id == Attempt.episode_id).outerjoin(Run, Run.id == Episode.run_id)
    with world.work() as session:
        return {work: agent or pairwise_preferences.EXPERT for work, agent in session.execute(query)}


def judge_all(world: World, prefer: str, name: str = "") -> int:
    """A person judges every pair, always for the works of one contestant; returns how many pairs there were."""
    actor = person(world, name)
    for number in range(50):
        pair = world.do(pairwise_preferences.next_pair, NAME, actor, Random(number))
        if pair is None:
            return number
        names = contestants(world)
        left = names[pair.left.id] == prefer
        side = Preference.LEFT if left else Preference.RIGHT if names[pair.right.id] == prefer else Preference.EQUAL
        world.do(pairwise_preferences.choose, pair.left.id, pair.right.id, side, actor)
    raise AssertionError("pairs without end")


class TestHandedIn:
    def test_submission_is_neither_scored_nor_zero(self, installation: World) -> None:
        handed_in(installation, "noop")
        with installation.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.outcome, episode.score, episode.solved) == (
                "handed_in",
                "handed_in",
                None,
                None,
            )
            assert session.scalars(select(Evaluation)).one().score is None
            assert [len(work.files) for work in session.scalars(select(Submission))] == [1]

    def test_is_shown_beside_the_rates_and_not_counted(self, installation: World) -> None:
        run_id = handed_in(installation, "noop")[0]
        summary = installation.do(run_summary, run_id)
        assert (summary.counts.scored, summary.counts.handed_in, summary.success_rate) == (0, 1, None)
        assert summary.counts_text == "0 of 1 episode scored; 1 submitted for comparison"
        installation.roll_up()
        with installation.work() as session:
            stored = run_summaries.summary(session, session.get_one(Run, run_id))
        assert stored.counts.handed_in == 1

    def test_the_run_is_over(self, installation: World) -> None:
        handed_in(installation, "noop")
        with installation.work() as session:
            assert [run.state for run in session.scalars(select(Run))] == ["completed"]

    def test_an_agent_without_a_file_has_no_submission(self, installation: World) -> None:
        handed_in(installation, "noop", data=None)
        with installation.work() as session:
            assert session.scalars(select(Submission)).all() == []
            assert session.scalars(select(Episode)).one().outcome == "handed_in"

    def test_the_same_write_twice_makes_one_work(self, installation: World) -> None:
        installation.benchmark(creative_benchmark(), NAME)
        worker = installation.worker()
        installation.submit(benchmark=NAME)
        claim = installation.must_claim(worker)
        hand_in(installation, claim, RED)
        with installation.work() as session:
            evaluation = verdict.Evaluation(score=None, measures={})
            attempts.finish_scored(session, claim.fence, evaluation, [], {})
            assert len(session.scalars(select(Submission)).all()) == 1

    def test_a_work_is_handed_in_by_a_repeated_evaluation(self, installation: World) -> None:
        installation.benchmark(creative_benchmark(), NAME)
        worker = installation.worker()
        installation.submit(benchmark=NAME)
        claim = installation.must_claim(worker)
        installation.run_to_evaluation(claim)
        unjudged(installation, claim)
        make_due(installation)
        ref = ArtifactRef(installation.store.put(RED, "image/png"), len(RED), "image/png")
        with installation.work() as session:
            job = reevaluation.claim_request(session)
            assert job is not None
            row = EvidenceRow(0, EvidenceRole.RESULT, "vm_file", "poster.png", ref)
            reevaluation.finish(session, job, verdict.Evaluation(score=None, measures={}), [row], 0.1)
        with installation.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.outcome, episode.score) == ("handed_in", None)
            assert len(session.scalars(select(Submission)).all()) == 1

    def test_there_is_nothing_to_score_again(self, installation: World) -> None:
        handed_in(installation, "noop")
        with installation.work() as session:
            _, actor = installation.who(session)
            episode = session.scalars(select(Episode)).one()
            with raises_code(Conflict, "episode_not_scored"):
                reevaluation.request(session, episode.id, actor)

    def test_a_validation_says_that_people_judge(self, installation: World) -> None:
        installation.benchmark(creative_benchmark(), NAME)
        worker = installation.worker(slots=3)
        with installation.work() as session:
            project, actor = installation.who(session)
            validation.start_validation(session, NAME, project=project, actor=actor)
        for _ in range(3):
            hand_in(installation, installation.must_claim(worker), RED)
        report = installation.do(validation.validation_report, NAME)
        assert (report.complete, report.ok) == (True, True)
        assert [(verdict.sound, verdict.reason) for verdict in report.tasks] == [(None, "people judge it")]


class TestNextPair:
    def test_two_works_of_one_task_by_two_contestants(self, installation: World) -> None:
        handed_in(installation, "noop", "random", expert=True)
        pair = installation.do(pairwise_preferences.next_pair, NAME, person(installation), Random(1))
        assert pair.left.id != pair.right.id
        assert pair.left.task_id == pair.right.task_id == pair.task.id
        assert (pair.judged, pair.remaining) == (0, 3)

    def test_no_pair_without_two_submissions(self, installation: World) -> None:
        handed_in(installation, "noop")
        assert installation.do(pairwise_preferences.next_pair, NAME, person(installation), Random(1)) is None

    def test_never_two_works_of_one_contestant(self, installation: World) -> None:
        handed_in(installation, "noop", "noop")
        assert installation.do(pairwise_preferences.next_pair, NAME, person(installation), Random(1)) is None

    def test_sides_are_random(self, installation: World) -> None:
        handed_in(installation, "noop", "random")
        actor = person(installation)
        lefts = {
            installation.do(pairwise_preferences.next_pair, NAME, actor, Random(seed)).left.id for seed in range(20)
        }
        assert len(lefts) == 2

    def test_each_person_sees_each_pair_once(self, installation: World) -> None:
        handed_in(installation, "noop", "random", expert=True)
        assert judge_all(installation, "noop") == 3
        assert judge_all(installation, "noop") == 0
        assert judge_all(installation, "noop", "Ada") == 3

    def test_least_compared_pairs_come_first(self, installation: World) -> None:
        handed_in(installation, "noop", "random", expert=True)
        first = installation.do(pairwise_preferences.next_pair, NAME, person(installation), Random(1))
        installation.do(
            pairwise_preferences.choose, first.left.id, first.right.id, Preference.EQUAL, person(installation, "Ada")
        )
        for seed in range(10):
            other = installation.do(pairwise_preferences.next_pair, NAME, person(installation), Random(seed))
            assert {other.left.id, other.right.id} != {first.left.id, first.right.id}


class TestChoose:
    def test_keeps_sides_and_person(self, installation: World) -> None:
        handed_in(installation, "noop", "random")
        actor = person(installation, "Ada")
        pair = installation.do(pairwise_preferences.next_pair, NAME, actor, Random(1))
        installation.do(pairwise_preferences.choose, pair.left.id, pair.right.id, Preference.RIGHT, actor)
        with installation.work() as session:
            kept = session.scalars(select(PairwisePreference)).one()
            assert (kept.left_id, kept.preference, kept.actor_id) == (pair.left.id, "right", actor.id)

    def test_the_first_choice_counts_on_either_side(self, installation: World) -> None:
        handed_in(installation, "noop", "random")
        actor = person(installation)
        pair = installation.do(pairwise_preferences.next_pair, NAME, actor, Random(1))
        installation.do(pairwise_preferences.choose, pair.left.id, pair.right.id, Preference.RIGHT, actor)
        with raises_code(Conflict, "pair_already_judged"):
            installation.do(pairwise_preferences.choose, pair.right.id, pair.left.id, Preference.RIGHT, actor)

    def test_only_works_of_one_task(self, installation: World) -> None:
        tasks = creative_benchmark(creative_task("one", "a.png"), creative_task("two", "a.png"), assets={"a.png": RED})
        installation.benchmark(tasks, NAME)
        with installation.work() as session:
            first, second = session.scalars(select(Submission).order_by(Submission.id))
            _, actor = installation.who(session)
            for left, right, wrong in ((first.id, second.id, Invalid), (first.id, first.id, Invalid),
                                       (first.id, uuid4(), NotFound)):  # fmt: skip
                with pytest.raises(wrong):
                    pairwise_preferences.choose(session, left, right, Preference.LEFT, actor)


class TestBoard:
    def test_ratings_follow_the_choices(self, installation: World) -> None:
        handed_in(installation, "noop", "random", expert=True)
        for name in ("Ada", "Grace", "Hedy"):
            judge_all(installation, pairwise_preferences.EXPERT, name)
        board = installation.do(pairwise_preferences.board, NAME)
        assert (board.comparisons, board.people, board.tasks, board.groups) == (9, 3, 1, 1)
        assert next(row.name for row in board.contestants) == pairwise_preferences.EXPERT
        assert all(
            row.preferred_over_expert is not None and row.preferred_over_expert < 0.5 for row in board.contestants[1:]
        )
        assert any("Never beaten nor equalled: human expert" in words for words in board.warnings)

    def test_groups_that_nothing_connects_are_reported(self, installation: World) -> None:
        handed_in(installation, "noop", "oracle", "always_fail", expert=True)
        entries = {name: work for work, name in contestants(installation).items()}
        actor = person(installation)
        for one, two in (("noop", "oracle"), ("always_fail", pairwise_preferences.EXPERT)):
            installation.do(pairwise_preferences.choose, entries[one], entries[two], Preference.EQUAL, actor)
        board = installation.do(pairwise_preferences.board, NAME)
        assert board.groups == 2
        assert any("2 groups that no choice connects" in words for words in board.warnings)

    def test_unrated_submissions_are_reported_and_not_counted(self, installation: World) -> None:
        handed_in(installation, "noop", "noop", "oracle")
        works = contestants(installation)
        one, two = (work for work, name in works.items() if name == "noop")
        other = next(work for work, name in works.items() if name == "oracle")
        actor = person(installation)
        installation.do(pairwise_preferences.choose, one, two, Preference.LEFT, actor)
        installation.do(pairwise_preferences.choose, one, other, Preference.RIGHT, actor)
        board = installation.do(pairwise_preferences.board, NAME)
        assert (board.comparisons, board.left_share) == (1, 0.0)
        assert "1 more choice between works of one contestant" in board.warnings[0]
        assert [(row.wins, row.losses) for row in board.contestants if row.interval] == [(1, 0), (0, 1)]

    def test_without_choices_contestants_have_no_rating(self, installation: World) -> None:
        handed_in(installation, "noop", expert=True)
        board = installation.do(pairwise_preferences.board, NAME)
        assert [row.points for row in board.contestants] == [None, None]
        assert board.left_share is None

    def test_an_imported_experts_work_is_there_once(self, installation: World) -> None:
        handed_in(installation, expert=True)
        handed_in(installation, expert=True)
        with installation.work() as session:
            work = session.scalars(select(Submission)).one()
            assert submissions.read_file(session, installation.store, work.id, 0) == GREEN
            with pytest.raises(NotFound):
                submissions.read_file(session, installation.store, work.id, 1)
