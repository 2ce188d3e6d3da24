from backend.domain.evaluators.getters.chrome._macys import product


class TestProduct:
    def test_only_the_half_price_filter_alone_counts(self) -> None:
        start = (
            "https://www.macys.com/shop/mens-clothing/mens-shirts/Sleeve_length,Price_discount_range/Short%20Sleeve,"
        )
        more = start + "50_PERCENT_%20off%20%26%20more%7C30_PERCENT_%20off%20%26%20more"
        assert product(more, ["Price_discount_range"])["Price_discount_range"].startswith("not_")
        half = product(start + "50_PERCENT_%20off%20%26%20more", ["Price_discount_range", "Men_regular_size_t", "x"])
        assert half == {
            "mens_clothing": True, "shirts": True, "short_sleeve": True,
            "Price_discount_range": "50_PERCENT_ off & more", "Men_regular_size_t": None,
        }  # fmt: skip
