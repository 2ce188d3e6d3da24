from uuid import UUID

from backend.domain.benchmarks import read_labels
from backend.services.people.human_baselines import ALL, HumanTrial, LabelBasis, as_csv, by_domain, by_run, labels

RUN = UUID(int=1)


def trial(task: str, steps: int, seconds: float, *, rating: int | None = None, solved: bool = True) -> HumanTrial:
    domain = task.partition("/")[0]
    return HumanTrial(RUN, task, domain, solved, float(solved), steps, seconds, rating)


TRIALS = [
    trial("files/a", 3, 20.0, rating=1),
    trial("files/a", 5, 80.0, rating=2),
    trial("files/b", 9, 200.0, rating=3, solved=False),
    trial("text/c", 6, 100.0, rating=2),
    trial("text/d", 20, 400.0),
]


class TestByDomain:
    def test_means_and_correlations_over_tasks(self) -> None:
        rows = by_domain(TRIALS)
        assert [row.domain for row in rows] == [ALL, "files", "text"]
        every = rows[0]
        assert (every.tasks, every.means.trials, every.means.rated) == (4, 5, 4)
        assert every.means.steps == 43 / 5
        assert every.means.success == 0.8
        assert (every.steps_difficulty.value, every.steps_difficulty.n) == (1.0, 3)
        assert every.steps_success.n == 4
        assert rows[1].steps_difficulty.value is None  # Two tasks say nothing.

    def test_no_trials_give_no_baselines(self) -> None:
        assert by_domain([]) == []


class TestByRun:
    def test_ratings_that_were_not_given_are_left_out(self) -> None:
        found = by_run(TRIALS)[RUN]
        assert (found.rating, found.rated, found.seconds) == (2.0, 4, 160.0)


class TestLabels:
    def test_by_time_of_those_who_solved_it(self) -> None:
        rows = {row["task"]: row for row in labels(TRIALS, LabelBasis.TIME)}
        assert sorted(rows) == ["files/a", "text/c", "text/d"]
        assert rows["files/a"] == {"task": "files/a", "human_seconds": 50.0, "human_steps": 4, "source": "human_time"}

    def test_rating_labels_ignore_the_solver(self) -> None:
        rows = {row["task"]: row for row in labels(TRIALS, LabelBasis.RATING)}
        assert {task: row["difficulty"] for task, row in rows.items()} == {
            "files/a": "medium",  # the median is 1.5
            "files/b": "hard",
            "text/c": "medium",
        }
        assert "human_steps" not in rows["files/b"]

    def test_the_labels_service_reads_them(self) -> None:
        keys = ["files/a", "files/b", "text/c", "text/d"]
        read = read_labels(as_csv(labels(TRIALS, LabelBasis.TIME)), keys)
        assert [(row.task, row.difficulty, row.source) for row in read] == [
            ("files/a", "easy", "human_time"),
            ("text/c", "medium", "human_time"),
            ("text/d", "hard", "human_time"),
        ]

    def test_a_task_is_not_a_formula_and_is_read_again(self) -> None:
        formula = "=HYPERLINK(1)/e"
        text = as_csv(labels([trial(formula, 3, 20.0)], LabelBasis.TIME))
        assert f"\r\n'{formula}," in text
        assert [row.task for row in read_labels(text, [formula])] == [formula]
