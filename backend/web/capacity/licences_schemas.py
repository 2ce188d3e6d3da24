"""REST schemas of licences."""

from pydantic import Field

from backend.services.capacity.licences import LONGEST_NAME, MOST_SEATS
from backend.services.read_model import ReadModel


class LicenceBody(ReadModel):
    """How many seats of a licence there are from now on."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["Photoshop"])
    seats: int = Field(ge=0, le=MOST_SEATS, examples=[1])


class LicenceView(ReadModel):
    """A licence."""

    name: str = Field(examples=["Photoshop"])
    seats: int = Field(examples=[1])
    used: int = Field(description="Seats that attempts under way hold.", examples=[1])
    tasks: int = Field(description="Tasks, over all versions, that need it.", examples=[12])
