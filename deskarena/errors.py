"""Errors between an agent and the service."""


class ServiceError(Exception):
    """The service refused, did not answer, or answered nonsense.

    Attributes:
        status: HTTP status; 0 if there was no answer.
        code: the service's own name for it.
        hint: what to do about it.
    """

    def __init__(self, message: str, *, status: int = 0, code: str = "", hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.status = status
        self.code = code
        self.hint = hint


class EpisodeLost(Exception):
    """The machine failed, not the agent: this episode has no score."""


class AttemptLost(EpisodeLost):
    """The desktop was lost. Call `reset` with the same task to continue on another one."""


class NotSupported(NotImplementedError):
    """Something that OSWorld's environment does and this one does not, or not within its limits.

    Attributes:
        code: `script_too_long`, `file_too_large`, `no_bash`, `no_code`, or `refused`.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class EpisodeEnded(Exception):
    """The episode's budget of steps or time was used up by this call; `evaluate` has its score."""


class NotRunnable(Exception):
    """The task cannot run there, or does not exist.

    Attributes:
        code: `no_desktop`, `unknown_task`, or the service's code of the reason.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
