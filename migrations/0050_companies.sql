-- Companies, and the words that they are found by.

-- +goose Up
CREATE TABLE company (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    name        text        NOT NULL,
    name_folded text        COLLATE "C" NOT NULL, -- what names are compared and sorted by
    domain      text        COLLATE "C",          -- lower case, in its ASCII form
    website     text,
    industry    text,
    size        text,
    phone       text,
    owner_id    uuid,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    archived_at timestamptz,
    edit        int         NOT NULL DEFAULT 1, -- the ETag's first part
    PRIMARY KEY (org_id, id)
);
-- One live company per domain.
CREATE UNIQUE INDEX company_domain ON company (org_id, domain) WHERE domain IS NOT NULL AND archived_at IS NULL;
CREATE INDEX company_created ON company (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX company_name ON company (org_id, name_folded, id) WHERE archived_at IS NULL;
CREATE INDEX company_owner ON company (org_id, owner_id, created_at, id) WHERE owner_id IS NOT NULL AND archived_at IS NULL;
CREATE INDEX company_archived_created ON company (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX company_archived_name ON company (org_id, name_folded, id) WHERE archived_at IS NOT NULL;
CALL tenant('company');

-- The folded words of name and domain, of archived companies too. A prefix is a range of them.
CREATE TABLE company_word (
    org_id     uuid NOT NULL,
    word       text COLLATE "C" NOT NULL,
    company_id uuid NOT NULL,
    PRIMARY KEY (org_id, word, company_id)
);
CALL tenant('company_word');
