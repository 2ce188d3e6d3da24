from datetime import date

import pytest
from pydantic import ValidationError

from backend.domain.machines.node_prices import NodeHours, NodePrice, node_price, nodes_cost

DAY = date(2026, 11, 10)
ANY = NodePrice(provider="k8s", since=date(2026, 1, 1), per_hour=1.0)
BEGINNING = NodePrice(provider="k8s", node="Standard_D*", since=date(2026, 1, 1), per_hour=2.0)
EXACT = NodePrice(provider="k8s", node="Standard_D8_v3", since=date(2026, 1, 1), per_hour=3.0)
NEWER = EXACT.model_copy(update={"since": date(2026, 11, 1), "per_hour": 4.0})
FUTURE = EXACT.model_copy(update={"since": date(2026, 12, 1), "per_hour": 5.0})
PRICES = (FUTURE, ANY, EXACT, BEGINNING, NEWER)


def used(node: str = "Standard_D8_v3", hours: float = 1.0, day: date = DAY, provider: str = "k8s") -> NodeHours:
    return NodeHours(provider=provider, node=node, day=day, hours=hours)


class TestNodePrice:
    @pytest.mark.parametrize(
        ("node", "day", "price"),
        [
            ("Standard_D8_v3", DAY, NEWER),
            ("Standard_D8_v3", date(2026, 11, 1), NEWER),
            ("Standard_D8_v3", date(2026, 10, 31), EXACT),
            ("Standard_D8_v3", date(2025, 1, 1), None),
            ("Standard_D2_v3", DAY, BEGINNING),
            ("n1", DAY, ANY),
        ],
    )
    def test_is_the_newest_of_the_most_exact_name(self, node: str, day: date, price: NodePrice | None) -> None:
        assert node_price(PRICES, "k8s", node, day) == price

    def test_is_of_the_provider(self) -> None:
        assert node_price(PRICES, "local", "Standard_D8_v3", DAY) is None

    @pytest.mark.parametrize("wrong", [{"per_hour": -1}, {"currency": "dollars"}, {"since": "soon"}, {"extra": 1}])
    def test_wrong_price_is_invalid(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValidationError):
            NodePrice.model_validate({"provider": "k8s", "since": "2026-01-01", "per_hour": 1, **wrong})


class TestNodesCost:
    def test_is_the_sum_by_the_price_of_each_day(self) -> None:
        cost = nodes_cost([used(hours=2.0), used(hours=0.5, day=date(2026, 10, 1)), used("n1", 1.0)], PRICES)
        assert cost.value == pytest.approx(2 * 4.0 + 0.5 * 3.0 + 1.0)
        assert (cost.currency, cost.since) == ("USD", (date(2026, 1, 1), date(2026, 11, 1)))

    def test_a_price_of_nothing_is_a_price(self) -> None:
        free = NodePrice(provider="local", since=DAY, per_hour=0.0)
        assert nodes_cost([used("n1", provider="local")], [free]).value == 0.0

    @pytest.mark.parametrize(
        ("uses", "names"),
        [
            ([], "hours"),
            ([used(), used("n7", provider="local")], "local n7"),
            ([used(day=date(2025, 1, 1))], "Standard_D8_v3"),
        ],
    )
    def test_cost_without_a_price_is_unknown_and_not_0(self, uses: list[NodeHours], names: str) -> None:
        cost = nodes_cost(uses, PRICES)
        assert (cost.value, cost.currency, cost.since) == (None, "", ())
        assert names in cost.missing

    def test_currencies_are_not_added(self) -> None:
        euro = NodePrice(provider="local", since=DAY, per_hour=1.0, currency="EUR")
        cost = nodes_cost([used(), used("n1", provider="local")], [*PRICES, euro])
        assert cost.value is None
        assert "EUR and USD" in cost.missing
