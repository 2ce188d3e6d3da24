from datetime import date

import pytest

from backend.domain.model.prices import PRICES, Price, Tokens, price_of, usd

TODAY = date(2026, 11, 22)


def found(model: str, day: date = TODAY, sent: int = 1000, own: tuple[Price, ...] = ()) -> Price:
    price = price_of(model, day, sent, own)
    assert price is not None
    return price


class TestPriceOf:
    def test_listed_model_has_a_price(self) -> None:
        assert (found("gpt-4o").input, found("gpt-4o").cached, found("gpt-4o").output) == (2.5, 1.25, 10)

    @pytest.mark.parametrize(
        ("model", "listed"),
        [
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
            ("models/gemini-3.1-pro-preview", "gemini-3.1-pro"),
            ("gemini-2.5-computer-use-preview-10-2025", "gemini-2.5-computer-use"),
            ("computer-use-preview", "computer-use-preview"),
            ("computer-use-preview-2025-03-11", "computer-use-preview"),
        ],
    )
    def test_a_date_or_preview_at_the_end_does_not_matter(self, model: str, listed: str) -> None:
        assert found(model).model == listed

    @pytest.mark.parametrize("model", ["gpt-4o-audio", "my-own-model", "", "gpt", "claude-opus-4-5-fast"])
    def test_unlisted_variant_is_unknown(self, model: str) -> None:
        assert price_of(model, TODAY, 1000) is None

    def test_price_depends_on_the_day(self) -> None:
        assert found("claude-sonnet-5-5", date(2026, 10, 6)).cached == 0.2
        assert found("claude-sonnet-5-5", date(2026, 10, 7)).cached == 0.1

    def test_no_price_before_the_first_day(self) -> None:
        assert price_of("claude-sonnet-5-5", date(2026, 9, 27), 1000) is None

    def test_long_requests_cost_more(self) -> None:
        assert found("gemini-2.5-pro", sent=200_000).input == 1.25
        assert found("gemini-2.5-pro", sent=200_001).input == 2.5

    def test_requests_beyond_the_listed_length_are_unknown(self) -> None:
        assert found("gpt-6-sol", sent=272_000).input == 2
        assert price_of("gpt-6-sol", TODAY, 272_001) is None

    def test_configured_price_overrides_the_list(self) -> None:
        own = (Price(model="gpt-4o", since=date(2026, 1, 1), input=1, output=2),)
        assert found("gpt-4o", own=own).input == 1
        assert found("gpt-4o-mini", own=own).input == 0.15

    def test_longest_prefix_wins(self) -> None:
        own = tuple(
            Price(model=name, since=date(2026, 1, 1), input=cost, output=0)
            for name, cost in (("qwen*", 1), ("qwen3-vl*", 2), ("qwen3-vl-8b", 3))
        )
        names = ("qwen2", "qwen3-vl-32b", "qwen3-vl-8b")
        assert [found(name, own=own).input for name in names] == [1, 2, 3]

    def test_prefix_must_match_completely(self) -> None:
        own = (Price(model="qwen3*", since=date(2026, 1, 1), input=1, output=0),)
        assert found("qwen3", own=own).input == 1
        assert price_of("qwen2", TODAY, 1000, own) is None

    def test_a_price_holds_from_its_day_and_a_bound_to_its_last_token(self) -> None:
        own = tuple(
            Price(model="m", since=date(2026, 1, 1), input=cost, output=0, most=most)
            for cost, most in ((2, 200), (1, 100), (3, None))
        )
        assert [found("m", own=own, sent=sent).input for sent in (100, 101, 200, 201)] == [1, 2, 2, 3]
        assert found("m", date(2026, 1, 1), own=own).input == 3
        assert price_of("m", date(2025, 12, 31), 1, own) is None


class TestUsd:
    PRICE = Price(model="m", since=TODAY, input=10, cached=1, written=12.5, output=100)

    def test_each_token_kind_has_its_price(self) -> None:
        tokens = Tokens(sent=1000, answered=10, cached=400, written=100)
        assert usd(self.PRICE, tokens) == pytest.approx((500 * 10 + 400 * 1 + 100 * 12.5 + 10 * 100) / 1e6)

    def test_one_hour_cache_costs_twice_the_input(self) -> None:
        assert usd(self.PRICE, Tokens(sent=100, answered=0, written=100, hour=100)) == pytest.approx(2000 / 1e6)

    def test_cached_tokens_default_to_the_input_price(self) -> None:
        plain = Price(model="m", since=TODAY, input=10, output=100)
        assert usd(plain, Tokens(sent=100, answered=0, cached=50, written=10)) == pytest.approx(1000 / 1e6)

    def test_counts_that_contradict_each_other_give_no_negative_price(self) -> None:
        assert usd(self.PRICE, Tokens(sent=10, answered=0, cached=100)) == pytest.approx(100 / 1e6)


class TestTable:
    def test_entries_are_unique(self) -> None:
        keys = [(price.model, price.since, price.most) for price in PRICES]
        assert sorted(set(keys), key=str) == sorted(keys, key=str)

    @pytest.mark.parametrize("price", PRICES, ids=lambda price: f"{price.model} {price.since} {price.most}")
    def test_output_costs_more_than_input_and_cache_less(self, price: Price) -> None:
        assert price.output > price.input > 0
        assert price.cached is None or 0 < price.cached < price.input
        assert price.written is None or price.written > price.input
