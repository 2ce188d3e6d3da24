-- Who gives verdicts that people can check: a model with its settings and prompt, or the evaluator of graphs.
CREATE TABLE judge (
    id uuid CONSTRAINT pk_judge PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_judge_project_id REFERENCES project ON DELETE RESTRICT,
    kind text NOT NULL,
    endpoint text NOT NULL,
    model text NOT NULL,
    prompt_sha256 text NOT NULL,
    config jsonb NOT NULL,
    identity text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_judge_project_id_identity UNIQUE (project_id, identity),
    CONSTRAINT ck_judge_kind CHECK (kind IN ('vlm', 'graph'))
);

-- What a person who saw no judge's verdict says of one criterion of one attempt; `reached` None: cannot be told.
CREATE TABLE human_judgement (
    attempt_id uuid NOT NULL CONSTRAINT fk_human_judgement_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    actor_id uuid NOT NULL CONSTRAINT fk_human_judgement_actor_id REFERENCES actor ON DELETE RESTRICT,
    criterion text NOT NULL,
    text text NOT NULL,
    reached boolean,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_human_judgement PRIMARY KEY (attempt_id, actor_id, criterion)
);

-- One response of a judge's model, usable or not: it was paid for. A usable one is never asked for again.
CREATE TABLE judge_response (
    id uuid CONSTRAINT pk_judge_response PRIMARY KEY,
    judge_id uuid NOT NULL CONSTRAINT fk_judge_response_judge_id REFERENCES judge ON DELETE RESTRICT,
    attempt_id uuid NOT NULL CONSTRAINT fk_judge_response_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    request_hash text NOT NULL,
    vote_index bigint NOT NULL,
    usable boolean NOT NULL,
    response jsonb NOT NULL,
    usd double precision NOT NULL,
    priced boolean NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL
);
CREATE INDEX ix_judge_response_attempt ON judge_response (attempt_id);
CREATE INDEX ix_judge_response_usable ON judge_response (request_hash, vote_index) WHERE usable;

-- What the majority of a judge's votes says of one criterion of one attempt; the newest judgement counts.
CREATE TABLE judge_verdict (
    judge_id uuid NOT NULL CONSTRAINT fk_judge_verdict_judge_id REFERENCES judge ON DELETE RESTRICT,
    attempt_id uuid NOT NULL CONSTRAINT fk_judge_verdict_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    criterion text NOT NULL,
    text text NOT NULL,
    reached boolean NOT NULL,
    step bigint,
    reason text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_judge_verdict PRIMARY KEY (judge_id, attempt_id, criterion)
);
CREATE INDEX ix_judge_verdict_attempt ON judge_verdict (attempt_id);

-- An attempt that was drawn, with `seed`, from those that a judge has judged. Items are offered in order of id.
CREATE TABLE review_item (
    id uuid CONSTRAINT pk_review_item PRIMARY KEY,
    judge_id uuid NOT NULL CONSTRAINT fk_review_item_judge_id REFERENCES judge ON DELETE RESTRICT,
    attempt_id uuid NOT NULL CONSTRAINT fk_review_item_attempt_id REFERENCES attempt ON DELETE RESTRICT,
    seed bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_review_item_judge_id_attempt_id UNIQUE (judge_id, attempt_id)
);
CREATE INDEX ix_review_item_attempt_id ON review_item (attempt_id);
