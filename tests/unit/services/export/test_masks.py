import json
from pathlib import Path

import pytest

from backend.services.export.masks import MASK, Masker


@pytest.fixture
def masker(tmp_path: Path) -> Masker:
    (tmp_path / "google_settings").write_text(
        json.dumps({"email": "bench@example.org", "password": "tr0ub4dor", "pin": "12"})
    )
    (tmp_path / "client_password").write_text("correct horse\n")
    (tmp_path / "broken").write_bytes(b"\xff\xfe")
    return Masker(tmp_path)


class TestText:
    def test_takes_out_every_text_of_a_secret(self, masker: Masker) -> None:
        said = "I sign in as bench@example.org with tr0ub4dor, then correct horse."
        assert masker.text(said) == f"I sign in as {MASK} with {MASK}, then {MASK}."

    def test_short_texts_stay(self, masker: Masker) -> None:
        assert masker.text("12 files") == "12 files"

    def test_a_longer_secret_goes_before_one_inside_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("abcdef")
        (tmp_path / "b").write_text("abcdefgh")
        assert Masker(tmp_path).text("abcdefgh") == MASK

    def test_without_a_folder_nothing_changes(self, tmp_path: Path) -> None:
        assert Masker(tmp_path / "none").text("tr0ub4dor") == "tr0ub4dor"


class TestValue:
    def test_looks_into_everything(self, masker: Masker) -> None:
        assert masker.value({"a": ["tr0ub4dor", 3], "tr0ub4dor": None}) == {"a": [MASK, 3], MASK: None}


class TestSettings:
    def test_values_named_like_secrets_are_masked(self, masker: Masker) -> None:
        found = masker.settings({"params": {"user_password": "password", "max_tokens": 5}, "list": [{"api_key": "k"}]})
        assert found == {"params": {"user_password": MASK, "max_tokens": 5}, "list": [{"api_key": MASK}]}

    def test_an_empty_one_is_none(self, masker: Masker) -> None:
        assert masker.settings({"user_password": ""}) == {"user_password": ""}
