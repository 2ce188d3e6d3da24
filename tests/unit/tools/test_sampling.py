import pytest

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
