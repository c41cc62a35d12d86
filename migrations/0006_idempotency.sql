-- Idempotency records: written in the transaction of the effect, kept 24 hours.

-- +goose Up
CREATE TABLE idempotency_key (
    org_id      uuid        NOT NULL,
    key         text        NOT NULL,
    fingerprint bytea       NOT NULL, -- SHA-256 of principal, method, path and body
    answer      bytea       NOT NULL, -- the answer's fields as JSON; encrypted where it bears a secret
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);
CALL tenant('idempotency_key');
CALL system('idempotency_key', 'SELECT, DELETE');
