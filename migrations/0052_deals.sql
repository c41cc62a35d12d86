-- Pipelines with their stages, and deals.

-- +goose Up
CREATE TABLE pipeline (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    name        text        NOT NULL,
    is_default  boolean     NOT NULL DEFAULT false, -- where a deal goes that names no pipeline
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    archived_at timestamptz,
    edit        int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX pipeline_default ON pipeline (org_id) WHERE is_default;
CREATE INDEX pipeline_created ON pipeline (org_id, created_at, id);
CALL tenant('pipeline');
CALL system('pipeline', 'SELECT, INSERT');

CREATE TABLE pipeline_stage (
    org_id      uuid NOT NULL,
    id          uuid NOT NULL,
    pipeline_id uuid NOT NULL,
    place       int  NOT NULL, -- from 0, within its pipeline
    name        text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('open', 'won', 'lost')),
    probability int  NOT NULL CHECK (probability BETWEEN 0 AND 100),
    PRIMARY KEY (org_id, id),
    -- What a deal refers to: so no deal is in a stage of another pipeline, or of another kind than its status says, and no
    -- stage that has a deal goes away or changes its kind.
    UNIQUE (org_id, id, pipeline_id, kind)
);
CREATE INDEX pipeline_stage_place ON pipeline_stage (org_id, pipeline_id, place);
CALL tenant('pipeline_stage');
CALL system('pipeline_stage', 'INSERT');

-- default_pipeline(org): the pipeline that every org begins with.
-- +goose StatementBegin
CREATE FUNCTION default_pipeline(org uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    made uuid := uuidv7_at(clock_timestamp());
BEGIN
    INSERT INTO pipeline (org_id, id, name, is_default, created_at, updated_at) VALUES (org, made, 'Sales', true, now(), now());
    INSERT INTO pipeline_stage (org_id, id, pipeline_id, place, name, kind, probability)
    SELECT org, uuidv7_at(clock_timestamp()), made, place, name, kind, probability
    FROM (VALUES (0, 'Qualification', 'open', 10), (1, 'Proposal', 'open', 40), (2, 'Negotiation', 'open', 70), (3, 'Won', 'won', 100), (4, 'Lost', 'lost', 0))
        AS stage (place, name, kind, probability);
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION org_sells() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM default_pipeline(NEW.id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER org_sells AFTER INSERT ON org FOR EACH ROW EXECUTE FUNCTION org_sells();

-- As the system role, because the owner of the tables sees no rows of them.
SET LOCAL ROLE funnelwork_system;
SELECT default_pipeline(id) FROM org;
RESET ROLE;

CREATE TABLE deal (
    org_id            uuid        NOT NULL,
    id                uuid        NOT NULL,
    name              text        NOT NULL,
    contact_id        uuid,
    company_id        uuid,       -- any id: it resolves when the org has such a company
    pipeline_id       uuid        NOT NULL,
    stage_id          uuid        NOT NULL,
    status            text        COLLATE "C" NOT NULL, -- the kind of its stage
    open_stage_id     uuid,       -- the last open stage that it was in
    amount            bigint      NOT NULL, -- minor units
    currency          text        NOT NULL,
    lost_reason       text,
    expected_close_on date,
    expected_order    date        NOT NULL GENERATED ALWAYS AS (coalesce(expected_close_on, 'infinity'::date)) STORED, -- for the order: those without come last
    owner_id          uuid,
    closed_at         timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    archived_at       timestamptz,
    edit              int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CONSTRAINT deal_stage_kind FOREIGN KEY (org_id, stage_id, pipeline_id, status) REFERENCES pipeline_stage (org_id, id, pipeline_id, kind),
    CHECK ((closed_at IS NULL) = (status = 'open')),
    CHECK (lost_reason IS NULL OR status = 'lost')
);
CREATE INDEX deal_created ON deal (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX deal_amount ON deal (org_id, amount, id) WHERE archived_at IS NULL;
CREATE INDEX deal_expected ON deal (org_id, expected_order, id) WHERE archived_at IS NULL;
CREATE INDEX deal_closed ON deal (org_id, closed_at, id) WHERE closed_at IS NOT NULL AND archived_at IS NULL;
CREATE INDEX deal_pipeline ON deal (org_id, pipeline_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX deal_status ON deal (org_id, status, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX deal_owner ON deal (org_id, owner_id, created_at, id) WHERE owner_id IS NOT NULL AND archived_at IS NULL;
-- These three also of archived deals: a stage, a contact and a company are asked for all of theirs.
CREATE INDEX deal_stage ON deal (org_id, stage_id, created_at, id);
CREATE INDEX deal_contact ON deal (org_id, contact_id, created_at, id) WHERE contact_id IS NOT NULL;
CREATE INDEX deal_company ON deal (org_id, company_id, created_at, id) WHERE company_id IS NOT NULL;
CREATE INDEX deal_archived ON deal (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX deal_archived_amount ON deal (org_id, amount, id) WHERE archived_at IS NOT NULL;
CREATE INDEX deal_archived_expected ON deal (org_id, expected_order, id) WHERE archived_at IS NOT NULL;
CALL tenant('deal');
