"""People judge what a judge has judged; how far they agree."""

from uuid import uuid4

import pytest
from sqlalchemy import select

from backend.db.models import HumanJudgement, Judge, ReviewItem
from backend.domain.errors import Invalid, NotFound
from backend.services.accounts.projects import actor_for
from backend.services.judging import reviews
from backend.services.judging.judge_agreement import JudgeAgreement, agreement_of
from backend.services.judging.judges import get_judge
from tests.error_codes import raises_code
from tests.factories.judging import CRITERIA
from tests.factories.records import World
from tests.factories.reviews import Judged, JudgedTask, graph_run

TEN = [JudgedTask(opened=True, final=at < 5) for at in range(10)]


def agreement(made: Judged) -> JudgeAgreement:
    with made.world.work() as session:
        return agreement_of(session, get_judge(session, made.judge))


class TestDraw:
    def test_the_same_seed_draws_the_same_and_nothing_twice(self, installation: World) -> None:
        made = Judged(installation, TEN)
        assert made.draw(4, seed=7) == 4
        with installation.work() as session:
            first = set(session.scalars(select(ReviewItem.attempt_id)))
        assert made.draw(100, seed=7) == 6
        with installation.work() as session:
            assert len(set(session.scalars(select(ReviewItem.attempt_id)))) == 10
            session.query(ReviewItem).delete()
        made.draw(4, seed=7)
        with installation.work() as session:
            assert set(session.scalars(select(ReviewItem.attempt_id))) == first

    def test_drawing_fails_when_nothing_is_left(self, installation: World) -> None:
        made = Judged(installation, TEN[:1])
        made.draw()
        with raises_code(Invalid, "nothing_to_review"):
            made.draw()

    @pytest.mark.parametrize("size", [0, 1001])
    def test_a_number_that_makes_no_sense(self, installation: World, size: int) -> None:
        made = Judged(installation, TEN[:1])
        with pytest.raises(Invalid):
            made.draw(size)

    def test_no_such_judge(self, installation: World) -> None:
        with pytest.raises(NotFound):
            installation.do(reviews.draw, uuid4(), 1, 1)


class TestQueue:
    def test_two_people_judge_each_item_and_no_third(self, installation: World) -> None:
        made = Judged(installation, TEN[:3])
        made.draw()
        assert made.answered("ann", most=2) == 2
        assert made.answered("ben") == 3
        assert made.answered("cid") == 1
        assert made.answered("ann") == 0
        with installation.work() as session:
            found = reviews.progress(session, get_judge(session, made.judge))
        assert found == reviews.ReviewProgress(3, 3, 3, {"ann": 2, "ben": 3, "cid": 1})

    def test_items_judged_by_one_other_person_come_first(self, installation: World) -> None:
        made = Judged(installation, TEN[:3])
        made.draw()
        with installation.work() as session:
            last = session.scalars(select(ReviewItem).order_by(ReviewItem.id.desc())).first()
            assert last is not None
            ann = actor_for(session, installation.who(session)[0], "ann")
            reviews.give_verdicts(session, made.judge, last.id, ann, {"opened": True, "final": True})
            ben = actor_for(session, installation.who(session)[0], "ben")
            offered = reviews.next_task(session, made.judge, ben)
            assert offered is not None
            assert offered.item == last.id

    def test_item_shows_task_criteria_pictures_and_actions_only(self, installation: World) -> None:
        made = Judged(installation, TEN[:1])
        made.draw()
        with installation.work() as session:
            ann = actor_for(session, installation.who(session)[0], "ann")
            task = reviews.next_task(session, made.judge, ann)
            assert task is not None
            assert (task.instruction, task.criteria) == ("Write hello into the note.", CRITERIA)
            assert [step.actions for step in task.steps] == ["click 1, 2", "click 1, 2"]
            assert "noop" not in repr(task)
            assert "I click" not in repr(task)

    @pytest.mark.parametrize("said", [{}, {"opened": True}, {"opened": True, "final": True, "more": False}])
    def test_every_criterion_needs_a_verdict(self, installation: World, said: dict[str, bool]) -> None:
        made = Judged(installation, TEN[:1])
        made.draw()
        with installation.work() as session:
            ann = actor_for(session, installation.who(session)[0], "ann")
            task = reviews.next_task(session, made.judge, ann)
            assert task is not None
            with raises_code(Invalid, "invalid_answer", path="said"):
                reviews.give_verdicts(session, made.judge, task.item, ann, said)
            with raises_code(Invalid, "invalid_answer", path="said"):
                reviews.give_rating(session, made.judge, task.item, ann, completion=10, logic=10)
            with pytest.raises(NotFound):
                reviews.give_verdicts(session, made.judge, uuid4(), ann, {"opened": True, "final": True})

    def test_the_last_word_counts(self, installation: World) -> None:
        made = Judged(installation, TEN[:1])
        made.draw()
        made.answered("ann", final=True)
        with installation.work() as session:
            item = session.scalars(select(ReviewItem)).one()
            ann = actor_for(session, installation.who(session)[0], "ann")
            reviews.give_verdicts(session, made.judge, item.id, ann, {"opened": True, "final": False})
        with installation.work() as session:
            kept = {row.criterion: row.reached for row in session.scalars(select(HumanJudgement))}
        assert kept == {"opened": True, "final": False}


class TestAgreement:
    def test_agreement_without_reviews_is_undefined(self, installation: World) -> None:
        found = agreement(Judged(installation, TEN[:1]))
        assert (found.attempts, found.whole.counts.n, found.whole.counts.kappa, found.people.value) == (
            0,
            0,
            None,
            None,
        )

    def test_agreement_with_people_and_among_people(self, installation: World) -> None:
        """The judge says yes 15 times of 20; ann always says yes, ben that nothing ended right."""
        made = Judged(
            installation, [JudgedTask(opened=True, final=at < 5, level="L1" if at < 4 else "L2") for at in range(10)]
        )
        made.draw()
        made.answered("ann", opened=True, final=True)
        made.answered("ben", opened=True, final=False)
        found = agreement(made)
        assert (found.attempts, found.unsure) == (10, 0)
        assert found.whole.counts == (25, 5, 5, 5)
        # Of 40 pairs they agree on 30; by chance on 30/40 of 30 and 10/40 of 10.
        assert found.whole.counts.kappa == pytest.approx((0.75 - 0.625) / 0.375)
        assert found.whole.interval is not None
        assert [(level.name, level.counts) for level in found.levels] == [("L1", (12, 4, 0, 0)), ("L2", (13, 1, 5, 5))]
        # 10 units agree, 10 do not: D_o = 1/2; 30 yes and 10 no: D_e = 2 * 30 * 10 / (40 * 39).
        assert found.people.value == pytest.approx(1 - 0.5 / (600 / 1560))
        assert (found.people.n, found.everybody.n) == (20, 20)
        assert {(one.criterion, one.judge, one.person) for one in found.disagreements} == {
            ("final", False, "ann"),
            ("final", True, "ben"),
        }

    def test_cannot_tell_is_not_counted(self, installation: World) -> None:
        made = Judged(installation, TEN[:2])
        made.draw()
        made.answered("ann", opened=None, final=True)
        found = agreement(made)
        assert (found.unsure, found.whole.counts.n) == (2, 2)

    def test_reworded_criteria_are_not_compared(self, installation: World) -> None:
        made = Judged(installation, TEN[:1])
        made.draw()
        made.answered("ann")
        with installation.work() as session:
            for row in session.scalars(select(HumanJudgement).where(HumanJudgement.criterion == "final")):
                row.text = "It was worded otherwise then."
        assert agreement(made).whole.counts.n == 1


class TestGraphs:
    def test_completion_and_logic_correlate_with_cr_and_lc(self, ready: World) -> None:
        """Four trajectories, two people each; LC of one is undefined."""
        measures = [{"CR": 0.0, "LC": 0.0}, {"CR": 0.5, "LC": 1.0}, {"CR": 1.0, "LC": 0.5}, {"CR": 0.75}]
        ids = graph_run(ready, measures)
        with ready.work() as session:
            judge = session.scalars(select(Judge)).one()
            assert (judge.kind, judge.model) == ("graph", "evaluator of graphs")
            reviews.draw(session, judge.id, 50, 3)
        rated = dict(zip(ids, [(0, 0), (40, 90), (100, 40), (80, 10)], strict=True))
        for name in ("ann", "ben"):
            for _ in ids:
                with ready.work() as session:
                    person = actor_for(session, ready.who(session)[0], name)
                    task = reviews.next_task(session, judge.id, person)
                    assert task is not None
                    assert task.kind == "graph"
                    item = session.get_one(ReviewItem, task.item)
                    completion, logic = rated[item.attempt_id]
                    reviews.give_rating(session, judge.id, task.item, person, completion=completion, logic=logic)
        with ready.work() as session:
            found = agreement_of(session, get_judge(session, judge.id))
        done, order = found.correlations
        # Pearson of (0, 0.5, 1, 0.75) and (0, 0.4, 1, 0.8), and of (0, 1, 0.5) and (0, 0.9, 0.4).
        assert (done.measure, done.n) == ("CR", 4)
        assert done.r == pytest.approx(0.99027, abs=1e-5)
        assert done.interval is not None
        assert (order.measure, order.n) == ("LC", 3)
        assert order.r == pytest.approx(0.99795, abs=1e-5)
        assert order.interval is None

    @pytest.mark.parametrize(
        ("completion", "logic", "path"), [(5, 10, "completion"), (110, 10, "completion"), (10, -10, "logic")]
    )
    def test_graph_scores_must_be_tenths(self, ready: World, completion: int, logic: int, path: str) -> None:
        graph_run(ready, [{"CR": 0.5}])
        with ready.work() as session:
            judge = session.scalars(select(Judge)).one()
            reviews.draw(session, judge.id, 1, 1)
            ann = actor_for(session, ready.who(session)[0], "ann")
            task = reviews.next_task(session, judge.id, ann)
            assert task is not None
            with raises_code(Invalid, "invalid_request", path=path):
                reviews.give_rating(session, judge.id, task.item, ann, completion=completion, logic=logic)
