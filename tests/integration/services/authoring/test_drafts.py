"""Own tasks from the first word to a benchmark's next version; nothing counts that people have not approved."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.db.models import Actor, TaskDraft, TaskDraftReview
from backend.db.models.enums import ActorKind, DraftAuthor
from backend.domain.drafts.content import DraftContent
from backend.domain.drafts.states import DraftState, RejectionReason
from backend.domain.errors import Conflict, IllegalMove, Invalid, NotAllowed, NotFound
from backend.domain.model.task import MetricCall, SetupStep
from backend.services.accounts.projects import actor_for, person
from backend.services.authoring import draft_checks, draft_publication, draft_reviews, draft_trials, drafts
from backend.services.authoring.drafts import DraftOrigin
from backend.services.benchmarks import benchmarks
from tests.error_codes import raises_code
from tests.factories.drafts import make_content
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

ScoresOf = dict[str, float | None]
SOUND: ScoresOf = {"oracle": 1.0, "noop": 0.0, "always_fail": 0.0}


def who(session: Session, world: World, name: str) -> Actor:
    project, _ = world.who(session)
    return person(session, project, name)


def written(world: World, content: DraftContent | None = None, by: str = "ada", **more: Any) -> UUID:
    with world.work() as session:
        project, _ = world.who(session)
        author = who(session, world, by)
        draft = drafts.create(session, content or make_content(), project=project, author=author, **more)
        return draft.id


def edited(world: World, draft_id: UUID, by: str = "ada", **changes: Any) -> None:
    with world.work() as session:
        drafts.change(session, draft_id, changes, by=who(session, world, by))


def tried(world: World, draft_id: UUID, scores: ScoresOf = SOUND) -> None:
    """Starts a try and plays its three runs."""
    worker = world.worker(slots=1)
    with world.work() as session:
        project, actor = world.who(session)
        draft_trials.start_try(session, draft_id, project=project, actor=actor, store=world.store)
    while (claim := world.claim(worker)) is not None:
        world.score(claim, scores[claim.config.agent] or 0.0)


def approved(world: World, draft_id: UUID, *names: str) -> None:
    for name in names:
        with world.work() as session:
            draft = drafts.get_draft(session, draft_id)
            draft_reviews.approve(session, draft_id, draft.version, by=who(session, world, name))


def ready(world: World, content: DraftContent | None = None) -> UUID:
    """A draft that two people have approved."""
    draft_id = written(world, content)
    tried(world, draft_id)
    world.do(draft_reviews.submit, draft_id)
    approved(world, draft_id, "bob", "cleo")
    return draft_id


def state(world: World, draft_id: UUID) -> str:
    with world.work() as session:
        return drafts.get_draft(session, draft_id).state


def published(world: World, **more: Any) -> Any:
    with world.work() as session:
        project, _ = world.who(session)
        found = draft_publication.publish(session, project, store=world.store, **more)
        return found.task_set.version, found.task_set.counts["tasks"]


class TestWriting:
    def test_every_version_is_stored(self, installation: World) -> None:
        draft_id = written(installation)
        edited(installation, draft_id, instruction="Add milk to shopping.txt.")
        edited(installation, draft_id, instruction="Add milk to shopping.txt.")
        with installation.work() as session:
            draft = drafts.get_draft(session, draft_id)
            assert (draft.version, draft.instruction) == (2, "Add milk to shopping.txt.")
            assert drafts.content_of(session, draft, 1) == make_content()
            assert [(one.version.number, one.by) for one in drafts.history(session, draft)] == [(2, "ada"), (1, "ada")]

    def test_a_key_is_taken_until_it_is_published(self, installation: World) -> None:
        written(installation)
        with raises_code(Conflict, "draft_exists", mentions="editor/add_milk"):
            written(installation)
        written(installation, benchmark="other")

    @pytest.mark.parametrize("name", ["starter", "starter-omnibench", ".drafts", "osw"])
    def test_drafts_cannot_target_imported_or_reserved_names(self, installation: World, name: str) -> None:
        installation.benchmark(make_benchmark().model_copy(update={"kind": "osworld"}), name="osw")
        with pytest.raises(Invalid):
            written(installation, benchmark=name)

    def test_files_are_the_draft_s_own(self, installation: World) -> None:
        draft_id = written(installation)
        with installation.work() as session:
            by = who(session, installation, "ada")
            drafts.add_file(session, draft_id, "gold.txt", b"milk", by=by, store=installation.store)
            sha256 = drafts.content_of(session, drafts.get_draft(session, draft_id)).assets["gold.txt"]
        with raises_code(Invalid, "file_not_uploaded"):
            written(installation, make_content(name="b", assets={"gold.txt": sha256}))


class TestTrying:
    def test_an_incomplete_one_is_refused(self, installation: World) -> None:
        draft_id = written(installation, make_content(oracle=()))
        with raises_code(Invalid, "draft_incomplete", mentions="solution"):
            tried(installation, draft_id)

    def test_an_unknown_name_is_refused(self, installation: World) -> None:
        draft_id = written(installation, make_content(checks=(MetricCall(func="exact_mach"),)))
        with raises_code(Invalid, "invalid_draft", mentions="exact_match"):
            tried(installation, draft_id)

    def test_scores_belong_to_what_was_tried(self, installation: World) -> None:
        draft_id = written(installation)
        tried(installation, draft_id)
        with installation.work() as session:
            found = draft_trials.latest_trial(session, drafts.get_draft(session, draft_id))
            assert found is not None
            assert (found.sound, found.current, dict(found.scores)) == (True, True, SOUND)
        edited(installation, draft_id, max_steps=9)
        with installation.work() as session:
            found = draft_trials.latest_trial(session, drafts.get_draft(session, draft_id))
            assert found is not None
            assert found.current is False
        edited(installation, draft_id, max_steps=None)
        with installation.work() as session:
            found = draft_trials.latest_trial(session, drafts.get_draft(session, draft_id))
            assert found is not None
            assert (found.sound, found.current) == (True, True)

    def test_no_list_shows_what_drafts_are_tried_with(self, installation: World) -> None:
        draft_id = written(installation)
        tried(installation, draft_id)
        with installation.work() as session:
            assert [row.name for row in benchmarks.list_benchmarks(session)] == []


class TestSubmitting:
    def test_only_as_it_was_tried(self, installation: World) -> None:
        draft_id = written(installation)
        with raises_code(Conflict, "draft_not_tried"):
            installation.do(draft_reviews.submit, draft_id)
        tried(installation, draft_id)
        edited(installation, draft_id, max_steps=9)
        with raises_code(Conflict, "draft_not_tried"):
            installation.do(draft_reviews.submit, draft_id)

    @pytest.mark.parametrize("wrong", [{"oracle": 0.5}, {"always_fail": 1.0}])
    def test_only_a_sound_one(self, installation: World, wrong: ScoresOf) -> None:
        draft_id = written(installation)
        tried(installation, draft_id, SOUND | wrong)
        with raises_code(Conflict, "trial_failed"):
            installation.do(draft_reviews.submit, draft_id, noop_justification="It is right so.")

    def test_doing_nothing_may_score_if_the_author_says_why(self, installation: World) -> None:
        draft_id = written(installation)
        tried(installation, draft_id, SOUND | {"noop": 1.0})
        with raises_code(Invalid, "noop_explanation_needed"):
            installation.do(draft_reviews.submit, draft_id)
        installation.do(draft_reviews.submit, draft_id, noop_justification="The list may be complete already.")
        with installation.work() as session:
            draft = drafts.get_draft(session, draft_id)
            assert (draft.state, draft.noop_justification) == ("in_review", "The list may be complete already.")

    def test_infeasible_task_can_be_submitted(self, installation: World) -> None:
        draft_id = written(installation, make_content(feasible=False, checks=(), oracle=()))
        tried(installation, draft_id, {"oracle": 1.0, "noop": 0.0, "always_fail": 1.0})
        installation.do(draft_reviews.submit, draft_id)
        assert state(installation, draft_id) == DraftState.IN_REVIEW


class TestReviewing:
    @pytest.fixture
    def in_review(self, installation: World) -> UUID:
        draft_id = written(installation)
        tried(installation, draft_id)
        installation.do(draft_reviews.submit, draft_id)
        return draft_id

    def test_two_others_approve(self, installation: World, in_review: UUID) -> None:
        approved(installation, in_review, "bob")
        assert state(installation, in_review) == DraftState.IN_REVIEW
        approved(installation, in_review, "cleo")
        assert state(installation, in_review) == DraftState.APPROVED

    def test_author_cannot_review(self, installation: World, in_review: UUID) -> None:
        with raises_code(NotAllowed, "reviewer_not_allowed"):
            approved(installation, in_review, "ada")

    def test_a_person_who_changed_a_draft_counts_as_author(self, installation: World) -> None:
        draft_id = written(installation)
        edited(installation, draft_id, by="bob", max_steps=9)
        tried(installation, draft_id)
        installation.do(draft_reviews.submit, draft_id)
        with pytest.raises(NotAllowed):
            approved(installation, draft_id, "bob")

    def test_person_reviews_once(self, installation: World, in_review: UUID) -> None:
        approved(installation, in_review, "bob")
        with raises_code(Conflict, "already_reviewed"):
            approved(installation, in_review, "bob")

    def test_an_edit_voids_approvals(self, installation: World, in_review: UUID) -> None:
        approved(installation, in_review, "bob")
        edited(installation, in_review, instruction="Add milk to shopping.txt and save it.")
        assert state(installation, in_review) == DraftState.DRAFT
        tried(installation, in_review)
        installation.do(draft_reviews.submit, in_review)
        approved(installation, in_review, "cleo")
        assert state(installation, in_review) == DraftState.IN_REVIEW

    def test_review_of_another_version_is_refused(self, installation: World, in_review: UUID) -> None:
        with installation.work() as session:
            by = who(session, installation, "bob")
            with raises_code(Conflict, "draft_changed"):
                draft_reviews.approve(session, in_review, 7, by=by)

    def test_rejected_draft_can_be_edited_again(self, installation: World, in_review: UUID) -> None:
        with installation.work() as session:
            by = who(session, installation, "bob")
            draft_reviews.reject(
                session, in_review, 1, by=by, reason=RejectionReason.NEAR_DUPLICATE, comment="See starter."
            )
        with installation.work() as session:
            draft = drafts.get_draft(session, in_review)
            assert (draft.state, draft.rejection_reason, draft.rejection_comment) == (
                "rejected",
                "near_duplicate",
                "See starter.",
            )
        with pytest.raises(Conflict):
            approved(installation, in_review, "cleo")
        edited(installation, in_review, instruction="Add oat milk to shopping.txt.")
        with installation.work() as session:
            draft = drafts.get_draft(session, in_review)
            assert (draft.state, draft.rejection_reason) == ("draft", None)

    def test_no_draft_skips_the_review(self, installation: World) -> None:
        draft_id = written(installation)
        with installation.work() as session, pytest.raises(IllegalMove):
            drafts.move(session, drafts.get_draft(session, draft_id), DraftState.APPROVED)
        with raises_code(Conflict, "draft_not_in_review"):
            approved(installation, draft_id, "bob")


class TestConstraints:
    """The database itself refuses to approve a model's draft without people."""

    ORIGIN = DraftOrigin(DraftAuthor.MODEL, "gpt-4o-2026", "ab" * 32, "a librarian")

    def test_approved_without_people(self, installation: World) -> None:
        draft_id = written(installation, origin=self.ORIGIN)
        with pytest.raises(IntegrityError, match="approved_by_people"), installation.work() as session:
            session.execute(text("UPDATE task_draft SET state = 'approved' WHERE id = :id"), {"id": draft_id})

    def test_review_by_a_program_is_refused(self, installation: World) -> None:
        draft_id = written(installation, origin=self.ORIGIN)

        def review(session: Session, kind: str) -> None:
            project, _ = installation.who(session)
            robot = actor_for(session, project, "robot", ActorKind.PROGRAM)
            row = TaskDraftReview(draft_id=draft_id, version=1, actor_id=robot.id, actor_kind=kind, verdict="approve")
            session.add(row)

        with pytest.raises(IntegrityError, match="reviewer_is_person"):
            installation.do(review, "program")
        with pytest.raises(IntegrityError, match="actor_id_actor_kind"):
            installation.do(review, "person")

    def test_a_model_that_is_not_named(self, installation: World) -> None:
        with pytest.raises(IntegrityError, match="model_is_named"):
            written(installation, origin=DraftOrigin(DraftAuthor.MODEL))

    def test_a_person_who_generated_a_draft_counts_as_author(self, installation: World) -> None:
        draft_id = written(installation, origin=self.ORIGIN)
        tried(installation, draft_id)
        installation.do(draft_reviews.submit, draft_id)
        with pytest.raises(NotAllowed):
            approved(installation, draft_id, "ada")
        approved(installation, draft_id, "bob", "cleo")
        assert state(installation, draft_id) == DraftState.APPROVED


class TestPublishing:
    def test_an_old_version_never_changes(self, installation: World) -> None:
        ready(installation)
        assert published(installation) == (1, 1)
        second = ready(installation, make_content(name="b", instruction="Delete the file old.txt in Documents."))
        assert published(installation) == (2, 2)
        with installation.work() as session:
            new, old = benchmarks.list_task_sets(session, "own")
            assert [row.key for row in benchmarks.list_tasks(session, old.id).items] == ["editor/add_milk"]
            keys = [row.key for row in benchmarks.list_tasks(session, new.id).items]
            assert keys == ["editor/add_milk", "editor/b"]
            assert drafts.get_draft(session, second).published_task_set_id == new.id

    def test_a_published_draft_can_be_run(self, installation: World) -> None:
        ready(installation)
        published(installation)
        run = installation.submit("oracle", benchmark="own")
        claim = installation.must_claim(installation.worker(slots=1))
        assert (claim.run_id, claim.task.instruction) == (run.id, make_content().instruction)

    def test_a_changed_task_takes_the_place_of_the_old_one(self, installation: World) -> None:
        draft_id = ready(installation)
        published(installation)
        edited(installation, draft_id, instruction="Add milk to shopping.txt.")
        tried(installation, draft_id)
        installation.do(draft_reviews.submit, draft_id)
        approved(installation, draft_id, "bob", "cleo")
        assert published(installation) == (2, 1)
        with installation.work() as session:
            task = benchmarks.list_tasks(session, benchmarks.latest_task_set(session, "own").id).items[0]
            assert task.instruction == "Add milk to shopping.txt."

    def test_other_tasks_of_the_benchmark_stay(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task("files", "a"), selections={"few": ("files/a",)}), name="own")
        ready(installation)
        assert published(installation) == (2, 2)
        with installation.work() as session:
            task_set = benchmarks.latest_task_set(session, "own")
            assert [row.key for row in benchmarks.list_tasks(session, task_set.id).items] == [
                "files/a",
                "editor/add_milk",
            ]

    def test_files_come_along(self, installation: World) -> None:
        draft_id = written(installation)
        with installation.work() as session:
            by = who(session, installation, "ada")
            drafts.add_file(session, draft_id, "gold.txt", b"milk", by=by, store=installation.store)
            step = SetupStep(type="download", parameters={"files": [{"url": "asset:gold.txt", "path": "/home/user/g"}]})
            drafts.change(session, draft_id, {"setup": [step.model_dump()]}, by=by)
        tried(installation, draft_id)
        installation.do(draft_reviews.submit, draft_id)
        approved(installation, draft_id, "bob", "cleo")
        published(installation)
        installation.submit("oracle", benchmark="own")
        claim = installation.must_claim(installation.worker(slots=1))
        assert installation.store.get(claim.assets["editor/add_milk/gold.txt"]) == b"milk"

    def test_unapproved_draft_is_not_published(self, installation: World) -> None:
        draft_id = written(installation)
        with raises_code(Conflict, "drafts_not_approved"):
            published(installation)
        with raises_code(Conflict, "drafts_not_approved", mentions=str(draft_id)):
            published(installation, only=[draft_id])


class TestChecks:
    def test_other_benchmarks_and_drafts_are_compared(self, installation: World) -> None:
        task = make_task("files", "same").model_copy(update={"instruction": make_content().instruction})
        installation.benchmark(make_benchmark(task), name="starter")
        written(installation, make_content(name="twin"))
        draft_id = written(installation)
        with installation.work() as session:
            draft = drafts.get_draft(session, draft_id)
            found = draft_checks.checks_of(session, draft, drafts.content_of(session, draft))
            assert found[0].findings == ("draft editor/twin: cosine 1.00", "starter: files/same: cosine 1.00")


class TestNotThere:
    def test_unknown_draft_is_reported(self, installation: World) -> None:
        nobody = UUID(int=1)
        with installation.work() as session:
            for call in (drafts.get_draft, draft_reviews.submit):
                with pytest.raises(NotFound):
                    call(session, nobody)
            assert session.get(TaskDraft, nobody) is None
