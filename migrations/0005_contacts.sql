-- Contacts, what they are found by, and what the scorer says about them.
--
-- Under a row policy only leakproof operators use an index (uuid, text, timestamptz, float8, bool: = < >). So
-- addresses and names are stored folded beside the original, tags, segments and search words are rows of their
-- own, and nothing here relies on GIN, LIKE or lower().

-- +goose Up

-- refuse(what, about): ends the transaction with SQLSTATE FW001. What a write may not do is asked in the batch of the
-- write itself, whose commit is already on its way when the client reads the answers.
-- +goose StatementBegin
CREATE FUNCTION refuse(what text, about text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'FW001', MESSAGE = what, DETAIL = about;
END
$$;
-- +goose StatementEnd

CREATE TABLE contact (
    org_id           uuid        NOT NULL,
    id               uuid        NOT NULL,
    email            text        NOT NULL,
    email_folded     text        COLLATE "C" NOT NULL, -- NFC, lower case: what addresses are compared by
    first_name       text        NOT NULL,
    last_name        text        NOT NULL,
    last_name_folded text        COLLATE "C" NOT NULL, -- what last_name is sorted by
    phone            text,
    job_title        text,
    source           text,
    time_zone        text,
    company_id       uuid,       -- any id: it resolves when the org has such a company
    stage            text        COLLATE "C" NOT NULL,
    tags             text[]      NOT NULL DEFAULT '{}', -- for reading; contact_tag is for finding
    attributes       jsonb       NOT NULL DEFAULT '{}',
    owner_id         uuid,
    created_at       timestamptz NOT NULL, -- never changes: contact_tag carries it
    updated_at       timestamptz NOT NULL,
    archived_at      timestamptz,
    edit             int         NOT NULL DEFAULT 1, -- the ETag's first part
    PRIMARY KEY (org_id, id)
);
-- One live contact per address; also the order of sort=email.
CREATE UNIQUE INDEX contact_email ON contact (org_id, email_folded) WHERE archived_at IS NULL;
CREATE INDEX contact_created ON contact (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX contact_last_name ON contact (org_id, last_name_folded, id) WHERE archived_at IS NULL;
CREATE INDEX contact_stage ON contact (org_id, stage, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX contact_company ON contact (org_id, company_id, created_at, id) WHERE company_id IS NOT NULL AND archived_at IS NULL;
CREATE INDEX contact_owner ON contact (org_id, owner_id, created_at, id) WHERE owner_id IS NOT NULL AND archived_at IS NULL;
-- The archived ones cost a live contact nothing.
CREATE INDEX contact_archived_created ON contact (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX contact_archived_email ON contact (org_id, email_folded, id) WHERE archived_at IS NOT NULL;
CREATE INDEX contact_archived_last_name ON contact (org_id, last_name_folded, id) WHERE archived_at IS NOT NULL;
CALL tenant('contact');

-- What jobs recompute, beside the wide row: a rescore touches no index of contact and never its updated_at.
CREATE TABLE contact_score (
    org_id      uuid        NOT NULL,
    contact_id  uuid        NOT NULL,
    score       float8      NOT NULL, -- 100 x probability, two decimals
    probability float8      NOT NULL,
    version     text        NOT NULL, -- of the model
    confidence  text        NOT NULL CHECK (confidence IN ('prior', 'learning', 'learned')),
    announced   float8      NOT NULL, -- the score that contact.created or the last contact.score_changed told
    archived    boolean     NOT NULL DEFAULT false, -- as in contact, so that one index serves the order by score
    segments    text[]      NOT NULL DEFAULT '{}',  -- keys, for reading; segment_member is for finding
    computed    int         NOT NULL DEFAULT 0,     -- the ETag's second part: moved by jobs alone
    scored_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, contact_id)
) WITH (fillfactor = 80);
CREATE INDEX contact_score_rank ON contact_score (org_id, archived, score, contact_id);
CALL tenant('contact_score');

-- Each value that the scoring job settled on, once.
CREATE TABLE score_history (
    org_id      uuid        NOT NULL,
    contact_id  uuid        NOT NULL,
    recorded_at timestamptz NOT NULL,
    score       float8      NOT NULL,
    probability float8      NOT NULL,
    version     text        NOT NULL,
    PRIMARY KEY (org_id, contact_id, recorded_at)
);
CALL tenant('score_history');

-- created_at is the contact's, so that a tag's contacts come in the list's order without a sort.
CREATE TABLE contact_tag (
    org_id     uuid        NOT NULL,
    tag        text        COLLATE "C" NOT NULL,
    archived   boolean     NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    contact_id uuid        NOT NULL,
    PRIMARY KEY (org_id, tag, archived, created_at, contact_id)
);
CALL tenant('contact_tag');

-- A segment's key is its name on the wire and never changes. Dynamic ones are a filter that a job keeps current.
CREATE TABLE segment (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    key        text        COLLATE "C" NOT NULL,
    name       text        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('static', 'dynamic')),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX segment_key ON segment (org_id, key);
CALL tenant('segment');

CREATE TABLE segment_member (
    org_id     uuid        NOT NULL,
    segment_id uuid        NOT NULL,
    archived   boolean     NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL, -- the contact's, as in contact_tag
    contact_id uuid        NOT NULL,
    PRIMARY KEY (org_id, segment_id, archived, created_at, contact_id)
);
CALL tenant('segment_member');

-- The definitions of custom fields; their values are contact.attributes.
CREATE TABLE contact_field (
    org_id      uuid        NOT NULL,
    key         text        COLLATE "C" NOT NULL,
    label       text        NOT NULL,
    type        text        NOT NULL CHECK (type IN ('string', 'number', 'boolean', 'date')),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    archived_at timestamptz, -- an archived key has no values and may be defined anew, with another type
    edit        int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, key)
);
CALL tenant('contact_field');

-- The folded words of name and address. A prefix is a range of them, which a btree in byte order answers.
CREATE TABLE contact_word (
    org_id     uuid NOT NULL,
    word       text COLLATE "C" NOT NULL,
    contact_id uuid NOT NULL,
    PRIMARY KEY (org_id, word, contact_id)
);
CALL tenant('contact_word');
