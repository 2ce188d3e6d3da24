-- One try at an episode on one desktop. `live` until it has ended; an episode and a lease have one live at most.
CREATE TABLE attempt (
    id uuid CONSTRAINT pk_attempt PRIMARY KEY,
    episode_id uuid NOT NULL CONSTRAINT fk_attempt_episode_id REFERENCES episode ON DELETE RESTRICT,
    number bigint NOT NULL,
    state text NOT NULL,
    live boolean NOT NULL,
    controller text NOT NULL,
    worker_id uuid NOT NULL CONSTRAINT fk_attempt_worker_id REFERENCES worker ON DELETE RESTRICT,
    slot_id uuid NOT NULL CONSTRAINT fk_attempt_slot_id REFERENCES slot ON DELETE RESTRICT,
    lease_id uuid NOT NULL CONSTRAINT fk_attempt_lease_id REFERENCES lease ON DELETE RESTRICT,
    fencing_token bigint NOT NULL,
    ended_by text,
    failure_class text,
    failure_message text NOT NULL,
    after_action boolean NOT NULL,
    seconds jsonb NOT NULL,
    desktop jsonb NOT NULL,
    human_feedback jsonb,
    current_step bigint NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    first_observation_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT uq_attempt_episode_id_number UNIQUE (episode_id, number),
    CONSTRAINT ck_attempt_class_when_lost CHECK ((state = 'lost') = (failure_class IS NOT NULL)),
    CONSTRAINT ck_attempt_controller CHECK (controller IN ('agent', 'person', 'human_assisted')),
    CONSTRAINT ck_attempt_ended_by CHECK (
        ended_by IS NULL OR ended_by IN ('done', 'infeasible', 'steps', 'time', 'tokens', 'money', 'invalid',
        'agent_error', 'stalled')
    ),
    CONSTRAINT ck_attempt_failure_class CHECK (
        failure_class IS NULL OR failure_class IN ('model_api', 'task_setup', 'guest', 'cluster',
        'evaluator')
    ),
    CONSTRAINT ck_attempt_live_until_ended CHECK (live = (state IN ('preparing', 'running', 'evaluating'))),
    CONSTRAINT ck_attempt_state CHECK (
        state IN ('preparing', 'running', 'evaluating', 'scored', 'handed_in', 'lost', 'cancelled')
    )
);
CREATE INDEX ix_attempt_lease ON attempt (lease_id);
CREATE INDEX ix_attempt_lost ON attempt (ended_at) WHERE state = 'lost';
CREATE UNIQUE INDEX uq_attempt_live_episode ON attempt (episode_id) WHERE live;
CREATE UNIQUE INDEX uq_attempt_live_lease ON attempt (lease_id) WHERE live;

-- One scoring of one attempt by one evaluator version; one of an attempt's evaluations is current.
CREATE TABLE evaluation (
    id uuid CONSTRAINT pk_evaluation PRIMARY KEY,
    attempt_id uuid NOT NULL CONSTRAINT fk_evaluation_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    version text NOT NULL,
    score double precision,
    rule text NOT NULL,
    failure text DEFAULT '' NOT NULL,
    metrics jsonb NOT NULL,
    parts jsonb DEFAULT '[]' NOT NULL,
    spec jsonb DEFAULT '{}' NOT NULL,
    task_id uuid CONSTRAINT fk_evaluation_task_id REFERENCES task ON DELETE RESTRICT,
    current boolean NOT NULL,
    seconds double precision NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_evaluation_failure_has_no_score CHECK (failure = '' OR (score IS NULL AND NOT current)),
    CONSTRAINT ck_evaluation_score_range CHECK (score BETWEEN 0 AND 1)
);
CREATE INDEX ix_evaluation_attempt_id ON evaluation (attempt_id);
CREATE UNIQUE INDEX uq_evaluation_current ON evaluation (attempt_id) WHERE current;

-- One observation, the agent's explanation, its actions and what came of them; pictures, trees and prompts by hash.
CREATE TABLE step (
    id uuid CONSTRAINT pk_step PRIMARY KEY,
    attempt_id uuid NOT NULL CONSTRAINT fk_step_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    index bigint NOT NULL,
    frame_sha256 text CONSTRAINT fk_step_frame_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    frame_media_type text,
    width bigint,
    height bigint,
    a11y_sha256 text CONSTRAINT fk_step_a11y_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    agent_view_sha256 text CONSTRAINT fk_step_agent_view_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    prompt_sha256 text CONSTRAINT fk_step_prompt_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    windows jsonb NOT NULL,
    explanation text NOT NULL,
    reply text NOT NULL,
    actions jsonb NOT NULL,
    results jsonb NOT NULL,
    invalid text NOT NULL,
    usage jsonb NOT NULL,
    timing jsonb NOT NULL,
    extras jsonb DEFAULT '{}' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_step_attempt_id_index UNIQUE (attempt_id, index)
);
CREATE INDEX ix_step_a11y ON step (a11y_sha256);
CREATE INDEX ix_step_agent_view ON step (agent_view_sha256);
CREATE INDEX ix_step_frame ON step (frame_sha256);
CREATE INDEX ix_step_prompt ON step (prompt_sha256);

-- A blob that a getter collected for one metric call; without a hash it was absent, and `note` says why.
CREATE TABLE evidence (
    evaluation_id uuid NOT NULL CONSTRAINT fk_evidence_evaluation_id REFERENCES evaluation ON DELETE RESTRICT,
    position bigint NOT NULL,
    role text NOT NULL,
    part bigint NOT NULL,
    getter text NOT NULL,
    blob_name text NOT NULL,
    sha256 text CONSTRAINT fk_evidence_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    note text NOT NULL,
    CONSTRAINT pk_evidence PRIMARY KEY (evaluation_id, position, role, part),
    CONSTRAINT ck_evidence_role CHECK (role IN ('result', 'expected'))
);
CREATE INDEX ix_evidence_sha256 ON evidence (sha256);

-- A named number of an evaluation.
CREATE TABLE measure (
    evaluation_id uuid NOT NULL CONSTRAINT fk_measure_evaluation_id REFERENCES evaluation ON DELETE RESTRICT,
    name text NOT NULL,
    value double precision NOT NULL,
    CONSTRAINT pk_measure PRIMARY KEY (evaluation_id, name)
);

-- One attempt that is to be scored again, or was: a scored one, or one whose evaluation came to no verdict.
CREATE TABLE reevaluation (
    id uuid CONSTRAINT pk_reevaluation PRIMARY KEY,
    episode_id uuid NOT NULL CONSTRAINT fk_reevaluation_episode_id REFERENCES episode ON DELETE RESTRICT,
    attempt_id uuid NOT NULL CONSTRAINT fk_reevaluation_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    task_id uuid NOT NULL CONSTRAINT fk_reevaluation_task_id REFERENCES task ON DELETE RESTRICT,
    previous_evaluation_id uuid NOT NULL
        CONSTRAINT fk_reevaluation_previous_evaluation_id REFERENCES evaluation ON DELETE RESTRICT,
    new_evaluation_id uuid CONSTRAINT fk_reevaluation_new_evaluation_id REFERENCES evaluation ON DELETE RESTRICT,
    actor_id uuid CONSTRAINT fk_reevaluation_actor_id REFERENCES actor ON DELETE RESTRICT,
    make_current boolean NOT NULL,
    judge jsonb DEFAULT '{}' NOT NULL,
    state text NOT NULL,
    tries bigint DEFAULT 0 NOT NULL,
    rerun_if_undecided boolean DEFAULT false NOT NULL,
    available_at timestamptz DEFAULT now() NOT NULL,
    evidence_missing_since timestamptz,
    message text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    CONSTRAINT ck_reevaluation_state CHECK (state IN ('waiting', 'done', 'failed'))
);
CREATE INDEX ix_reevaluation_episode_id ON reevaluation (episode_id);
CREATE UNIQUE INDEX uq_reevaluation_waiting ON reevaluation (attempt_id, task_id, make_current, judge)
    WHERE state = 'waiting';
