-- Something that happened to a run; `seq` counts from 1 without a gap, in the order of commits.
CREATE TABLE event (
    id uuid CONSTRAINT pk_event PRIMARY KEY,
    run_id uuid NOT NULL CONSTRAINT fk_event_run_id REFERENCES run ON DELETE RESTRICT,
    seq bigint NOT NULL,
    kind text NOT NULL,
    episode_id uuid CONSTRAINT fk_event_episode_id REFERENCES episode ON DELETE RESTRICT,
    attempt_id uuid CONSTRAINT fk_event_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    data jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_event_run_id_seq UNIQUE (run_id, seq)
);
