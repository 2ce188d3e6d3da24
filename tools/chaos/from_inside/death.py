"""Ways in which a program ends its own desktop, or keeps it from answering, as Python that an agent's action runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Death:
    """One way.

    Attributes:
        name: what is done, for the report.
        code: runs in the desktop, as its user.
        system: `linux` or `windows`.
    """

    name: str
    code: str
    system: str = "linux"


def shell(name: str, command: str, system: str = "linux") -> Death:
    """One by a command line."""
    return Death(name, f"import subprocess\nsubprocess.run({command!r}, shell=True)", system)


MEMORY = "held = []\nwhile True:\n    held.append(bytearray(b'x' * 2**24))"
"""Uses all memory that there is."""
