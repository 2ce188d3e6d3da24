"""Ctrl-C, SIGTERM and SIGHUP: the first stops gracefully, the second kills."""

import signal
from types import FrameType
from typing import Self

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):  # noqa: N818  like KeyboardInterrupt: no error, and caught by no `except Exception`
    """The process was asked to stop. Has the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Interruptible:
    """Context manager: the first signal raises `StopRequested` in the main thread; later ones are counted."""

    def __init__(self) -> None:
        self.signals = 0
        self._before: dict[int, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in NUMBERS:
            # A program started with nohup ignores SIGHUP.
            if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def in_a_hurry(self) -> bool:
        """True after a second signal."""
        return self.signals > 1

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.signals += 1
        if self.signals == 1:
            raise StopRequested(number)
