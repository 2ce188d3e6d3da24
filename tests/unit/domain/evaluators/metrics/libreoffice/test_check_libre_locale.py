from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.libreoffice.check_libre_locale import check_libre_locale
from tests.factories.metric_cases.basic_os import registry

RULES = {"locale_set": ["en-*", "de-DE"]}
BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "cccccccccc"><!ENTITY d "&b;&b;&b;">]><a>&d;</a>'


def value(text: str, folder: Path, rules: Any = RULES) -> float:
    path = folder / "registrymodifications.xcu"
    path.write_text(text)
    return check_libre_locale(str(path), rules).value


@pytest.mark.parametrize(
    ("language", "name", "expected"),
    [
        ("en-GB", "ooSetupSystemLocale", 1),
        ("de-DE", "ooLocale", 1),
        ("de-AT", "ooSetupSystemLocale", 0),
        ("EN-GB", "ooSetupSystemLocale", 0),
        ("", "ooSetupSystemLocale", 0),
        ("en-GB", "ooOther", 0),
    ],
)
def test_language_must_match_a_pattern(language: str, name: str, expected: float, tmp_path: Path) -> None:
    assert value(registry(language, name=name), tmp_path) == expected


def test_the_language_of_numbers_comes_before_that_of_the_menus(tmp_path: Path) -> None:
    menus = registry("en-US", name="ooLocale").partition("<item")[2].partition("</oor:items>")[0]
    text = registry("fr").replace("</oor:items>", f"<item{menus}</oor:items>")
    assert value(text, tmp_path) == 0


@pytest.mark.parametrize("text", ["", "no xml", "<a>", BOMB, '<?xml version="1.0" encoding="nonsense"?><a/>'])
def test_damaged_and_hostile_files(text: str, tmp_path: Path) -> None:
    assert value(text, tmp_path) == 0


@pytest.mark.parametrize("rules", [{}, {"locale_set": []}, {"locale_set": "en-*"}, None])
def test_invalid_rules_give_no_verdict(rules: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorFailed):
        value(registry("en-GB"), tmp_path, rules)
