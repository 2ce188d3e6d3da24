"""Which model judges, and everything that decides what it says."""

from pydantic import Field, field_validator

from backend.domain.model.task import Frozen, digest


class JudgeConfig(Frozen):
    """A judge. What it is asked is pinned beside it, as the hash of its prompt (`backend.domain.judging.prompt`).

    Attributes:
        endpoint: where it is asked: an endpoint of docs/models.md.
        model: as its API names it.
        temperature: of sampling.
        votes: how often it is asked; the majority counts, so the number is odd.
        pictures: most pictures of an attempt that it is shown; the first and the last are always among them.
        picture_side: pixels of a picture's longer side, at most.
        max_tokens: of one answer.
    """

    endpoint: str = Field(default="openai", min_length=1, max_length=100)
    model: str = Field(min_length=1, max_length=200)
    temperature: float = Field(default=0.0, ge=0, le=2)
    votes: int = Field(default=1, ge=1, le=15)
    pictures: int = Field(default=20, ge=2, le=100)
    picture_side: int = Field(default=1280, ge=256, le=4096)
    max_tokens: int = Field(default=4000, ge=256, le=100_000)

    @field_validator("votes")
    @classmethod
    def no_ties(cls, value: int) -> int:
        """An odd number of votes always has a majority."""
        if value % 2 == 0:
            raise ValueError("an odd number, so that there is always a majority")
        return value

    def of_one_vote(self) -> str:
        """Sha256 (hex) of what decides one vote: judges that differ in the number of votes share their votes."""
        return digest(self.model_dump(mode="json", exclude={"votes"}))
