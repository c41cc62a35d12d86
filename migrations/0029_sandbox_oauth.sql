-- The OAuth sandbox: codes, logins and tokens of the providers that stand in where no client id is set. Nothing of the
-- product reads it; it speaks with the sandbox as with a provider. Bodies are sealed, since they hold tokens, and ids
-- of codes and tokens are hashes.

-- +goose Up
CREATE TABLE sandbox_oauth (
    kind text   NOT NULL,
    id   text   NOT NULL,
    seq  bigint GENERATED ALWAYS AS IDENTITY,
    body bytea  NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX sandbox_oauth_newest ON sandbox_oauth (kind, seq);
GRANT SELECT, INSERT, UPDATE, DELETE ON sandbox_oauth TO funnelwork_system;
