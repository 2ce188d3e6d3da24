from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.others.check_mp3_meta import check_mp3_meta
from tests.factories.id3 import mp3, mp3_v1

RULES = {"title": {"method": "eq", "ref": "思念 You"}, "artist": {"method": "eq", "ref": "Cheng Xiang"}}


class TestTags:
    def test_right_and_wrong_tags_are_told_apart(self, tmp_path: Path) -> None:
        right = mp3(tmp_path / "a.mp3", TIT2="思念 You", TPE1="Cheng Xiang")
        wrong = mp3(tmp_path / "b.mp3", TIT2="思念 You", TPE1="Cheng  Xiang")
        assert check_mp3_meta(right, RULES).value == 1.0
        result = check_mp3_meta(wrong, RULES)
        assert result.value == 0.0
        assert "artist is 'Cheng  Xiang'" in result.reasons[0]

    def test_tag_of_version_1_is_read(self, tmp_path: Path) -> None:
        path = mp3_v1(tmp_path / "a.mp3", "Missing You", "Cheng Xiang")
        rules = {"title": {"method": "re.I", "ref": "missing"}, "artist": {"method": "ne", "ref": "Ann"}}
        assert check_mp3_meta(path, rules).value == 1.0

    def test_an_older_tag_filled_up_with_blanks(self, tmp_path: Path) -> None:
        path = mp3_v1(tmp_path / "a.mp3", "Missing You".ljust(30), "Cheng Xiang".ljust(30))
        rules = {"title": {"method": "eq", "ref": "Missing You"}, "artist": {"method": "eq", "ref": "Cheng Xiang"}}
        assert check_mp3_meta(path, rules).value == 1.0

    @pytest.mark.parametrize(
        ("name", "frame", "text", "value"),
        [
            ("album", "TALB", "Best of", "Best of"),
            ("albumartist", "TPE2", "Ann", "Ann"),
            ("composer", "TCOM", "Bob", "Bob"),
            ("genre", "TCON", "Rock", "Rock"),
            ("date", "TYER", "1999", "1999"),
            ("tracknumber", "TRCK", "5", "5"),
        ],
    )
    def test_every_tag_name_is_read(self, name: str, frame: str, text: str, value: str, tmp_path: Path) -> None:
        path = mp3(tmp_path / "a.mp3", 20, **{frame: text})
        assert check_mp3_meta(path, {name: {"method": "eq", "ref": value}}).value == 1.0

    def test_a_tag_that_is_not_there_is_empty(self, tmp_path: Path) -> None:
        path = mp3(tmp_path / "a.mp3", TIT2="x")
        assert check_mp3_meta(path, {"artist": {"method": "eq", "ref": ""}}).value == 1.0
        assert check_mp3_meta(path, {"artist": {"method": "eq", "ref": "Ann"}}).value == 0.0

    def test_file_without_tags_scores_0(self, tmp_path: Path) -> None:
        path = mp3(tmp_path / "a.mp3")
        result = check_mp3_meta(path, {"artist": {"method": "ne", "ref": "Ann"}})
        assert (result.value, result.reasons) == (0.0, ("the file has no tags",))


@pytest.mark.parametrize(
    "rules",
    [{}, None, {"name": {"method": "eq", "ref": "x"}}, {"title": "x"}, {"title": {"method": "like", "ref": "x"}}],
)
def test_invalid_rules_give_no_verdict(rules: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorFailed):
        check_mp3_meta(mp3(tmp_path / "a.mp3", TIT2="x"), rules)
