import pytest

from backend.domain.loop.polling import look_again
from tests.fakes.desktop import FakeDesktop


@pytest.mark.parametrize(("patience", "looks"), [(1.0, 4), (4.0, 13)])
def test_looks_longer_where_programs_take_longer(patience: float, looks: int) -> None:
    desktop = FakeDesktop()
    desktop.patience = patience
    seen: list[int] = []

    def look() -> bool:
        seen.append(1)
        return False

    assert not look_again(desktop, look, looks=3)
    assert len(seen) == looks


def test_returns_as_soon_as_the_condition_holds() -> None:
    result = iter((False, True))
    assert look_again(FakeDesktop(), lambda: next(result))
