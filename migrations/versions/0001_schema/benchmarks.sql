-- A benchmark; its tasks hang on its task sets.
CREATE TABLE benchmark (
    id uuid CONSTRAINT pk_benchmark PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_benchmark_project_id REFERENCES project ON DELETE RESTRICT,
    name text NOT NULL CONSTRAINT uq_benchmark_name UNIQUE,
    kind text NOT NULL,
    title text NOT NULL,
    licence text NOT NULL,
    source text NOT NULL,
    hidden boolean DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL
);
CREATE INDEX ix_benchmark_project_id ON benchmark (project_id);

-- What is known of a file of the web: its bytes, or why there are none.
CREATE TABLE web_asset (
    project_id uuid NOT NULL CONSTRAINT fk_web_asset_project_id REFERENCES project ON DELETE RESTRICT,
    url text NOT NULL,
    sha256 text CONSTRAINT fk_web_asset_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    source text NOT NULL,
    problem text NOT NULL,
    checked_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_web_asset PRIMARY KEY (project_id, url),
    CONSTRAINT ck_web_asset_bytes_or_problem CHECK (sha256 IS NOT NULL OR problem <> ''),
    CONSTRAINT ck_web_asset_url CHECK (length(url) <= 2000)
);
CREATE INDEX ix_web_asset_sha256 ON web_asset (sha256);

-- A published number, shown beside ours and marked as such; never mixed into a count.
CREATE TABLE published_result (
    id uuid CONSTRAINT pk_published_result PRIMARY KEY,
    benchmark_id uuid NOT NULL CONSTRAINT fk_published_result_benchmark_id REFERENCES benchmark ON DELETE RESTRICT,
    source text NOT NULL,
    agent text NOT NULL,
    model text NOT NULL,
    observation text NOT NULL,
    domain text,
    difficulty text,
    measure text NOT NULL,
    value double precision NOT NULL,
    unit text DEFAULT '' NOT NULL,
    group_kind text DEFAULT '' NOT NULL,
    group_name text DEFAULT '' NOT NULL,
    n bigint,
    note text NOT NULL,
    reported_on text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL
);
CREATE INDEX ix_published_result_benchmark_id ON published_result (benchmark_id);

-- A task's difficulty and a person's time, imported as CSV. Holds for every version of the benchmark's tasks.
CREATE TABLE task_label (
    id uuid CONSTRAINT pk_task_label PRIMARY KEY,
    benchmark_id uuid NOT NULL CONSTRAINT fk_task_label_benchmark_id REFERENCES benchmark ON DELETE RESTRICT,
    domain text NOT NULL,
    name text NOT NULL,
    difficulty text,
    difficulty_source text,
    human_seconds double precision,
    human_steps bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_task_label_benchmark_id_domain_name UNIQUE (benchmark_id, domain, name),
    CONSTRAINT ck_task_label_difficulty CHECK (difficulty IS NULL OR difficulty IN ('easy', 'medium', 'hard')),
    CONSTRAINT ck_task_label_difficulty_source CHECK (
        difficulty_source IS NULL OR difficulty_source IN ('author', 'human_time', 'human_rating',
        'paper_domain', 'empirical')
    )
);

-- One content-hashed version of a benchmark's tasks; never changed once made.
CREATE TABLE task_set (
    id uuid CONSTRAINT pk_task_set PRIMARY KEY,
    benchmark_id uuid NOT NULL CONSTRAINT fk_task_set_benchmark_id REFERENCES benchmark ON DELETE RESTRICT,
    content_hash text NOT NULL,
    version bigint NOT NULL,
    kind text NOT NULL,
    warnings jsonb NOT NULL,
    counts jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_task_set_benchmark_id_content_hash UNIQUE (benchmark_id, content_hash),
    CONSTRAINT uq_task_set_benchmark_id_version UNIQUE (benchmark_id, version)
);

-- One task. `spec` is the whole domain object; the other columns are what pages filter and count by.
CREATE TABLE task (
    id uuid CONSTRAINT pk_task PRIMARY KEY,
    task_set_id uuid NOT NULL CONSTRAINT fk_task_task_set_id REFERENCES task_set ON DELETE RESTRICT,
    domain text NOT NULL,
    name text NOT NULL,
    dialect text NOT NULL,
    instruction text NOT NULL,
    spec jsonb NOT NULL,
    content_hash text NOT NULL,
    difficulty text,
    difficulty_source text,
    level text,
    os text NOT NULL,
    feasible boolean NOT NULL,
    requires_judge boolean DEFAULT false NOT NULL,
    apps jsonb NOT NULL,
    requires jsonb NOT NULL,
    licences jsonb DEFAULT '{}' NOT NULL,
    human_seconds double precision,
    human_steps bigint,
    requirements_id uuid
        GENERATED ALWAYS AS (CAST(md5(os || chr(10) || CAST(requires AS text) || chr(10) || CAST(licences AS text)) AS uuid)) STORED,
    CONSTRAINT uq_task_task_set_id_domain_name UNIQUE (task_set_id, domain, name),
    CONSTRAINT ck_task_difficulty CHECK (difficulty IS NULL OR difficulty IN ('easy', 'medium', 'hard')),
    CONSTRAINT ck_task_difficulty_source CHECK (
        difficulty_source IS NULL OR difficulty_source IN ('author', 'human_time', 'human_rating',
        'paper_domain', 'empirical')
    ),
    CONSTRAINT ck_task_os CHECK (os IN ('linux', 'windows'))
);
CREATE INDEX ix_task_human_steps ON task (task_set_id) WHERE human_steps > 0;
CREATE INDEX ix_task_licensed ON task (id) WHERE licences <> '{}'::jsonb;

-- A file of a task set by the name that its steps use.
CREATE TABLE task_asset (
    task_set_id uuid NOT NULL CONSTRAINT fk_task_asset_task_set_id REFERENCES task_set ON DELETE RESTRICT,
    name text NOT NULL,
    sha256 text NOT NULL CONSTRAINT fk_task_asset_sha256 REFERENCES artifact (sha256) ON DELETE RESTRICT,
    CONSTRAINT pk_task_asset PRIMARY KEY (task_set_id, name)
);
CREATE INDEX ix_task_asset_sha256 ON task_asset (sha256);

-- Some of a task set's tasks under a name (`test_small`); `tasks` are their keys, `domain/name`.
CREATE TABLE task_selection (
    id uuid CONSTRAINT pk_task_selection PRIMARY KEY,
    task_set_id uuid NOT NULL CONSTRAINT fk_task_selection_task_set_id REFERENCES task_set ON DELETE RESTRICT,
    name text NOT NULL,
    tasks jsonb NOT NULL,
    CONSTRAINT uq_task_selection_task_set_id_name UNIQUE (task_set_id, name)
);

-- A task with one axis changed (context, language, detail, order, window); compared paired with its task.
CREATE TABLE task_variant (
    id uuid CONSTRAINT pk_task_variant PRIMARY KEY,
    task_id uuid NOT NULL CONSTRAINT fk_task_variant_task_id REFERENCES task ON DELETE RESTRICT,
    axis text NOT NULL,
    value text NOT NULL,
    spec jsonb NOT NULL,
    CONSTRAINT uq_task_variant_task_id_axis_value UNIQUE (task_id, axis, value)
);
