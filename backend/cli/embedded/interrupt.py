"""Ctrl-C, SIGTERM and SIGHUP: the first ends the work in an orderly way, the second in a hurry."""

import signal
from types import FrameType
from typing import Self

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):  # noqa: N818  like KeyboardInterrupt: no error, and caught by no `except Exception`
    """Somebody wants us to end. Carries the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Interruptible:
    """While entered, the first of the signals raises `StopRequested` in the main thread; later ones are counted."""

    def __init__(self) -> None:
        self.signals = 0
        self._before: dict[int, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in NUMBERS:
            # A program started with nohup is to live on.
            if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def in_a_hurry(self) -> bool:
        """True once a second signal came."""
        return self.signals > 1

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.signals += 1
        if self.signals == 1:
            raise StopRequested(number)
