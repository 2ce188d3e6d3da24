"""Own tasks: drafts with their versions, tries, recordings and reviews; benchmarks that no list shows."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = postgresql.JSONB(astext_type=sa.Text())
PURPOSES = ("measure", "validate", "demo", "practice")
REASONS = "('ambiguous_instruction', 'subjective_criterion', 'unavailable', 'near_duplicate')"
TABLES = ("asset", "request", "recording", "try", "review", "version")


def upgrade() -> None:
    op.add_column("benchmark", sa.Column("hidden", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.create_unique_constraint(op.f("uq_actor_id_kind"), "actor", ["id", "kind"])
    _purposes((*PURPOSES, "record"))
    _draft()
    _table(
        "version",
        sa.Column("draft_id", sa.Uuid(), nullable=False),
        _whole("number"),
        sa.Column("content", JSON, nullable=False),
        _text("content_hash"),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        _text("note"),
        _created(),
        sa.UniqueConstraint("draft_id", "number", name=op.f("uq_task_draft_version_draft_id_number")),
        refs={"draft_id": "task_draft", "actor_id": "actor"},
    )
    _review()
    _table(
        "try",
        sa.Column("draft_id", sa.Uuid(), nullable=False),
        _whole("version"),
        _text("content_hash"),
        sa.Column("task_set_id", sa.Uuid(), nullable=False),
        _created(),
        refs={"draft_id": "task_draft", "task_set_id": "task_set"},
    )
    op.create_index("ix_task_draft_try_content", "task_draft_try", ["draft_id", "content_hash", "id"])
    _table(
        "recording",
        sa.Column("draft_id", sa.Uuid(), nullable=False),
        _text("kind"),
        _whole("version"),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("used_in", sa.BigInteger(), nullable=True),
        _created(),
        sa.CheckConstraint("kind IN ('setup', 'oracle')", name=op.f("ck_task_draft_recording_kind")),
        sa.UniqueConstraint("run_id", name=op.f("uq_task_draft_recording_run_id")),
        refs={"draft_id": "task_draft", "run_id": "run"},
    )
    op.create_index("ix_task_draft_recording_draft", "task_draft_recording", ["draft_id", "id"])
    op.create_table(
        "task_draft_asset",
        sa.Column("draft_id", sa.Uuid(), nullable=False),
        _text("sha256"),
        *_refs("task_draft_asset", {"draft_id": "task_draft"}),
        sa.ForeignKeyConstraint(
            ["sha256"], ["artifact.sha256"], name=op.f("fk_task_draft_asset_sha256"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("draft_id", "sha256", name=op.f("pk_task_draft_asset")),
    )
    op.create_index(op.f("ix_task_draft_asset_sha256"), "task_draft_asset", ["sha256"])
    _request()


def downgrade() -> None:
    for name in TABLES:
        op.drop_table(f"task_draft_{name}")
    op.drop_table("task_draft")
    # The nearest older word: nothing of such a run is counted either.
    op.execute("UPDATE run SET purpose = 'practice' WHERE purpose = 'record'")
    _purposes(PURPOSES)
    op.drop_constraint(op.f("uq_actor_id_kind"), "actor", type_="unique")
    op.drop_column("benchmark", "hidden")


def _draft() -> None:
    op.create_table(
        "task_draft",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        _text("benchmark"),
        _text("state"),
        sa.Column("reason", sa.Text(), nullable=True),
        _text("reason_words"),
        _whole("version"),
        *(_text(name) for name in ("content_hash", "domain", "name", "instruction")),
        _whole("approvals"),
        *(_text(name) for name in ("noop_words", "made_by", "model", "prompt_hash", "persona")),
        sa.Column("published_id", sa.Uuid(), nullable=True),
        _created(),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        *_checks(
            "task_draft",
            state="state IN ('draft', 'in_review', 'approved', 'rejected')",
            reason=f"reason IS NULL OR reason IN {REASONS}",
            made_by="made_by IN ('person', 'model')",
            reason_when_rejected="(state = 'rejected') = (reason IS NOT NULL)",
            approved_by_people="state <> 'approved' OR approvals >= 2",
            model_is_named="made_by <> 'model' OR (model <> '' AND prompt_hash <> '')",
        ),
        *_refs("task_draft", {"project_id": "project", "author_id": "actor", "published_id": "task_set"}),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_draft")),
    )
    op.create_index("ix_task_draft_list", "task_draft", ["project_id", "state", "id"])


def _review() -> None:
    _table(
        "review",
        sa.Column("draft_id", sa.Uuid(), nullable=False),
        _whole("version"),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        _text("actor_kind"),
        _text("verdict"),
        sa.Column("reason", sa.Text(), nullable=True),
        _text("words"),
        _created(),
        *_checks(
            "task_draft_review",
            verdict="verdict IN ('approve', 'reject')",
            reason=f"reason IS NULL OR reason IN {REASONS}",
            reason_when_rejected="(verdict = 'reject') = (reason IS NOT NULL)",
            by_a_person="actor_kind = 'person'",
        ),
        sa.ForeignKeyConstraint(
            ["actor_id", "actor_kind"],
            ["actor.id", "actor.kind"],
            name=op.f("fk_task_draft_review_actor_id_actor_kind"),
            ondelete="RESTRICT",
        ),
        sa.UniqueConstraint(
            "draft_id", "version", "actor_id", name=op.f("uq_task_draft_review_draft_id_version_actor_id")
        ),
        refs={"draft_id": "task_draft"},
    )


def _request() -> None:
    _table(
        "request",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        _text("benchmark"),
        _text("persona"),
        _whole("wanted"),
        sa.Column("asked", JSON, nullable=False),
        _text("state"),
        _text("message"),
        _whole("made"),
        sa.Column("usage", JSON, nullable=False),
        _created(),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        *_checks(
            "task_draft_request",
            state="state IN ('waiting', 'done', 'failed')",
            wanted="wanted BETWEEN 1 AND 20",
        ),
        refs={"project_id": "project", "actor_id": "actor"},
    )
    op.create_index(
        "ix_task_draft_request_waiting",
        "task_draft_request",
        ["id"],
        postgresql_where=sa.text("state = 'waiting'"),
    )


def _table(name: str, *parts: sa.schema.SchemaItem, refs: dict[str, str]) -> None:
    table = f"task_draft_{name}"
    op.create_table(
        table,
        sa.Column("id", sa.Uuid(), nullable=False),
        *parts,
        *_refs(table, refs),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
    )


def _refs(table: str, refs: dict[str, str]) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="RESTRICT")
        for column, other in refs.items()
    ]


def _checks(table: str, **rules: str) -> list[sa.CheckConstraint]:
    return [sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}")) for name, rule in rules.items()]


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _whole(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _created() -> sa.Column[datetime]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def _purposes(words: Sequence[str]) -> None:
    op.drop_constraint(op.f("ck_run_purpose"), "run", type_="check")
    listed = ", ".join(f"'{word}'" for word in words)
    op.create_check_constraint(op.f("ck_run_purpose"), "run", f"purpose IN ({listed})")
