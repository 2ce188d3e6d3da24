"""Base of all tables: names of constraints, types by annotation, ids and times."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from sqlalchemy import BigInteger, Double, ForeignKey, MetaData, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column
from uuid_utils.compat import uuid7

from backend.db.types import SafeText, Timestamp

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

Json = dict[str, Any]
JsonList = list[Any]


class Base(DeclarativeBase):
    """Every table. Numbers are bigint, texts are text, times carry a zone."""

    metadata = MetaData(naming_convention=NAMES)
    # Server-side times and tokens are returned by the INSERT, so that objects have them after a commit.
    __mapper_args__ = {"eager_defaults": True}  # noqa: RUF012 - SQLAlchemy's own declaration
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy's own declaration
        int: BigInteger,
        float: Double,
        str: SafeText,
        datetime: Timestamp,
        Json: JSONB,
        JsonList: JSONB,
    }


Id = Annotated[UUID, mapped_column(primary_key=True, default=uuid7)]
"""A UUIDv7 primary key: globally unique and ordered by creation."""

Created = Annotated[datetime, mapped_column(server_default=func.now())]
"""Creation time, by the database's clock."""


def ref(target: str) -> ForeignKey:
    """A foreign key without cascading deletes."""
    return ForeignKey(f"{target}.id", ondelete="RESTRICT")
