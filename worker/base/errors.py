"""Errors of adapters, which say by a code which case it is. Standard library only."""


class CodedError(Exception):
    """Base of adapters' errors.

    Attributes:
        message: for people.
        code: stable name of the case, for programs; the class has the default.
    """

    code = "failed"

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
