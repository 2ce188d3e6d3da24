import pytest

from backend.domain.studies.levels import levels_of


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("1,0.5", [1, 0.5]),
        ("none, moved", [None, "moved"]),
        ("1920x1080,1280x800", ["1920x1080", "1280x800"]),
        ('[{"b": [1]}, "x,y", null]', [{"b": [1]}, "x,y", None]),
        ("true", [True]),
    ],
)
def test_words_are_json_where_they_can_be(text: str, levels: list[object]) -> None:
    assert levels_of(text) == levels


def test_a_broken_list_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1"):
        levels_of("[1,")
