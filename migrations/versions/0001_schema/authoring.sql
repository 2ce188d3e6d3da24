-- Drafts that a model is to write for a persona, or wrote. `model_request` has what it is asked with, `usage` the cost.
CREATE TABLE task_draft_request (
    id uuid CONSTRAINT pk_task_draft_request PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_task_draft_request_project_id REFERENCES project ON DELETE RESTRICT,
    actor_id uuid NOT NULL CONSTRAINT fk_task_draft_request_actor_id REFERENCES actor ON DELETE RESTRICT,
    benchmark text NOT NULL,
    persona text NOT NULL,
    requested_count bigint NOT NULL,
    model_request jsonb NOT NULL,
    state text NOT NULL,
    message text NOT NULL,
    created_count bigint NOT NULL,
    usage jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    CONSTRAINT ck_task_draft_request_requested_count CHECK (requested_count BETWEEN 1 AND 20),
    CONSTRAINT ck_task_draft_request_state CHECK (state IN ('waiting', 'done', 'failed'))
);
CREATE INDEX ix_task_draft_request_waiting ON task_draft_request (id) WHERE state = 'waiting';

-- A task that somebody writes, until people have approved it and it is part of a benchmark.
CREATE TABLE task_draft (
    id uuid CONSTRAINT pk_task_draft PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_task_draft_project_id REFERENCES project ON DELETE RESTRICT,
    author_id uuid NOT NULL CONSTRAINT fk_task_draft_author_id REFERENCES actor ON DELETE RESTRICT,
    benchmark text NOT NULL,
    state text NOT NULL,
    rejection_reason text,
    rejection_comment text NOT NULL,
    version bigint NOT NULL,
    content_hash text NOT NULL,
    domain text NOT NULL,
    name text NOT NULL,
    instruction text NOT NULL,
    approvals bigint NOT NULL,
    noop_justification text NOT NULL,
    author_kind text NOT NULL,
    model text NOT NULL,
    prompt_hash text NOT NULL,
    persona text NOT NULL,
    published_task_set_id uuid CONSTRAINT fk_task_draft_published_task_set_id REFERENCES task_set ON DELETE RESTRICT,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT ck_task_draft_approved_by_people CHECK (state <> 'approved' OR approvals >= 2),
    CONSTRAINT ck_task_draft_author_kind CHECK (author_kind IN ('person', 'model')),
    CONSTRAINT ck_task_draft_model_is_named CHECK (author_kind <> 'model' OR (model <> '' AND prompt_hash <> '')),
    CONSTRAINT ck_task_draft_reason_when_rejected CHECK ((state = 'rejected') = (rejection_reason IS NOT NULL)),
    CONSTRAINT ck_task_draft_rejection_reason CHECK (
        rejection_reason IS NULL OR rejection_reason IN ('ambiguous_instruction', 'subjective_criterion',
        'unavailable', 'near_duplicate')
    ),
    CONSTRAINT ck_task_draft_state CHECK (state IN ('draft', 'in_review', 'approved', 'rejected'))
);
CREATE INDEX ix_task_draft_list ON task_draft (project_id, state, id);

-- Bytes that were uploaded for a draft; its versions name them. Kept as long as the draft is.
CREATE TABLE task_draft_asset (
    draft_id uuid NOT NULL CONSTRAINT fk_task_draft_asset_draft_id REFERENCES task_draft ON DELETE RESTRICT,
    sha256 text NOT NULL CONSTRAINT fk_task_draft_asset_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    CONSTRAINT pk_task_draft_asset PRIMARY KEY (draft_id, sha256)
);
CREATE INDEX ix_task_draft_asset_sha256 ON task_draft_asset (sha256);

-- A run in which the author does what becomes set-up or solution. `used_in_version`: the version that it came into.
CREATE TABLE task_draft_recording (
    id uuid CONSTRAINT pk_task_draft_recording PRIMARY KEY,
    draft_id uuid NOT NULL CONSTRAINT fk_task_draft_recording_draft_id REFERENCES task_draft ON DELETE RESTRICT,
    kind text NOT NULL,
    version bigint NOT NULL,
    run_id uuid NOT NULL CONSTRAINT uq_task_draft_recording_run_id UNIQUE
        CONSTRAINT fk_task_draft_recording_run_id REFERENCES run ON DELETE RESTRICT,
    used_in_version bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_task_draft_recording_kind CHECK (kind IN ('setup', 'oracle'))
);
CREATE INDEX ix_task_draft_recording_draft ON task_draft_recording (draft_id, id);

-- What one person says of one version of a draft; one review each. A program cannot review: the key refuses it.
CREATE TABLE task_draft_review (
    id uuid CONSTRAINT pk_task_draft_review PRIMARY KEY,
    draft_id uuid NOT NULL CONSTRAINT fk_task_draft_review_draft_id REFERENCES task_draft ON DELETE RESTRICT,
    version bigint NOT NULL,
    actor_id uuid NOT NULL,
    actor_kind text NOT NULL,
    verdict text NOT NULL,
    rejection_reason text,
    comment text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_task_draft_review_draft_id_version_actor_id UNIQUE (draft_id, version, actor_id),
    CONSTRAINT fk_task_draft_review_actor_id_actor_kind FOREIGN KEY (actor_id, actor_kind)
        REFERENCES actor (id, kind) ON DELETE RESTRICT,
    CONSTRAINT ck_task_draft_review_reason_when_rejected CHECK ((verdict = 'reject') = (rejection_reason IS NOT NULL)),
    CONSTRAINT ck_task_draft_review_rejection_reason CHECK (
        rejection_reason IS NULL OR rejection_reason IN ('ambiguous_instruction', 'subjective_criterion',
        'unavailable', 'near_duplicate')
    ),
    CONSTRAINT ck_task_draft_review_reviewer_is_person CHECK (actor_kind = 'person'),
    CONSTRAINT ck_task_draft_review_verdict CHECK (verdict IN ('approve', 'reject'))
);

-- Oracle, no-op and always-FAIL were started on a version of a draft; their scores are those of the task set.
CREATE TABLE task_draft_trial (
    id uuid CONSTRAINT pk_task_draft_trial PRIMARY KEY,
    draft_id uuid NOT NULL CONSTRAINT fk_task_draft_trial_draft_id REFERENCES task_draft ON DELETE RESTRICT,
    version bigint NOT NULL,
    content_hash text NOT NULL,
    task_set_id uuid NOT NULL CONSTRAINT fk_task_draft_trial_task_set_id REFERENCES task_set ON DELETE RESTRICT,
    created_at timestamptz DEFAULT now() NOT NULL
);
CREATE INDEX ix_task_draft_trial_content ON task_draft_trial (draft_id, content_hash, id);

-- What a draft held at one time; never changed. `note` says what made it (`edited`, `recorded set-up`, ...).
CREATE TABLE task_draft_version (
    id uuid CONSTRAINT pk_task_draft_version PRIMARY KEY,
    draft_id uuid NOT NULL CONSTRAINT fk_task_draft_version_draft_id REFERENCES task_draft ON DELETE RESTRICT,
    number bigint NOT NULL,
    content jsonb NOT NULL,
    content_hash text NOT NULL,
    actor_id uuid NOT NULL CONSTRAINT fk_task_draft_version_actor_id REFERENCES actor ON DELETE RESTRICT,
    note text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_task_draft_version_draft_id_number UNIQUE (draft_id, number)
);
