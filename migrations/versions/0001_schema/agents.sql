-- An agent with its parameters, as runs pin it. `human`: a person acts.
CREATE TABLE agent_configuration (
    id uuid CONSTRAINT pk_agent_configuration PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_agent_configuration_project_id REFERENCES project ON DELETE RESTRICT,
    name text NOT NULL,
    params jsonb NOT NULL,
    params_hash text NOT NULL,
    privileged boolean NOT NULL,
    human boolean DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_agent_configuration_project_id_name_params_hash UNIQUE (project_id, name, params_hash)
);
