"""Files of the web that tasks need: fetched once, kept by hash with the address that they came from."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "external_asset",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("length(url) <= 2000", name=op.f("ck_external_asset_url")),
        sa.CheckConstraint("sha256 IS NOT NULL OR problem <> ''", name=op.f("ck_external_asset_known")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_external_asset_project_id"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["sha256"], ["artifact.sha256"], name=op.f("fk_external_asset_sha256"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("project_id", "url", name=op.f("pk_external_asset")),
    )
    op.create_index(op.f("ix_external_asset_sha256"), "external_asset", ["sha256"])


def downgrade() -> None:
    op.drop_table("external_asset")
