-- Leases take their fencing tokens from here: each is larger than all before it.
CREATE SEQUENCE fencing_token;

-- A machine with slots: a worker's own (`cluster` is empty), or one of a cluster that workers serve.
CREATE TABLE node (
    id uuid CONSTRAINT pk_node PRIMARY KEY,
    cluster text DEFAULT '' NOT NULL,
    name text NOT NULL,
    labels jsonb NOT NULL,
    capacity jsonb DEFAULT '{}' NOT NULL,
    state text NOT NULL,
    reason text DEFAULT '' NOT NULL,
    last_seen_at timestamptz DEFAULT now() NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_node_cluster_name UNIQUE (cluster, name),
    CONSTRAINT ck_node_state CHECK (state IN ('ready', 'draining', 'unready', 'lost', 'gone'))
);

-- The right to run one desktop of one provider on one node.
CREATE TABLE slot (
    id uuid CONSTRAINT pk_slot PRIMARY KEY,
    node_id uuid NOT NULL CONSTRAINT fk_slot_node_id REFERENCES node ON DELETE RESTRICT,
    provider text NOT NULL,
    index bigint NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT uq_slot_node_id_provider_index UNIQUE (node_id, provider, index),
    CONSTRAINT ck_slot_state CHECK (state IN ('free', 'broken', 'draining'))
);

-- A worker process and what it said it can do. `pid` counts in `host`: machine and pid namespace.
CREATE TABLE worker (
    id uuid CONSTRAINT pk_worker PRIMARY KEY,
    name text NOT NULL,
    node_id uuid NOT NULL CONSTRAINT fk_worker_node_id REFERENCES node ON DELETE RESTRICT,
    pid bigint NOT NULL,
    host text NOT NULL,
    version text NOT NULL,
    state text NOT NULL,
    capabilities jsonb NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    heartbeat_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_worker_state CHECK (state IN ('online', 'offline', 'draining'))
);
CREATE INDEX ix_worker_host ON worker (host);

-- A worker's fenced hold on a slot; live until released. Every lease has a larger token than all before it.
CREATE TABLE lease (
    id uuid CONSTRAINT pk_lease PRIMARY KEY,
    slot_id uuid NOT NULL CONSTRAINT fk_lease_slot_id REFERENCES slot ON DELETE RESTRICT,
    worker_id uuid NOT NULL CONSTRAINT fk_lease_worker_id REFERENCES worker ON DELETE RESTRICT,
    fencing_token bigint DEFAULT nextval('fencing_token') NOT NULL CONSTRAINT uq_lease_fencing_token UNIQUE,
    acquired_at timestamptz DEFAULT now() NOT NULL,
    heartbeat_at timestamptz DEFAULT now() NOT NULL,
    released_at timestamptz,
    wait_reason text DEFAULT '' NOT NULL,
    release_reason text NOT NULL
);
CREATE INDEX ix_lease_wait_reason ON lease (id) WHERE released_at IS NULL AND wait_reason <> '';
CREATE INDEX ix_lease_worker_live ON lease (worker_id) WHERE released_at IS NULL;
CREATE UNIQUE INDEX uq_lease_live ON lease (slot_id) WHERE released_at IS NULL;

-- A named licence with its seats. Who holds one is counted from live leases and stored nowhere.
CREATE TABLE licence (
    id uuid CONSTRAINT pk_licence PRIMARY KEY,
    name text NOT NULL CONSTRAINT uq_licence_name UNIQUE,
    seats bigint NOT NULL,
    actor_id uuid NOT NULL CONSTRAINT fk_licence_actor_id REFERENCES actor ON DELETE RESTRICT,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_licence_seats CHECK (seats >= 0)
);
