"""How long a call waits before it asks again."""

from worker.models._errors import FaultAction, ModelFault
from worker.models.retrying_client import FIRST_PAUSE, Patience


def busy(after: float | None = None) -> ModelFault:
    """An API that is busy, and perhaps says for how long."""
    return ModelFault(FaultAction.HOLD, "busy", after=after)


class TestPause:
    def test_pause_doubles_without_a_retry_delay(self) -> None:
        patience = Patience(3600.0)
        for wanted in (FIRST_PAUSE, FIRST_PAUSE * 2, FIRST_PAUSE * 4):
            found = patience.pause(busy())
            assert found is not None
            assert 0.75 * wanted <= found <= wanted

    def test_requested_delay_does_not_lengthen_later_pauses(self) -> None:
        patience = Patience(3600.0)
        assert [patience.pause(busy(after=7.0)) for _ in range(6)] == [7.0] * 6
        found = patience.pause(busy())
        assert found is not None
        assert found <= FIRST_PAUSE

    def test_zero_delay_is_ignored(self) -> None:
        patience = Patience(3600.0)
        for wanted in (FIRST_PAUSE, FIRST_PAUSE * 2):
            found = patience.pause(busy(after=0.0))
            assert found is not None
            assert 0.75 * wanted <= found <= wanted

    def test_ends_with_the_patience(self) -> None:
        assert Patience(0.0).pause(busy()) is None
        found = Patience(0.5).pause(busy(after=60.0))
        assert found is not None
        assert found <= 0.5
