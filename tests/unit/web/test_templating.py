import re
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from jinja2 import DictLoader, Environment

from backend.domain.model.outcome_style import OutcomeStyle
from backend.services.benchmarks.views.benchmark import PublishedResultView
from backend.services.runs.views.episode import EpisodeView
from backend.web.query_strings import with_query
from backend.web.static_files import FRONTEND
from backend.web.templating import (
    amount,
    compiled_templates,
    duration,
    environment,
    interval,
    iso,
    moment,
    percent,
    reason,
    sentence,
    size,
    step_mentions,
    style,
)

NB = "\u00a0"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class TestCompiledTemplates:
    def page(self, source: str) -> str:
        return (
            Environment(loader=DictLoader({"a": source}), autoescape=True, bytecode_cache=compiled_templates())
            .get_template("a")
            .render()
        )

    def test_a_changed_template_is_compiled_again(self, temporary: Path) -> None:
        assert [self.page("one"), self.page("one"), self.page("two")] == ["one", "one", "two"]
        (kept,) = temporary.rglob("*.cache")
        kept.write_bytes(b"broken")
        assert self.page("two") == "two"

    def test_pages_work_without_the_cache_folder(self, temporary: Path) -> None:
        pages = Environment(loader=DictLoader({"a": "one"}), autoescape=True, bytecode_cache=compiled_templates())
        for folder in temporary.iterdir():
            shutil.rmtree(folder)
        assert pages.get_template("a").render() == "one"

    def test_unwritable_folder_disables_the_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tempfile, "tempdir", "/proc")
        assert compiled_templates() is None
        assert self.page("one") == "one"


class TestPercent:
    @pytest.mark.parametrize(("value", "text"), [(0.7271, f"72.7{NB}%"), (0.0, f"0.0{NB}%"), (None, "\u2013")])
    def test_percent_has_one_digit(self, value: float | None, text: str) -> None:
        assert percent(value) == text


class TestSentence:
    @pytest.mark.parametrize(
        ("text", "shown"), [("there is no image", "There is no image"), ("QEMU", "QEMU"), ("", "")]
    )
    def test_only_the_first_letter_changes(self, text: str, shown: str) -> None:
        assert sentence(text) == shown


class TestInterval:
    def test_interval_shows_both_ends(self) -> None:
        assert interval((0.55, 0.88)) == f"55.0{NB}\u2013{NB}88.0{NB}%"


class TestDuration:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (0.844, f"0.84{NB}s"),
            (4.21, f"4.2{NB}s"),
            (42.4, f"42{NB}s"),
            (185, f"3{NB}min 05{NB}s"),
            (7800, f"2{NB}h 10{NB}min"),
            (None, "\u2013"),
        ],
    )
    def test_the_unit_that_reads_well(self, seconds: float | None, text: str) -> None:
        assert duration(seconds) == text


class TestSize:
    @pytest.mark.parametrize(("count", "text"), [(12, f"12{NB}B"), (12_300, f"12.3{NB}kB"), (5 * 10**9, f"5.0{NB}GB")])
    def test_size_uses_decimal_units(self, count: int, text: str) -> None:
        assert size(count) == text


class TestMoment:
    def test_moment_is_shown_in_utc(self) -> None:
        at = datetime(2026, 11, 21, 22, 14, tzinfo=UTC)
        assert moment(at) == f"21{NB}Nov{NB}2026, 22:14"
        assert iso(at) == "2026-11-21T22:14:00.000+00:00"


class TestWithQuery:
    def test_changes_and_removes(self) -> None:
        assert with_query("/runs", {"agent": "a b", "q": ""}, after=3, agent=None) == "/runs?after=3"

    def test_query_is_escaped(self) -> None:
        assert with_query("/runs", {}, q="<&>") == "/runs?q=%3C%26%3E"


class TestStepMentions:
    def test_name_their_steps(self) -> None:
        text = "it clicked twice (#step-3, #step-12) <b>#step-x #step-1234567"
        assert step_mentions(text) == [
            ("it clicked twice (", None),
            ("#step-3", 3),
            (", ", None),
            ("#step-12", 12),
            (") <b>#step-x #step-1234567", None),
        ]


class TestEnvironment:
    def test_everything_is_escaped(self) -> None:
        text = environment().from_string("{{ x }}").render(x="<script>")
        assert text == "&lt;script&gt;"

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "\u2013"),
            (True, "yes"),
            (False, "no"),
            ({}, "\u2013"),
            ({"scale": None}, "{&#34;scale&#34;: null}"),
            (["a", True], "[&#34;a&#34;, true]"),
            ("None", "None"),
            (0, "0"),
            (0.5, "0.5"),
        ],
    )
    def test_no_value_looks_like_python(self, value: object, text: str) -> None:
        assert environment().from_string("{{ x }}").render(x=value) == text

    @pytest.mark.parametrize("name", sorted(environment().list_templates()))
    def test_no_template_has_an_inline_script_style_or_handler(self, name: str) -> None:
        source, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
        assert "style=" not in source
        assert "<style" not in source
        assert " onclick" not in source
        assert "|safe" not in source
        assert source.count("<script") == source.count('<script type="module" src=')


def episode(**more: Any) -> EpisodeView:
    values = {name: UUID(int=1) for name in ("id", "run_id", "task_id")}
    plain = {"task": "files/a", "domain": "files", "repeat": 0, "seed": 0, "max_steps": 15, "state": "scored"}
    return EpisodeView.model_validate({**values, **plain, "created_at": datetime(2026, 11, 21, tzinfo=UTC), **more})


class TestStyle:
    def test_is_of_the_episode_s_facts(self) -> None:
        assert style(episode(score=1.0)).style is OutcomeStyle.PASS
        assert style(episode(score=1.0, human_assisted=True)).style is OutcomeStyle.HELPED

    def test_hides_how_it_went_until_the_person_has_rated_it(self) -> None:
        assert style(episode(score=1.0), unrated=True).style is OutcomeStyle.WAITING


class TestReason:
    def test_waiting_episode_shows_until_when(self) -> None:
        waiting = {
            "reason": "no slot",
            "reason_code": "slots_unusable",
            "starts_at": datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
        }
        assert "09:30" in reason(episode(state="waiting", waiting=waiting, reason="held"))

    @pytest.mark.parametrize(("state", "text"), [("lost", "broken"), ("not_runnable", "no program")])
    def test_lost_or_unrunnable_episode_shows_its_reason(self, state: str, text: str) -> None:
        assert reason(episode(state=state, failure_message="broken", reason="no program")) == text


class TestAmount:
    @pytest.mark.parametrize(("unit", "text"), [("percent", "12.5 %"), ("", "12.5"), ("s", "12.5 s")])
    def test_has_its_unit(self, unit: str, text: str) -> None:
        row = PublishedResultView(source="a paper", agent="x", measure="success_rate", value=12.5, unit=unit)
        assert amount(row) == text


class TestCapitals:
    def test_no_template_lowers_the_rest_of_a_name(self) -> None:
        """`capitalize` makes "Project macOS" of nothing but small letters; `sentence` leaves them."""
        templates = (FRONTEND / "templates").glob("*.html")
        assert [path.name for path in templates if re.search(r"\|\s*capitalize", path.read_text())] == []


class TestLists:
    def test_every_table_of_rows_is_a_list(self) -> None:
        """One mechanism sorts, finds, hides columns and saves rows everywhere."""
        without = {
            path.name
            for path in (FRONTEND / "templates").glob("*.html")
            for before in re.findall(r'(.{0,200})<table class="cards(?:"| )', path.read_text(), re.DOTALL)
            if "{% filter listing(" not in before
        }
        assert without == set()
