-- Scoring models that orgs have learned, which of them scores, and what contacts looked like when their deals began.

-- +goose Up

CREATE TABLE score_model (
    org_id      uuid        NOT NULL,
    number      int         NOT NULL, -- its version is v1, v2, ...
    created_at  timestamptz NOT NULL,
    promoted_at timestamptz,          -- NULL: it foretold worse than the one in use, and has never scored
    learned_to  timestamptz NOT NULL, -- the last snapshot that it has seen
    outcomes    int         NOT NULL,
    model       json        NOT NULL,
    report      json        NOT NULL,
    PRIMARY KEY (org_id, number)
);
CALL tenant('score_model');

-- The one in use. No row, or number 0: the shipped prior.
CREATE TABLE score_current (
    org_id     uuid        NOT NULL PRIMARY KEY,
    number     int         NOT NULL DEFAULT 0,
    trained    int         NOT NULL DEFAULT 0, -- outcomes at the last training, whatever came of it
    trained_at timestamptz
);
CALL tenant('score_current');
-- The night's look for orgs with news.
CALL system('score_current', 'SELECT');
CALL system('deal', 'SELECT');

-- What the scorer would have seen of a deal's contact when the deal was made: what is learned from never changes
-- afterwards. stage, email, job_title, source, tags, company, phone, owner, attributes.
CREATE TABLE score_snapshot (
    org_id     uuid        NOT NULL,
    deal_id    uuid        NOT NULL,
    contact_id uuid        NOT NULL,
    at         timestamptz NOT NULL, -- the deal's created_at, which history may have set
    seen       jsonb       NOT NULL,
    PRIMARY KEY (org_id, deal_id)
);
CREATE INDEX score_snapshot_contact ON score_snapshot (org_id, contact_id);
CREATE INDEX score_snapshot_at ON score_snapshot (org_id, at, deal_id);
CALL tenant('score_snapshot');

-- A deal that gets its contact later is seen then. The first look counts.
-- +goose StatementBegin
CREATE FUNCTION score_snapshots() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO score_snapshot (org_id, deal_id, contact_id, at, seen)
    SELECT d.org_id, d.id, c.id, d.created_at, jsonb_build_object('stage', c.stage, 'email', c.email, 'job_title', c.job_title, 'source', c.source,
        'tags', c.tags, 'company', c.company_id IS NOT NULL, 'phone', c.phone IS NOT NULL, 'owner', c.owner_id IS NOT NULL, 'attributes', c.attributes)
    FROM made d JOIN contact c ON c.org_id = d.org_id AND c.id = d.contact_id
    ON CONFLICT (org_id, deal_id) DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER score_snapshot_come AFTER INSERT ON deal REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION score_snapshots();
CREATE TRIGGER score_snapshot_later AFTER UPDATE ON deal REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION score_snapshots();
