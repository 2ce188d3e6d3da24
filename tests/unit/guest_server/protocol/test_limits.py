import pytest

from guest_server.protocol.limits import GuestLimits, limits_from


class TestLimitsFrom:
    def test_other_variables_change_nothing(self) -> None:
        assert limits_from({"HOME": "/", "DESKARENA_SCREEN": "800x600"}) == GuestLimits()

    def test_a_variable_sets_its_limit(self) -> None:
        limits = limits_from({"DESKARENA_LIMIT_OUTPUT": "1000", "DESKARENA_LIMIT_COMMAND_SECONDS": "1.5"})
        assert (limits.output, limits.command_seconds) == (1000, 1.5)
        assert limits.upload == GuestLimits().upload

    @pytest.mark.parametrize(
        ("name", "value"),
        [("DESKARENA_LIMIT_OUTPUT", "0"), ("DESKARENA_LIMIT_OUTPUT", "many"), ("DESKARENA_LIMIT_OUTPUTS", "5")],
    )
    def test_a_wrong_one_is_named(self, name: str, value: str) -> None:
        with pytest.raises(ValueError, match=r"OUTPUT|many"):
            limits_from({name: value})
