"""Who people are to OpenID providers; which jobs of CI systems a project trusts, and their tokens."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0026"
down_revision: str | None = "2.0025"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "user_identity",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_user_identity"),
        sa.UniqueConstraint("issuer", "subject", name="uq_user_identity_issuer_subject"),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name="fk_user_identity_user_id", ondelete="RESTRICT"),
    )
    op.create_index("ix_user_identity_user_id", "user_identity", ["user_id"])
    op.create_table(
        "trust_rule",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("claims", JSONB(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("minutes", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trust_rule"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_trust_rule_project_id", ondelete="RESTRICT"),
        sa.CheckConstraint(
            "role IN ('viewer', 'runner', 'reviewer', 'maintainer', 'admin')", name=op.f("ck_trust_rule_role")
        ),
    )
    op.create_index("ix_trust_rule_project_id", "trust_rule", ["project_id"])
    op.add_column("access_token", sa.Column("trust_rule_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        "fk_access_token_trust_rule_id", "access_token", "trust_rule", ["trust_rule_id"], ["id"], ondelete="RESTRICT"
    )
    op.create_index("ix_access_token_trust_rule_id", "access_token", ["trust_rule_id"])


def downgrade() -> None:
    op.execute("DELETE FROM access_token WHERE trust_rule_id IS NOT NULL")
    op.drop_column("access_token", "trust_rule_id")
    op.drop_table("trust_rule")
    op.drop_table("user_identity")
