"""Mutation testing: the sample, the tests per mutant, the record and the report."""

from dataclasses import replace
from pathlib import Path

import pytest
from cosmic_ray.work_item import MutationSpec

from tools import mutant_report, mutants
from tools.mutant_report import SampleTrials
from tools.mutant_trials import MutantOutcome, MutantTrial, TrialRecord

ORDER = Path("backend/domain/scheduling/order.py")
CHANGE = """--- mutation diff ---
--- a/x.py
+++ b/x.py
@@ -1 +1 @@
-    return a + b
+    return a - b
"""


def mutation(line: int = 1, operator: str = "core/NumberReplacer") -> MutationSpec:
    return MutationSpec(ORDER, operator, 0, (line, 4), (line, 5), definition_name="turns")


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mutants.ROOT)


@pytest.mark.usefixtures("at_root")
class TestMutations:
    def test_annotations_are_left_as_they_are(self, tmp_path: Path) -> None:
        module = tmp_path / "a.py"
        module.write_text("def f(x: int | None) -> int | str:\n    y: int | None = x\n    return 1 | 2\n")
        lines = {each.start_pos[0] for place in mutants.mutations([module]) for each in place}
        assert lines == {3}

    def test_a_place_has_all_that_can_be_done_there(self, tmp_path: Path) -> None:
        module = tmp_path / "a.py"
        module.write_text("def f(x):\n    return x < 1\n")
        places = mutants.mutations([module])
        assert sorted(len({each.operator_name for each in place}) > 1 for place in places) == [False, True]


class TestSample:
    def test_the_same_seed_draws_the_same(self) -> None:
        places = [[mutation(line, "a"), mutation(line, "b")] for line in range(1, 100)]
        one, again, other = (mutants.sample(places, 10, seed, lambda _: True) for seed in (3, 3, 4))
        assert one == again != other

    def test_samples_at_most_one_mutant_per_place(self) -> None:
        places = [[mutation(line, "a"), mutation(line, "b")] for line in range(1, 6)]
        assert [each.start_pos[0] for each in mutants.sample(places, 50, 0, lambda _: True)] == [1, 2, 3, 4, 5]

    def test_mutants_that_are_not_python_are_left_out(self, tmp_path: Path) -> None:
        module = tmp_path / "a.py"
        module.write_text("def f(x, *, y):\n    return x - y\n")
        places = mutants.mutations([module])
        assert {each.start_pos[0] for place in places for each in place} == {1, 2}
        assert {each.start_pos[0] for each in mutants.sample(places, 9, 0)} == {2}


@pytest.mark.usefixtures("at_root")
class TestCovering:
    def test_the_modules_own_tests_come_first(self) -> None:
        assert mutants.covering(ORDER)[0] == Path("tests/unit/domain/scheduling/test_order.py")

    def test_a_service_is_tried_with_a_database_and_through_the_web(self) -> None:
        tests = mutants.covering(Path("backend/services/results/checkpoint_analyses.py"))
        assert Path("tests/integration/web/results/test_checkpoint_analyses.py") in tests

    def test_every_module_has_some(self) -> None:
        modules = [path for name in mutant_report.PACKAGES for path in Path(name).rglob("*.py")]
        assert [path for path in modules if not mutants.covering(path)] == []


class TestReport:
    TRIALS = (
        MutantTrial(mutation(1), MutantOutcome.KILLED, CHANGE),
        MutantTrial(mutation(2), MutantOutcome.TIMEOUT, CHANGE),
        MutantTrial(mutation(3), MutantOutcome.SURVIVED, CHANGE),
        MutantTrial(mutation(4), MutantOutcome.KILLED, CHANGE),
    )

    def test_endless_mutants_count_as_killed(self) -> None:
        assert mutant_report.share_killed(self.TRIALS) == 0.75

    def test_a_row_per_package_and_one_for_all(self) -> None:
        rows = mutant_report.table(self.TRIALS)
        assert "| `backend/domain/scheduling` | 4 | 2 | 1 | 1 | 75% |" in rows
        assert rows[-1] == "| all | 4 | 2 | 1 | 1 | 75% |"

    def test_survivors_show_the_change(self) -> None:
        (line,) = mutant_report.survivors(self.TRIALS)
        assert line.startswith(f"- `{ORDER}:3` in `turns`")
        assert "`return a + b` -> `return a - b`" in line

    def test_equivalent_mutant_has_a_reason_and_counts_as_survivor(self) -> None:
        (module, original, mutant), reason = next(iter(mutant_report.equivalent_mutants().items()))
        change = f"--- a\n+++ b\n-{original}\n+{mutant}"
        spec = MutationSpec(Path(module), "core/NumberReplacer", 0, (1, 4), (1, 5))
        trial = MutantTrial(spec, MutantOutcome.SURVIVED, change)
        assert reason in mutant_report.survivors([trial])[0]
        assert mutant_report.share_killed([trial]) == 0.0

    def test_the_page_has_a_table_per_sample_and_says_what_was_tried_again(self) -> None:
        tried = [replace(trial, commit="abc", day="2026-11-26") for trial in self.TRIALS]
        text = mutant_report.page(
            "make mutants", [SampleTrials(0, 4, tried, tried), SampleTrials(7, 9, tried, self.TRIALS)]
        )
        assert "Tried: 4 at `abc` (2026-11-26)." in text
        assert [text.count(each) for each in ("seed 0", "seed 7", "| all | 4 |", "At first")] == [1, 1, 2, 1]
        assert text.count("The other 5 have not been tried.") == text.count("have not been tried") == 1


class TestTrialRecord:
    @pytest.fixture(autouse=True)
    def _at_root(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(mutants.ROOT)

    def test_has_the_first_and_the_latest_outcome_of_a_mutant(self, tmp_path: Path) -> None:
        path = tmp_path / "outcomes.jsonl"
        record = TrialRecord(path)
        for outcome in (MutantOutcome.SURVIVED, MutantOutcome.KILLED):
            record.add(MutantTrial(mutation(), outcome, CHANGE, "abc", "2026-11-26"))
        for each in (record, TrialRecord(path)):
            first, last = each.first(mutation()), each.last(mutation())
            assert (first and first.outcome, last and last.outcome) == (MutantOutcome.SURVIVED, MutantOutcome.KILLED)
            assert each.last(mutation(operator="core/AddNot")) is None

    def test_survivors_are_tried_again_and_a_fresh_sample_is_not(self) -> None:
        record = TrialRecord(None)
        alive, dead, new = (mutation(operator=name) for name in ("a", "b", "c"))
        record.add(MutantTrial(alive, MutantOutcome.SURVIVED, CHANGE))
        record.add(MutantTrial(dead, MutantOutcome.TIMEOUT, CHANGE))
        assert mutants.still_to_try([alive, dead, new], record, again=True) == [alive, new]
        assert mutants.still_to_try([alive, dead, new], record, again=False) == [new]

    def test_keeps_nothing_without_a_file(self) -> None:
        record = TrialRecord(None)
        assert record.first(mutation()) is None


@pytest.mark.usefixtures("at_root")
def test_the_equivalent_mutants_are_of_todays_code() -> None:
    rows = mutant_report.equivalent_mutants()
    assert [row for row in rows if row[1] not in Path(row[0]).read_text() or row[1] == row[2]] == []
