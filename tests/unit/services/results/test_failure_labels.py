"""Statistics of a sample of failures without a database."""

from uuid import UUID

from backend.domain.model.episode import EndedBy
from backend.services.results.failure_labels import Failure, FailureSample, LabelReview, SuggestionView
from backend.services.results.views.failures import ROWS_HEAD, label_rows

RUN = UUID(int=1)


def review(person: str, *labels: str) -> LabelReview:
    return LabelReview(person=person, labels=list(labels), accepted=[], rejected=[], note="")


def failure(number: int, *reviews: LabelReview, suggested: str = "") -> Failure:
    suggestions = [SuggestionView(label=suggested, step=1, reason="x")] if suggested else []
    return Failure(
        episode=UUID(int=number),
        run_id=RUN,
        attempt_id=UUID(int=100 + number),
        task="files/a",
        instruction="Move the file.",
        score=0.0,
        ended_by=EndedBy.DONE,
        suggested=suggestions,
        reviews=list(reviews),
    )


class TestFailureSample:
    SAMPLE = FailureSample(
        run=RUN,
        seed=0,
        failed=9,
        episodes=[
            failure(1, review("anna", "grounding"), review("ben", "grounding"), suggested="repeated"),
            failure(2, review("anna", "planning"), review("ben"), review("cleo")),
            failure(3, review("anna", "grounding")),
            failure(4, suggested="repeated"),
        ],
    )

    def test_people_are_counted_among_what_they_judged(self) -> None:
        shares = {share.label: share for share in self.SAMPLE.by_people}
        assert self.SAMPLE.judged == 3
        assert (shares["grounding"].count, shares["grounding"].n, shares["grounding"].share) == (2, 3, 2 / 3)
        assert (shares["planning"].count, shares["planning"].share) == (0, 0.0)

    def test_rules_are_counted_among_all(self) -> None:
        shares = {share.label: share for share in self.SAMPLE.by_rules}
        assert (shares["repeated"].count, shares["repeated"].n, shares["repeated"].share) == (2, 4, 0.5)
        assert "planning" not in shares

    def test_agreement_is_of_labels_in_use_where_several_judged(self) -> None:
        assert {each.label: each.episodes for each in self.SAMPLE.agreement} == {"grounding": 2, "planning": 2}

    def test_a_table_has_a_row_for_each_person_and_one_where_nobody_judged(self) -> None:
        rows = [dict(zip(ROWS_HEAD, row, strict=True)) for row in label_rows(self.SAMPLE)]
        assert [row["person"] for row in rows] == ["anna", "ben", "anna", "ben", "cleo", "anna", ""]
        assert [rows[1]["labels"], rows[1]["suggested"], rows[-1]["labels"]] == ["grounding", "repeated", ""]

    def test_a_label_that_half_of_them_set_counts(self) -> None:
        assert failure(1, review("anna", "grounding"), review("ben")).labels == ["grounding"]
        assert failure(2).labels == []
        assert failure(2).by("anna") is None
