-- What an attempt handed in, or without an attempt what a human expert made, for one task.
CREATE TABLE submission (
    id uuid CONSTRAINT pk_submission PRIMARY KEY,
    task_id uuid NOT NULL CONSTRAINT fk_submission_task_id REFERENCES task ON DELETE RESTRICT,
    attempt_id uuid CONSTRAINT fk_submission_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    files jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL
);
CREATE INDEX ix_submission_task_id ON submission (task_id);
CREATE UNIQUE INDEX uq_submission_attempt_id ON submission (attempt_id);
CREATE UNIQUE INDEX uq_submission_expert ON submission (task_id) WHERE attempt_id IS NULL;

-- Which of two submissions for one task a person prefers, as they lay side by side. Each sees a pair once.
CREATE TABLE pairwise_preference (
    id uuid CONSTRAINT pk_pairwise_preference PRIMARY KEY,
    task_id uuid NOT NULL CONSTRAINT fk_pairwise_preference_task_id REFERENCES task ON DELETE RESTRICT,
    left_id uuid NOT NULL CONSTRAINT fk_pairwise_preference_left_id REFERENCES submission ON DELETE RESTRICT,
    right_id uuid NOT NULL CONSTRAINT fk_pairwise_preference_right_id REFERENCES submission ON DELETE RESTRICT,
    preference text NOT NULL,
    actor_id uuid NOT NULL CONSTRAINT fk_pairwise_preference_actor_id REFERENCES actor ON DELETE RESTRICT,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_pairwise_preference_preference CHECK (preference IN ('left', 'right', 'equal')),
    CONSTRAINT ck_pairwise_preference_two_submissions CHECK (left_id <> right_id)
);
CREATE INDEX ix_pairwise_preference_task_id ON pairwise_preference (task_id);
CREATE UNIQUE INDEX uq_pairwise_preference_pair ON pairwise_preference (actor_id, least(left_id, right_id), greatest(left_id, right_id));
