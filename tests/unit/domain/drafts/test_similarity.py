import math

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.drafts.similarity import NEAR, cosine, near_duplicates, shingles

WORDS = st.lists(st.sampled_from(["open", "the", "file", "save", "it", "budget"]), max_size=12).map(" ".join)


class TestShingles:
    def test_counts_words_and_pairs(self) -> None:
        assert shingles("Open the file, open IT!") == {
            "open": 2, "the": 1, "file": 1, "it": 1, "open the": 1, "the file": 1, "file open": 1, "open it": 1,
        }  # fmt: skip


class TestCosine:
    def test_cosine_equals_the_worked_example(self) -> None:
        """Two words against three: shared are a, b and "a b"; 3 and 5 shingles: 3 / sqrt(3 * 5)."""
        assert math.isclose(cosine(shingles("a b"), shingles("a b c")), 3 / math.sqrt(15))

    def test_empty_texts_are_not_similar(self) -> None:
        assert cosine(shingles(""), shingles("a")) == 0.0

    @given(WORDS, WORDS)
    def test_is_symmetric_and_bounded(self, one: str, other: str) -> None:
        first, second = shingles(one), shingles(other)
        assert cosine(first, second) == cosine(second, first)
        assert 0.0 <= cosine(first, second) <= 1.0
        assert cosine(first, first) == (1.0 if one else 0.0) or math.isclose(cosine(first, first), 1.0)


class TestNearDuplicates:
    def test_the_same_words_in_another_dress(self) -> None:
        others = [
            ("files/a", 'Please rename the file "report.txt" in the Documents folder to "report-2025.txt".'),
            ("files/b", "Delete every backup in the folder Projects."),
        ]
        result = near_duplicates('Rename the file "report.txt" in the Documents folder to "report-2025.txt"!', others)
        assert [name for name, _ in result] == ["files/a"]
        assert result[0][1] >= NEAR

    def test_most_alike_first_and_not_too_many(self) -> None:
        others = [(f"t/{n}", "open the file and save it") for n in range(9)]
        assert [name for name, _ in near_duplicates("open the file and save it", others, most=3)] == [
            "t/0", "t/1", "t/2",
        ]  # fmt: skip
