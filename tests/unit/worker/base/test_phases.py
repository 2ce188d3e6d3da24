from types import SimpleNamespace

import pytest

from worker.base import phases as timing
from worker.base.phases import Phases


class TestTimed:
    def test_nested_phase_is_not_counted_twice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = iter([0.0, 1.0, 3.0, 10.0, 20.0, 26.0, 30.0, 31.0])
        monkeypatch.setattr(timing, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        phases = Phases()
        with phases.timed("evaluation"):  # from 0 to 26
            with phases.timed("turn"):  # from 1 to 3
                pass
            with phases.timed("turn"):  # from 10 to 20
                pass
        with phases.timed("record"):  # from 30 to 31
            pass
        assert phases.seconds() == {"turn": 12.0, "evaluation": 14.0, "record": 1.0}

    def test_phase_is_recorded_when_the_block_raises(self) -> None:
        phases = Phases()
        with pytest.raises(ValueError, match="broke"), phases.timed("setup"):
            raise ValueError("broke")
        assert set(phases.seconds()) == {"setup"}
