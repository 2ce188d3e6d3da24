-- One measure in one cell of a run's cube (`Rollup`); recomputed with it, never incremented.
CREATE TABLE measure_rollup (
    run_id uuid NOT NULL CONSTRAINT fk_measure_rollup_run_id REFERENCES run ON DELETE RESTRICT,
    dimension text NOT NULL,
    key text NOT NULL,
    measure text NOT NULL,
    tasks bigint NOT NULL,
    undefined_tasks bigint NOT NULL,
    n bigint NOT NULL,
    total double precision NOT NULL,
    low double precision NOT NULL,
    high double precision NOT NULL,
    CONSTRAINT pk_measure_rollup PRIMARY KEY (run_id, dimension, key, measure),
    CONSTRAINT ck_measure_rollup_dimension CHECK (
        dimension IN ('all', 'domain', 'difficulty', 'domain_difficulty', 'level', 'app', 'capability',
        'complexity')
    )
);

-- One cell of a run's cube. The whole cube is recomputed at a change, never incremented.
CREATE TABLE rollup (
    run_id uuid NOT NULL CONSTRAINT fk_rollup_run_id REFERENCES run ON DELETE RESTRICT,
    dimension text NOT NULL,
    key text NOT NULL,
    tasks bigint NOT NULL,
    scored_tasks bigint NOT NULL,
    episodes bigint NOT NULL,
    scored bigint NOT NULL,
    solved bigint NOT NULL,
    score_sum double precision NOT NULL,
    score_sq_sum double precision NOT NULL,
    lost jsonb NOT NULL,
    human_assisted bigint DEFAULT 0 NOT NULL,
    handed_in bigint DEFAULT 0 NOT NULL,
    cancelled bigint NOT NULL,
    not_runnable bigint NOT NULL,
    waiting bigint NOT NULL,
    running bigint NOT NULL,
    steps_sum bigint NOT NULL,
    success_method text NOT NULL,
    success_low double precision,
    success_high double precision,
    mean_low double precision,
    mean_high double precision,
    computed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_rollup PRIMARY KEY (run_id, dimension, key),
    CONSTRAINT ck_rollup_dimension CHECK (
        dimension IN ('all', 'domain', 'difficulty', 'domain_difficulty', 'level', 'app', 'capability',
        'complexity')
    )
);

-- One person's labels of one failed episode, possibly none; a person who judges again replaces them.
CREATE TABLE failure_review (
    id uuid CONSTRAINT pk_failure_review PRIMARY KEY,
    episode_id uuid NOT NULL CONSTRAINT fk_failure_review_episode_id REFERENCES episode ON DELETE RESTRICT,
    attempt_id uuid NOT NULL CONSTRAINT fk_failure_review_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    actor_id uuid NOT NULL CONSTRAINT fk_failure_review_actor_id REFERENCES actor ON DELETE RESTRICT,
    labels jsonb NOT NULL,
    suggestions jsonb NOT NULL,
    note text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_failure_review_episode_id_actor_id UNIQUE (episode_id, actor_id)
);
CREATE INDEX ix_failure_review_attempt ON failure_review (attempt_id);
