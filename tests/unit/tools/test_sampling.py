import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.sampling import marks_left_out, sample


class TestSample:
    def test_is_the_same_for_the_same_seed_and_keeps_the_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TEST_SEED", "7")
        monkeypatch.delenv("DESKARENA_TEST_ALL", raising=False)
        first = sample(range(1000), 10)
        assert first == sample(range(1000), 10)
        assert first == sorted(first)
        assert len(set(first)) == 10

    def test_differs_for_another_seed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DESKARENA_TEST_ALL", raising=False)
        drawn = []
        for seed in ("1", "2"):
            monkeypatch.setenv("DESKARENA_TEST_SEED", seed)
            drawn.append(sample(range(1000), 10))
        assert drawn[0] != drawn[1]

    def test_is_everything_when_everything_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TEST_ALL", "1")
        assert sample(range(50), 10) == list(range(50))

    def test_daily_run_samples_everything(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DESKARENA_TEST_ALL", raising=False)
        monkeypatch.setenv("DESKARENA_TEST_CAMPAIGNS", "1")
        assert len(sample(range(50), 10)) == 10
        assert sample(range(50), 10, daily=True) == list(range(50))
        monkeypatch.delenv("DESKARENA_TEST_CAMPAIGNS")
        assert len(sample(range(50), 10, daily=True)) == 10


class TestMarks:
    def test_campaigns_run_where_they_are_asked_for_and_long_tests_with_everything(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("DESKARENA_TEST_ALL", raising=False)
        monkeypatch.delenv("DESKARENA_TEST_CAMPAIGNS", raising=False)
        assert marks_left_out() == ("long", "campaign")
        monkeypatch.setenv("DESKARENA_TEST_CAMPAIGNS", "1")
        assert marks_left_out() == ("long",)
        monkeypatch.setenv("DESKARENA_TEST_ALL", "1")
        assert marks_left_out() == ()


CASES = """
import pytest

OF = [pytest.param(n, marks=pytest.mark.sampled(1, of=kind)) for kind in "ab" for n in range(9)]

@pytest.mark.sampled(2)
class TestClass:
    @pytest.mark.parametrize("number", range(20))
    def test_member(self, number): ...
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("number", range(20))
    def test_with_a_mark_of_its_own(self, number): ...

@pytest.mark.parametrize("number", OF)
def test_kinds(number): ...

@pytest.mark.campaign
def test_campaign(): ...

@pytest.mark.long
def test_long(): ...

def test_plain(): ...
"""
HOOK = """
from tests.sampling import left_out

def pytest_collection_modifyitems(items):
    out = left_out(items)
    items[:] = [item for item in items if item not in out]
"""


def drawn(folder: Path, *words: str, **settings: str) -> list[str]:
    """The tests of `CASES` that pytest runs with these settings."""
    (folder / "test_cases.py").write_text(CASES)
    (folder / "conftest.py").write_text(HOOK)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n sampled\n campaign\n long\n")
    own = ("DESKARENA_TEST_", "PYTEST_")
    outer = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    environment = {**outer, **settings, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", *words]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


class TestSampled:
    def test_samples_per_group_by_seed(self, tmp_path: Path) -> None:
        first, again, other = (drawn(tmp_path, DESKARENA_TEST_SEED=seed) for seed in ("1", "1", "2"))
        assert first == again != other
        for chosen in (first, other):
            assert sum("test_member" in name for name in chosen) == 2
            assert sum("own" in name for name in chosen) == 3
            assert sum("test_kinds" in name for name in chosen) == 2
            assert [name for name in chosen if "[" not in name] == ["test_plain"]

    def test_all_each_day(self, tmp_path: Path) -> None:
        chosen = drawn(tmp_path, DESKARENA_TEST_CAMPAIGNS="1")
        assert len(chosen) == 20 + 20 + 18 + 2
        assert "test_long" not in chosen
        assert len(drawn(tmp_path, DESKARENA_TEST_ALL="1")) == len(chosen) + 1

    def test_named_tests_always_run(self, tmp_path: Path) -> None:
        name = "TestClass::test_member[7]"
        assert drawn(tmp_path, f"test_cases.py::{name}") == [name]
