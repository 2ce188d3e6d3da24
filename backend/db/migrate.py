"""Brings a database to a schema version, from code; `alembic` on the command line does the same."""

from pathlib import Path

from alembic import command
from alembic.config import Config

ROOT = Path(__file__).resolve().parents[2]


def config(url: str) -> Config:
    """Alembic's configuration for this checkout and that database."""
    settings = Config(ROOT / "alembic.ini")
    settings.attributes["url"] = url
    return settings


def upgrade(url: str, revision: str = "head") -> None:
    """Migrates up. Safe to call twice and from several processes at once: the second waits for the first."""
    command.upgrade(config(url), revision)


def downgrade(url: str, revision: str) -> None:
    """Migrates down to `revision`, or to nothing with `base`."""
    command.downgrade(config(url), revision)
