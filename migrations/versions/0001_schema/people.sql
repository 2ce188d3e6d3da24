-- How much of a graph of subtasks a person finds done, and how sensible its order, in tenths (0, 10 .. 100 %).
CREATE TABLE human_rating (
    attempt_id uuid NOT NULL CONSTRAINT fk_human_rating_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    actor_id uuid NOT NULL CONSTRAINT fk_human_rating_actor_id REFERENCES actor ON DELETE RESTRICT,
    completion bigint NOT NULL,
    logic bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_human_rating PRIMARY KEY (attempt_id, actor_id),
    CONSTRAINT ck_human_rating_completion_tenths CHECK (completion BETWEEN 0 AND 100 AND completion % 10 = 0),
    CONSTRAINT ck_human_rating_logic_tenths CHECK (logic BETWEEN 0 AND 100 AND logic % 10 = 0)
);
