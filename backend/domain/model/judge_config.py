"""The model that judges, and all settings that affect its answers."""

from pydantic import Field, field_validator

from backend.domain.model.task import Frozen, digest

PICTURES = 20
"""Maximum number of pictures of a task without a step budget of its own."""
MOST_PICTURES = 100


class JudgeConfig(Frozen):
    """A judge. The hash of its prompt is pinned separately (`backend.domain.judging.prompt`).

    Attributes:
        endpoint: an endpoint of docs/models.md.
        model: the model's name in its API.
        temperature: sampling temperature.
        votes: number of votes; odd, because the majority counts.
        pictures: maximum number of pictures per attempt, including the first and the last; None = all that the task's
            step budget allows (`most_pictures`).
        picture_side: maximum pixels of a picture's longer side.
        max_tokens: maximum tokens of one answer.
    """

    endpoint: str = Field(default="openai", min_length=1, max_length=100)
    model: str = Field(min_length=1, max_length=200)
    temperature: float = Field(default=0.0, ge=0, le=2)
    votes: int = Field(default=1, ge=1, le=15)
    pictures: int | None = Field(default=None, ge=2, le=MOST_PICTURES)
    picture_side: int = Field(default=1280, ge=256, le=4096)
    max_tokens: int = Field(default=4000, ge=256, le=100_000)

    @field_validator("votes")
    @classmethod
    def no_ties(cls, value: int) -> int:
        """Requires an odd number of votes, which always has a majority."""
        if value % 2 == 0:
            raise ValueError("an odd number, so that there is always a majority")
        return value

    def most_pictures(self, max_steps: int | None) -> int:
        """Maximum number of pictures of a task: as configured, else one per step of its budget and that of the end."""
        if self.pictures is not None:
            return self.pictures
        return PICTURES if max_steps is None else min(max_steps + 1, MOST_PICTURES)

    def of_one_vote(self) -> str:
        """Sha256 (hex) of the settings that decide one vote; judges that differ only in `votes` share their votes."""
        return digest(self.model_dump(mode="json", exclude={"votes"}))
