"""Failures: seeded samples, what rules suggest of stored steps, what people say, shares and agreement."""

from typing import Any
from uuid import UUID

import pytest

from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.episode import EndedBy
from backend.services.accounts.projects import default_project
from backend.services.attempts import attempts
from backend.services.results import failure_labels
from backend.services.results.failure_labels import Failure, FailureSample
from backend.services.scheduling import claims
from tests.error_codes import raises_code
from tests.factories.records import World, evaluation
from tests.factories.tasks import make_benchmark, make_task


def play(installation: World, score: float, ended_by: EndedBy, pictures: tuple[bytes, ...]) -> UUID:
    """An episode whose steps all click at one place and see these pictures; its id."""
    claim = installation.must_claim(installation.worker(slots=1))
    installation.do(attempts.enter_running, claim.fence, {})
    for index, picture in enumerate(pictures):
        installation.step(claim, index, picture=picture)
    installation.do(attempts.enter_evaluating, claim.fence, ended_by, {})
    installation.do(attempts.finish_scored, claim.fence, evaluation(score), [], {})
    installation.do(claims.release_lease, claim.lease_id, "done")
    return claim.episode_id


def say(installation: World, episode: UUID, person: str, *labels: str, note: str = "") -> Failure:
    with installation.work() as session:
        project = default_project(session)
        return failure_labels.review(session, project, episode, person=person, labels=labels, note=note)


@pytest.fixture
def run(installation: World) -> tuple[UUID, list[UUID]]:
    """A solved episode; one that clicks twice on an unchanged screen; one that is half done and says DONE."""
    installation.benchmark(make_benchmark(*(make_task(name=name) for name in "abcd")))
    installation.worker()
    made = installation.submit("random")
    found = [
        play(installation, 1.0, EndedBy.DONE, (b"1", b"1")),
        play(installation, 0.0, EndedBy.STEPS, (b"1", b"1", b"2")),
        play(installation, 0.5, EndedBy.DONE, (b"1", b"2", b"3")),
    ]
    return made.id, found


def sample(installation: World, run_id: UUID, **more: Any) -> FailureSample:
    found: FailureSample = installation.do(failure_labels.sample, run_id, **more)
    return found


class TestSample:
    def test_failed_episodes_with_what_rules_suggest(self, installation: World, run: tuple[UUID, list[UUID]]) -> None:
        run_id, (_, clicks, half) = run
        found = sample(installation, run_id)
        assert found.failed == 2
        suggested = {row.episode: [(one.label, one.step) for one in row.suggested] for row in found.episodes}
        assert suggested == {clicks: [("repeated", 1)], half: [("hallucinated", 2)]}
        assert {one.label: one.count for one in found.by_rules} == {
            "repeated": 1,
            "invalid": 0,
            "grounding": 0,
            "hallucinated": 1,
            "gave_up": 0,
            "not_refused": 0,
        }
        assert {one.share for one in found.by_people} == {None}

    def test_the_seed_decides(self, installation: World, run: tuple[UUID, list[UUID]]) -> None:
        run_id, _ = run
        drawn = {sample(installation, run_id, number=1, seed=seed).episodes[0].episode for seed in range(8)}
        assert len(drawn) == 2
        first = sample(installation, run_id, number=1, seed=3).episodes[0].episode
        assert sample(installation, run_id, number=1, seed=3).episodes[0].episode == first

    def test_unknown_run_is_refused(self, installation: World, run: tuple[UUID, list[UUID]]) -> None:
        with pytest.raises(NotFound):
            sample(installation, run[1][0])


class TestReview:
    def test_a_new_label_replaces_the_same_person_s_old_one(
        self, installation: World, run: tuple[UUID, list[UUID]]
    ) -> None:
        run_id, (_, clicks, _) = run
        say(installation, clicks, "anna", "grounding", note="beside the button")
        found = say(installation, clicks, "anna", "repeated", "planning")
        (review,) = found.reviews
        assert (review.person, review.labels, review.note) == ("anna", ["planning", "repeated"], "")
        assert (review.accepted, review.rejected) == (["repeated"], [])
        assert sample(installation, run_id).judged == 1

    def test_several_people_are_joined_and_compared(self, installation: World, run: tuple[UUID, list[UUID]]) -> None:
        run_id, (_, clicks, half) = run
        say(installation, clicks, "anna", "grounding")
        say(installation, clicks, "ben", "grounding", "planning")
        say(installation, half, "anna")
        say(installation, half, "ben", "planning")
        found = sample(installation, run_id)
        shares = {one.label: (one.count, one.n) for one in found.by_people if one.count}
        assert shares == {"grounding": (1, 2), "planning": (2, 2)}
        agreement = {one.label: one for one in found.agreement}
        assert (agreement["grounding"].alpha, agreement["grounding"].episodes) == (1.0, 2)
        assert agreement["planning"].alpha is not None
        assert agreement["planning"].alpha < 0.5
        rejected = {row.episode: row.reviews[0].rejected for row in found.episodes}
        assert rejected == {clicks: ["repeated"], half: ["hallucinated"]}

    def test_a_solved_episode_has_no_failure_label(self, installation: World, run: tuple[UUID, list[UUID]]) -> None:
        with raises_code(Conflict, "episode_not_failed"):
            say(installation, run[1][0], "anna", "grounding")
        with raises_code(Invalid, "unknown_label", mentions="'laziness'"):
            say(installation, run[1][1], "anna", "laziness")

    def test_blank_name_is_refused(self, installation: World, run: tuple[UUID, list[UUID]]) -> None:
        with raises_code(Invalid, "invalid_name"):
            say(installation, run[1][1], " ", "grounding")
        assert say(installation, run[1][1], " anna ", "grounding").reviews[0].person == "anna"
