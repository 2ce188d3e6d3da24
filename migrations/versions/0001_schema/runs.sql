-- One submitted experiment. Its row lock orders everything that happens to its episodes and attempts.
CREATE TABLE run (
    id uuid CONSTRAINT pk_run PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_run_project_id REFERENCES project ON DELETE RESTRICT,
    actor_id uuid NOT NULL CONSTRAINT fk_run_actor_id REFERENCES actor ON DELETE RESTRICT,
    task_set_id uuid NOT NULL CONSTRAINT fk_run_task_set_id REFERENCES task_set ON DELETE RESTRICT,
    agent_configuration_id uuid NOT NULL
        CONSTRAINT fk_run_agent_configuration_id REFERENCES agent_configuration ON DELETE RESTRICT,
    provider text NOT NULL,
    config jsonb NOT NULL,
    config_hash text NOT NULL,
    condition_hash text NOT NULL,
    pins jsonb DEFAULT '{}' NOT NULL,
    study_id uuid CONSTRAINT fk_run_study_id REFERENCES study ON DELETE RESTRICT,
    cell jsonb,
    name text NOT NULL,
    state text NOT NULL,
    accepts_episodes boolean NOT NULL,
    purpose text NOT NULL,
    priority bigint DEFAULT 0 NOT NULL,
    concurrency bigint,
    in_use bigint DEFAULT 0 NOT NULL,
    usage_seconds double precision DEFAULT 0 NOT NULL,
    usage_updated_at timestamptz DEFAULT now() NOT NULL,
    last_scheduled_at timestamptz DEFAULT now() NOT NULL,
    estimates_updated_at timestamptz DEFAULT now() NOT NULL,
    next_event_seq bigint NOT NULL,
    rollup_stale boolean NOT NULL,
    rollup_started_at timestamptz,
    rollup_as_of timestamptz,
    rollup_seconds double precision,
    idempotency_key text,
    request_hash text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT uq_run_project_id_idempotency_key UNIQUE (project_id, idempotency_key),
    CONSTRAINT ck_run_concurrency CHECK (concurrency >= 1),
    CONSTRAINT ck_run_priority CHECK (priority BETWEEN -10 AND 10),
    CONSTRAINT ck_run_purpose CHECK (purpose IN ('measure', 'validate', 'demo', 'practice', 'record')),
    CONSTRAINT ck_run_state CHECK (state IN ('queued', 'running', 'paused', 'completed', 'cancelled'))
);
CREATE INDEX ix_run_active ON run (id) WHERE state IN ('queued', 'running');
CREATE INDEX ix_run_cancelled ON run (ended_at) WHERE state = 'cancelled';
CREATE INDEX ix_run_rollup_started ON run (id) WHERE rollup_started_at IS NOT NULL;
CREATE INDEX ix_run_scheduled ON run (id) WHERE state IN ('queued', 'running', 'paused');
CREATE INDEX ix_run_stale ON run (id) WHERE rollup_stale;
CREATE INDEX ix_run_study ON run (study_id);
CREATE INDEX ix_run_task_set ON run (task_set_id, id);

-- One (task, repeat) of a run: what leaderboards count.
CREATE TABLE episode (
    id uuid CONSTRAINT pk_episode PRIMARY KEY,
    run_id uuid NOT NULL CONSTRAINT fk_episode_run_id REFERENCES run ON DELETE RESTRICT,
    task_id uuid NOT NULL CONSTRAINT fk_episode_task_id REFERENCES task ON DELETE RESTRICT,
    repeat_index bigint NOT NULL,
    seed bigint NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    priority bigint NOT NULL,
    available_at timestamptz DEFAULT now() NOT NULL,
    requirements_id uuid,
    estimated_seconds double precision DEFAULT 600 NOT NULL,
    ended_by text,
    outcome text,
    failure_class text,
    failure_message text NOT NULL,
    score double precision,
    solved boolean,
    steps bigint NOT NULL,
    token_sha256 text,
    human_feedback jsonb,
    human_assisted boolean DEFAULT false NOT NULL,
    flagged boolean NOT NULL,
    flag_reason text NOT NULL,
    attempt_count bigint NOT NULL,
    retry_baseline bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT uq_episode_run_id_task_id_repeat_index UNIQUE (run_id, task_id, repeat_index),
    CONSTRAINT ck_episode_class_when_lost CHECK ((outcome IS NOT DISTINCT FROM 'lost') = (failure_class IS NOT NULL)),
    CONSTRAINT ck_episode_ended_by CHECK (
        ended_by IS NULL OR ended_by IN ('done', 'infeasible', 'steps', 'time', 'tokens', 'money', 'invalid',
        'agent_error', 'stalled')
    ),
    CONSTRAINT ck_episode_failure_class CHECK (
        failure_class IS NULL OR failure_class IN ('model_api', 'task_setup', 'guest', 'cluster',
        'evaluator')
    ),
    CONSTRAINT ck_episode_outcome CHECK (outcome IS NULL OR outcome IN ('scored', 'handed_in', 'lost', 'cancelled')),
    CONSTRAINT ck_episode_outcome_is_state CHECK (outcome IS NULL OR outcome = state),
    CONSTRAINT ck_episode_score_range CHECK (score BETWEEN 0 AND 1),
    CONSTRAINT ck_episode_score_when_scored CHECK (
        (outcome IS NOT DISTINCT FROM 'scored') = (score IS NOT NULL) AND (score IS NULL) = (solved IS NULL)
    ),
    CONSTRAINT ck_episode_state CHECK (
        state IN ('waiting', 'running', 'scored', 'handed_in', 'lost', 'cancelled', 'not_runnable')
    )
);
CREATE INDEX ix_episode_claim ON episode (run_id, requirements_id, priority DESC, repeat_index, estimated_seconds DESC, id)
    WHERE state = 'waiting' AND available_at < '9000-01-01 00:00:00+00';
CREATE INDEX ix_episode_no_requirements ON episode (id) WHERE state = 'waiting' AND requirements_id IS NULL;
CREATE INDEX ix_episode_run_page ON episode (run_id, id);
CREATE INDEX ix_episode_running ON episode (run_id) WHERE state = 'running';
CREATE INDEX ix_episode_task ON episode (task_id, id);
CREATE UNIQUE INDEX uq_episode_token_sha256 ON episode (token_sha256);

-- A task set aside by a person; lifted, not deleted, so that the history stays.
CREATE TABLE quarantine (
    id uuid CONSTRAINT pk_quarantine PRIMARY KEY,
    task_id uuid NOT NULL CONSTRAINT fk_quarantine_task_id REFERENCES task ON DELETE RESTRICT,
    reason text NOT NULL,
    actor_id uuid NOT NULL CONSTRAINT fk_quarantine_actor_id REFERENCES actor ON DELETE RESTRICT,
    created_at timestamptz DEFAULT now() NOT NULL,
    lifted_at timestamptz
);
CREATE INDEX ix_quarantine_task_id ON quarantine (task_id);
CREATE UNIQUE INDEX uq_quarantine_in_force ON quarantine (task_id) WHERE lifted_at IS NULL;

-- One result of `benchmark validate`: an episode of the oracle, no-op or always-FAIL agent.
CREATE TABLE task_validation (
    id uuid CONSTRAINT pk_task_validation PRIMARY KEY,
    task_id uuid NOT NULL CONSTRAINT fk_task_validation_task_id REFERENCES task ON DELETE RESTRICT,
    agent text NOT NULL,
    score double precision,
    outcome text NOT NULL,
    episode_id uuid NOT NULL CONSTRAINT uq_task_validation_episode_id UNIQUE
        CONSTRAINT fk_task_validation_episode_id REFERENCES episode ON DELETE RESTRICT,
    evaluator_version text,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_task_validation_agent CHECK (agent IN ('oracle', 'noop', 'always_fail')),
    CONSTRAINT ck_task_validation_outcome CHECK (outcome IN ('scored', 'handed_in', 'lost', 'cancelled'))
);
CREATE INDEX ix_task_validation_task_id_agent_created_at ON task_validation (task_id, agent, created_at);
