-- Links of tracked emails, and what was opened and followed.

-- +goose Up

-- email_link: where the links of an email lead. A link carries its number, never its target.
CREATE TABLE email_link (
    org_id   uuid     NOT NULL,
    email_id uuid     NOT NULL,
    n        smallint NOT NULL, -- from 1, in the order of the mail
    url      text     NOT NULL, -- http or https
    PRIMARY KEY (org_id, email_id, n)
);
CALL tenant('email_link');

-- email_hit: requests for pixels and links of the last minutes, which tracking.judge tells people from machines by.
CREATE TABLE email_hit (
    org_id   uuid        NOT NULL,
    id       uuid        NOT NULL,
    email_id uuid        NOT NULL,
    link     smallint    NOT NULL, -- -1: the pixel; 0: the link that people do not see
    at       timestamptz NOT NULL,
    signs    int         NOT NULL, -- of a machine, seen in the request itself: bits of internal/tracking/signs.go
    net      bytea       NOT NULL, -- HMAC of the client's network; the address is not kept
    judged   boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX email_hit_email ON email_hit (org_id, email_id, at);
CREATE INDEX email_hit_open ON email_hit (org_id, at) WHERE NOT judged;
CREATE INDEX email_hit_old ON email_hit (at) WHERE judged;
CALL tenant('email_hit');
CALL system('email_hit', 'SELECT, INSERT, DELETE');

-- email_fact: what became of emails, for statistics and scores at a point in time.
CREATE TABLE email_fact (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL, -- of the hit
    email_id   uuid        NOT NULL,
    contact_id uuid,                 -- NULL: the contact was purged
    kind       text        COLLATE "C" NOT NULL CHECK (kind IN ('opened', 'clicked')),
    link       smallint,             -- of a click
    machine    boolean     NOT NULL,
    why        text[]      NOT NULL, -- signs of a machine
    at         timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX email_fact_email ON email_fact (org_id, email_id, at);
CREATE INDEX email_fact_contact ON email_fact (org_id, contact_id, at) WHERE contact_id IS NOT NULL;
CALL tenant('email_fact');
CALL system('email_fact', 'SELECT');
