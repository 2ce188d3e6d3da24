-- Bytes in the artifact store. `last_stored_at` is the last time somebody stored them: collection counts from it.
CREATE TABLE artifact (
    sha256 text CONSTRAINT pk_artifact PRIMARY KEY,
    size bigint NOT NULL,
    media_type text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_stored_at timestamptz DEFAULT now() NOT NULL
);
