-- Domains that an org's mail comes from, with the keys that sign it.

-- +goose Up

CREATE TABLE sending_domain (
    org_id        uuid        NOT NULL,
    id            uuid        NOT NULL,
    domain        text        COLLATE "C" NOT NULL,     -- lower case, punycode
    status        text        NOT NULL CHECK (status IN ('pending', 'verified', 'failed')),
    spf           text        NOT NULL DEFAULT 'unknown', -- pass, missing, invalid (several) or unknown
    dmarc         text        NOT NULL DEFAULT 'unknown',
    failures      int         NOT NULL DEFAULT 0,       -- checks in a row that found no key
    created_at    timestamptz NOT NULL,
    verified_at   timestamptz,                          -- since when a key has been found
    checked_at    timestamptz,
    next_check_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX sending_domain_name ON sending_domain (org_id, domain);
CREATE INDEX sending_domain_due ON sending_domain (next_check_at);
CALL tenant('sending_domain');
CALL system('sending_domain', 'SELECT, UPDATE (next_check_at)');

-- The newest key whose record was found signs. An older one goes as soon as a newer one is found.
CREATE TABLE sending_key (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    domain_id  uuid        NOT NULL,
    selector   text        COLLATE "C" NOT NULL,
    sealed     bytea       NOT NULL,                    -- the private key, PKCS #8
    public_key text        NOT NULL,                    -- as the record has it
    found      boolean     NOT NULL DEFAULT false,      -- by the last check that got an answer
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX sending_key_domain ON sending_key (org_id, domain_id);
CALL tenant('sending_key');
CALL system('sending_key', 'SELECT, UPDATE');
