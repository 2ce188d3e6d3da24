"""Licences of programs: seats and waiting tasks. See docs/run-a-benchmark.md."""

from collections.abc import Mapping, Sequence

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Actor
from backend.db.repositories.capacity import licences as repository
from backend.db.repositories.capacity.licences import Seats
from backend.domain.errors import Invalid
from backend.services.events import worker_wakeup
from backend.services.read_model import ReadModel

MOST_SEATS = 100_000
LONGEST_NAME = 200


class LicenceView(ReadModel):
    """A licence. One that only tasks know of has no seats."""

    name: str = Field(examples=["Photoshop"])
    seats: int = Field(examples=[1])
    used: int = Field(description="Seats that attempts under way hold.", examples=[1])
    tasks: int = Field(description="Tasks, over all versions, that need it.", examples=[12])


def set_seats(session: Session, name: str, seats: int, actor: Actor) -> LicenceView:
    """Sets the number of seats. Running attempts keep theirs, even if there are fewer now.

    Raises:
        Invalid: The name or number is not valid.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Invalid(f"expected a name of 1 to {LONGEST_NAME} characters", code="invalid_name", path="name")
    if not 0 <= seats <= MOST_SEATS:
        raise Invalid(f"expected 0 to {MOST_SEATS} seats", code="invalid_request", path="seats")
    repository.put(session, name, seats, actor.id)
    worker_wakeup.wake_workers(session)
    return next(row for row in list_licences(session) if row.name == name)


def list_licences(session: Session) -> list[LicenceView]:
    """All configured licences and all that a task needs, by name."""
    needed = repository.task_counts(session)
    by_name = {row.name: row for row in repository.seats(session)}
    names = sorted({*needed, *by_name}, key=lambda name: (name.lower(), name))
    none = Seats("", 0, 0)
    return [
        LicenceView(
            name=name, seats=by_name.get(name, none).seats, used=by_name.get(name, none).used, tasks=needed.get(name, 0)
        )
        for name in names
    ]


def free(session: Session, *, locked: bool = False) -> dict[str, int]:
    """Free seats by licence. `locked`: no other transaction can take one until this one ends."""
    if locked:
        repository.lock_all(session)
    return {row.name: row.free for row in repository.seats(session)}


def lacking(needs: Mapping[str, int], seats: Mapping[str, int]) -> str:
    """Why a task that needs these seats can never run with those totals; empty if it can."""
    short = [(name, number) for name, number in needs.items() if number > seats.get(name, 0)]
    return "; ".join(
        f"needs {_seats_text(name, number)}, and there {_are(seats.get(name, 0))} here" for name, number in short
    )


def shortage(needs: Mapping[str, int], seats: Sequence[Seats]) -> str:
    """Licence that a task waits for: `a licence of Photoshop, 1 of 1 in use`; empty if all its seats are free."""
    by_name = {row.name: row for row in seats}
    none = Seats("", 0, 0)
    return "; ".join(
        f"{_seats_text(name, number)}, {row.used} of {row.seats} in use"
        for name, number in needs.items()
        if number > (row := by_name.get(name, none)).free
    )


def _seats_text(name: str, number: int) -> str:
    return f"a licence of {name}" if number == 1 else f"{number} seats of the licence of {name}"


def _are(number: int) -> str:
    return {0: "is none", 1: "is 1"}.get(number, f"are {number}")
