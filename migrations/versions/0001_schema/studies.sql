-- A grid of conditions over one base configuration, one run per cell; see `backend.domain.studies.study`.
CREATE TABLE study (
    id uuid CONSTRAINT pk_study PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_study_project_id REFERENCES project ON DELETE RESTRICT,
    actor_id uuid NOT NULL CONSTRAINT fk_study_actor_id REFERENCES actor ON DELETE RESTRICT,
    name text NOT NULL,
    config jsonb NOT NULL,
    idempotency_key text,
    request_hash text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_study_project_id_idempotency_key UNIQUE (project_id, idempotency_key)
);
