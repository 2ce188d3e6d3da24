import pytest

from backend.domain.benchmarks import TaskLabels, read_labels
from backend.domain.errors import Invalid
from backend.domain.model.task import Difficulty, DifficultySource
from tests.error_codes import raises_code

KEYS = ("os/a", "os/b", "web/a")
HEAD = "task,difficulty,source,human_seconds,human_steps\n"


class TestReadLabels:
    def test_every_column_is_read(self) -> None:
        (row,) = read_labels(HEAD + "os/b,hard,human_rating,200.5,12\n", KEYS)
        assert row == TaskLabels(
            task="os/b",
            difficulty=Difficulty.HARD,
            source=DifficultySource.HUMAN_RATING,
            human_seconds=200.5,
            human_steps=12,
        )

    @pytest.mark.parametrize(
        ("seconds", "difficulty"),
        [("0", "easy"), ("60", "easy"), ("60.1", "medium"), ("180", "medium"), ("181", "hard")],
    )
    def test_human_time_gives_the_difficulty(self, seconds: str, difficulty: str) -> None:
        (row,) = read_labels(f"task,human_seconds\nos/b,{seconds}\n", KEYS)
        assert (row.difficulty, row.source) == (difficulty, DifficultySource.HUMAN_TIME)

    def test_a_name_alone_where_only_one_has_it(self) -> None:
        assert read_labels("task,human_steps\nb,3\n", KEYS)[0].task == "os/b"
        with raises_code(Invalid, "invalid_labels_file", mentions=("a", "2")):
            read_labels("task,human_steps\na,3\n", KEYS)

    def test_columns_in_any_order_and_a_byte_order_mark(self) -> None:
        (row,) = read_labels("\ufeffsource,task,difficulty\nauthor,os/a,easy\n", KEYS)
        assert (row.task, row.difficulty) == ("os/a", Difficulty.EASY)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "line 1: expected the columns"),
            ("name,difficulty\n", "line 1: expected the columns"),
            ("task,colour\n", "line 1: expected the columns"),
            (HEAD, "there is no row"),
            (HEAD + "os/c,easy,author,,\n", "line 2, task: there is no task 'os/c'"),
            (HEAD + "os/a,simple,author,,\n", "line 2, difficulty: expected one of easy, medium, hard"),
            (HEAD + "os/a,easy,me,,\n", "line 2, source: expected one of"),
            (HEAD + "os/a,easy,,,\n", "line 2, source: a difficulty needs a source"),
            (HEAD + "os/a,,author,,\n", "line 2, source: a difficulty needs a source"),
            (HEAD + "os/a,easy,author,long,\n", "line 2, human_seconds: expected a number"),
            (HEAD + "os/a,easy,author,nan,\n", "line 2, human_seconds: expected a number"),
            (HEAD + "os/a,easy,author,-1,\n", "line 2, human_seconds: expected a number"),
            (HEAD + "os/a,easy,author,,1e9\n", "line 2, human_steps: expected a number"),
            (HEAD + "os/a,easy,author,1,2,3\n", "line 2: it has more cells"),
            (HEAD + '"os/a', "the CSV file cannot be read"),
        ],
    )
    def test_problems_are_named_with_their_line(self, text: str, words: str) -> None:
        with pytest.raises(Invalid) as wrong:
            read_labels(text, KEYS)
        assert words in wrong.value.message


class TestFurtherLabels:
    def test_a_column_brings_a_label_with_several_values(self) -> None:
        (row,) = read_labels("task,label:team,label:risk.kind\nfiles/a, red ; blue;red,\n", ["files/a"])
        assert row.labels == {"team": ("red", "blue")}

    @pytest.mark.parametrize("column", ["label:", "label:Team", "label:domain", "label:difficulty", "team"])
    def test_other_columns_are_refused(self, column: str) -> None:
        with pytest.raises(Invalid) as error:
            read_labels(f"task,{column}\nfiles/a,red\n", ["files/a"])
        assert (error.value.code, error.value.path) == ("invalid_labels_file", "line 1")

    def test_a_value_is_short(self) -> None:
        with pytest.raises(Invalid) as error:
            read_labels(f"task,label:team\nfiles/a,{'x' * 61}\n", ["files/a"])
        assert (error.value.code, error.value.path) == ("invalid_labels_file", "line 2, label:team")
