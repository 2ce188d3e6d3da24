import os
import signal

import pytest

from backend.cli.interrupt import Interruptible, StopRequested


class TestInterruptible:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_the_first_signal_interrupts(self, number: signal.Signals) -> None:
        with Interruptible() as signals, pytest.raises(StopRequested) as caught:
            os.kill(os.getpid(), number)
        assert caught.value.number == number
        assert not signals.in_a_hurry

    def test_the_second_only_says_that_there_is_a_hurry(self) -> None:
        with Interruptible() as signals:
            with pytest.raises(StopRequested):
                os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            assert signals.in_a_hurry

    def test_earlier_handlers_are_restored(self) -> None:
        before = signal.getsignal(signal.SIGTERM)
        with Interruptible():
            assert signal.getsignal(signal.SIGTERM) != before
        assert signal.getsignal(signal.SIGTERM) == before

    def test_a_hang_up_that_nohup_ignores_stays_ignored(self) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with Interruptible():
                assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGHUP, before)
