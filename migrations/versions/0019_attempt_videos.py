"""Videos of attempts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0019"
down_revision: str | None = "2.0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "attempt_video",
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name="fk_attempt_video_attempt_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["sha256"], ["artifact.sha256"], name="fk_attempt_video_sha256", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("attempt_id", name="pk_attempt_video"),
    )
    op.create_index("ix_attempt_video_sha256", "attempt_video", ["sha256"])


def downgrade() -> None:
    op.drop_table("attempt_video")
