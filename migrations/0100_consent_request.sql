-- How often a contact was asked for its consent in the 24 hours from since on: the mails of a double opt-in are limited.

-- +goose Up

CREATE TABLE consent_request (
    org_id     uuid        NOT NULL,
    contact_id uuid        NOT NULL,
    requests   int         NOT NULL DEFAULT 1,
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, contact_id)
);
CREATE INDEX consent_request_age ON consent_request (since);
CALL tenant('consent_request');
CALL system('consent_request', 'SELECT, DELETE');
