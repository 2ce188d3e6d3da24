"""Configurations: one row per agent, parameters, spaces, image preparation and prompts, with a name.

Until now a row was an agent with its parameters, so runs with another observation space shared it. Rows are divided by
what their runs used; `params_hash` becomes the hash of everything.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects.postgresql import JSONB
from uuid_utils.compat import uuid7

from backend.domain.model.run import RunConfig
from backend.services.configurations.definitions import SEPARATOR, default_name, definition_of, identity_hash

revision: str = "2.0008"
down_revision: str | None = "2.0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

RUNS = sa.text("""
    SELECT r.id, r.config, r.pins, a.id AS configuration, a.project_id, a.name, a.params, a.privileged, a.human
    FROM run r JOIN agent_configuration a ON a.id = r.agent_configuration_id ORDER BY r.id
""")
UPDATE = sa.text("""
    UPDATE agent_configuration SET params_hash = :identity, definition = :definition, default_name = :name
    WHERE id = :id
""").bindparams(sa.bindparam("definition", type_=JSONB))
INSERT = sa.text("""
    INSERT INTO agent_configuration
        (id, project_id, name, params, params_hash, definition, default_name, privileged, human, created_at)
    SELECT :id, project_id, name, params, :identity, :definition, :name, privileged, human, now()
    FROM agent_configuration WHERE id = :source
""").bindparams(sa.bindparam("definition", type_=JSONB))


def upgrade() -> None:
    op.add_column(
        "agent_configuration", sa.Column("definition", JSONB(), server_default=sa.text("'{}'"), nullable=False)
    )
    op.add_column("agent_configuration", sa.Column("own_name", sa.Text(), server_default="", nullable=False))
    op.add_column("agent_configuration", sa.Column("default_name", sa.Text(), server_default="", nullable=False))
    op.create_index("ix_run_configuration", "run", ["agent_configuration_id", "id"])
    if not context.is_offline_mode():
        _fill(op.get_bind())


def _fill(connection: sa.Connection) -> None:
    """Rows by the identity of the configurations of their runs; the first run keeps the row that it has."""
    rows: dict[tuple[UUID, str, str], UUID] = {}
    divided: set[UUID] = set()
    names: set[tuple[UUID, str]] = set()
    for run in connection.execute(RUNS).all():
        config = RunConfig.model_validate({**run.config, "agent": run.name, "params": run.params})
        definition = definition_of(config, run.pins.get("prompts") or {})
        identity = identity_hash(definition)
        key = (run.project_id, run.name, identity)
        if key not in rows:
            name = default_name(definition, config.preset)
            name = f"{name}{SEPARATOR}#{identity[:6]}" if (run.project_id, name) in names else name
            names.add((run.project_id, name))
            values: dict[str, Any] = {"identity": identity, "definition": definition, "name": name}
            if run.configuration in divided:
                rows[key] = uuid7()
                connection.execute(INSERT, {**values, "id": rows[key], "source": run.configuration})
            else:
                divided.add(run.configuration)
                rows[key] = run.configuration
                connection.execute(UPDATE, {**values, "id": rows[key]})
        if rows[key] != run.configuration:
            statement = sa.text("UPDATE run SET agent_configuration_id = :configuration WHERE id = :run")
            connection.execute(statement, {"configuration": rows[key], "run": run.id})


def downgrade() -> None:
    op.drop_index("ix_run_configuration", table_name="run")
    op.drop_column("agent_configuration", "default_name")
    op.drop_column("agent_configuration", "own_name")
    op.drop_column("agent_configuration", "definition")
