-- A project; there is always the one called `default`.
CREATE TABLE project (
    id uuid CONSTRAINT pk_project PRIMARY KEY,
    name text NOT NULL CONSTRAINT uq_project_name UNIQUE,
    weight double precision DEFAULT 1 NOT NULL,
    quota jsonb DEFAULT '{}' NOT NULL,
    reserved jsonb DEFAULT '{}' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_project_weight CHECK (weight > 0)
);

-- A person or program that acts in a project.
CREATE TABLE actor (
    id uuid CONSTRAINT pk_actor PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_actor_project_id REFERENCES project ON DELETE RESTRICT,
    name text NOT NULL,
    kind text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_actor_id_kind UNIQUE (id, kind),
    CONSTRAINT uq_actor_project_id_name UNIQUE (project_id, name),
    CONSTRAINT ck_actor_kind CHECK (kind IN ('person', 'program', 'system'))
);
