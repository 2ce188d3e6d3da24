"""Steps have the perceptual hash of their screen, by which two episodes are aligned.

Steps that are stored have none: they are aligned by action and target.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0006"
down_revision: str | None = "2.0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("step", sa.Column("frame_hash", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("step", "frame_hash")
