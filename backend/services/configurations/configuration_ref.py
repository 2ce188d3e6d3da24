"""The short form of a configuration, as every other view has it."""

from uuid import UUID

from pydantic import Field

from backend.db.models import AgentConfiguration
from backend.services.read_model import ReadModel


class ConfigurationRef(ReadModel):
    """The configuration of a run, under the name that every page shows."""

    id: UUID
    name: str = Field(examples=["prompt · gpt-5-mini · set_of_marks"])


def configuration_ref(row: AgentConfiguration) -> ConfigurationRef:
    return ConfigurationRef(id=row.id, name=row.title)
