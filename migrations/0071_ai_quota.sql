-- What an org has used of its monthly tokens, and what is reserved for calls that are under way.

-- +goose Up

-- used = sum of charged of the period's reservations that have ended, reserved = sum of estimate of those that have not.
CREATE TABLE ai_quota (
    org_id   uuid   NOT NULL,
    period   date   NOT NULL, -- the first day of the month, UTC
    used     bigint NOT NULL DEFAULT 0,
    reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    PRIMARY KEY (org_id, period)
) WITH (fillfactor = 50);
CALL tenant('ai_quota');

CREATE TABLE ai_reservation (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    period     date        NOT NULL,
    operation  text        NOT NULL, -- draft_email, summarize_contact, ...
    estimate   bigint      NOT NULL, -- the prompt's tokens and the most that may be answered
    charged    bigint,               -- what was charged; NULL while it is open
    -- open: the call is under way. swept: nobody came back, and the estimate was charged. settled: the usage is known.
    state      text        NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'swept', 'settled')),
    request_id text        NOT NULL DEFAULT '',
    client_key text, -- the caller's Idempotency-Key: a twin finds the call under way
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL, -- when nobody will come back any more
    PRIMARY KEY (org_id, id),
    CHECK ((state = 'open') = (charged IS NULL))
);
CREATE INDEX ai_reservation_open ON ai_reservation (expires_at) WHERE state = 'open';
CREATE UNIQUE INDEX ai_reservation_twin ON ai_reservation (org_id, client_key) WHERE state = 'open' AND client_key IS NOT NULL;
CREATE INDEX ai_reservation_period ON ai_reservation (org_id, period, operation);
CALL tenant('ai_reservation');
CALL system('ai_reservation', 'SELECT');
