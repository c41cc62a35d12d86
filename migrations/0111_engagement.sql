-- What contacts do with emails, as the scorer sees it: human clicks and replies, which fade.

-- +goose Up

-- A person's reply is a fact, too; its id is the message's.
ALTER TABLE email_fact DROP CONSTRAINT email_fact_kind_check,
    ADD CONSTRAINT email_fact_kind_check CHECK (kind IN ('opened', 'clicked', 'replied'));
INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, machine, why, at)
SELECT m.org_id, m.id, m.email_id, e.contact_id, 'replied', false, '{}', m.received_at
FROM message m JOIN email e ON e.org_id = m.org_id AND e.id = m.email_id
WHERE m.class = 'human' AND NOT m.own
ON CONFLICT DO NOTHING;

-- engagement(org, contact, upto): the human clicks of a contact before a moment, and its replies, each counted as
-- 2^(-age / half-life) with half-lives of 7, 30 and 90 days: clicks_7d, clicks_30d, clicks_90d, replies_7d,
-- replies_30d, replies_90d. NULL: none. Facts that are two years old count for nothing.
CREATE FUNCTION engagement(org uuid, contact uuid, upto timestamptz) RETURNS TABLE (sums float8[])
LANGUAGE sql STABLE AS $$
SELECT CASE WHEN count(*) > 0 THEN ARRAY[
    sum(x.click * power(0.5, x.days / 7)), sum(x.click * power(0.5, x.days / 30)),
    sum(x.click * power(0.5, x.days / 90)),
    sum(x.reply * power(0.5, x.days / 7)), sum(x.reply * power(0.5, x.days / 30)),
    sum(x.reply * power(0.5, x.days / 90))
] END
FROM (
    SELECT (f.kind = 'clicked')::int AS click, (f.kind = 'replied')::int AS reply,
        extract(epoch FROM upto - f.at)::float8 / 86400 AS days
    FROM email_fact f
    WHERE f.org_id = org AND f.contact_id = contact AND f.at < upto AND f.at > upto - interval '2 years'
        AND (f.kind = 'replied' OR f.kind = 'clicked' AND NOT f.machine)) AS x
$$;

-- engagement: the sums as the score in this row has seen them; NULL: none.
-- fades_at: when one of them falls to a lower level, so that the contact is to be scored again.
ALTER TABLE contact_score ADD COLUMN engagement float8[], ADD COLUMN fades_at timestamptz;
CREATE INDEX contact_score_fades ON contact_score (fades_at, org_id) WHERE fades_at IS NOT NULL AND NOT archived;
CALL system('contact_score', 'SELECT');

-- A snapshot has the engagement before the deal. Facts that come later, or become known later, change no snapshot.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION score_snapshots() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO score_snapshot (org_id, deal_id, contact_id, at, seen)
    SELECT d.org_id, d.id, c.id, d.created_at, jsonb_build_object('stage', c.stage, 'email', c.email, 'job_title', c.job_title, 'source', c.source,
        'tags', c.tags, 'company', c.company_id IS NOT NULL, 'phone', c.phone IS NOT NULL, 'owner', c.owner_id IS NOT NULL, 'attributes', c.attributes,
        'engagement', (SELECT g.sums FROM engagement(d.org_id, c.id, d.created_at) g))
    FROM made d JOIN contact c ON c.org_id = d.org_id AND c.id = d.contact_id
    ON CONFLICT (org_id, deal_id) DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
