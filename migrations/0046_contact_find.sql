-- What contacts are found by beside what stands in 0005: every text folded (NFC, lower case) and in an index, and the
-- values of custom fields as typed rows, so that a new field can be filtered by without anybody making an index.

-- +goose Up

-- The folded forms are written with their originals. words is what contact_word has of the contact, each with a blank
-- before it, for a look at a row that a list has come to by another way.
ALTER TABLE contact
    ADD COLUMN first_name_folded text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN phone_folded      text COLLATE "C",
    ADD COLUMN job_title_folded  text COLLATE "C",
    ADD COLUMN source_folded     text COLLATE "C",
    ADD COLUMN time_zone_folded  text COLLATE "C",
    ADD COLUMN words             text COLLATE "C" NOT NULL DEFAULT '';

-- One value of a custom field of one contact: exactly one of text, number and flag is there. A text is folded; a date
-- is a text, whose order is the calendar's. text holds at most 1,700 bytes, which an index entry has room for, and rest
-- what is beyond; a filter's value is shorter, so that text alone decides on it.
CREATE TABLE contact_attribute (
    org_id     uuid        NOT NULL,
    contact_id uuid        NOT NULL,
    key        text        COLLATE "C" NOT NULL,
    archived   boolean     NOT NULL DEFAULT false, -- as in contact_tag; so is created_at
    text       text        COLLATE "C",
    rest       text        COLLATE "C",
    number     float8,
    flag       boolean,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, contact_id, key)
);
CALL tenant('contact_attribute');

-- For those who have contacts: what Go folds, Postgres folds alike where it knows letters beyond ASCII; the next
-- edit of a contact writes Go's form. The owner may be no superuser, hence the lift of the row policies.
ALTER TABLE contact NO FORCE ROW LEVEL SECURITY;
ALTER TABLE contact_word NO FORCE ROW LEVEL SECURITY;
ALTER TABLE contact_field NO FORCE ROW LEVEL SECURITY;
ALTER TABLE contact_attribute NO FORCE ROW LEVEL SECURITY;

-- +goose StatementBegin
DO $$
DECLARE
    letters text := (SELECT quote_ident(collname) FROM pg_collation WHERE collname IN ('und-x-icu', 'pg_c_utf8', 'C.utf8', 'C')
        ORDER BY array_position(ARRAY['und-x-icu', 'pg_c_utf8', 'C.utf8', 'C'], collname::text) LIMIT 1);
BEGIN
    EXECUTE format('CREATE FUNCTION fold_once(s text) RETURNS text LANGUAGE sql IMMUTABLE AS
        $f$ SELECT normalize(lower(normalize(s, NFC) COLLATE %s), NFC) $f$', letters);
    -- The longest beginning of s that has at most 1,700 bytes and ends with a whole character.
    CREATE FUNCTION cut_once(s text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $f$
    DECLARE
        b bytea := convert_to(s, 'UTF8');
        n int := 1700;
    BEGIN
        IF length(b) <= n THEN
            RETURN s;
        END IF;
        WHILE get_byte(b, n) & 192 = 128 LOOP
            n := n - 1;
        END LOOP;
        RETURN convert_from(substring(b FROM 1 FOR n), 'UTF8');
    END
    $f$;
    UPDATE contact SET first_name_folded = fold_once(first_name), phone_folded = fold_once(phone), job_title_folded = fold_once(job_title),
        source_folded = fold_once(source), time_zone_folded = fold_once(time_zone);
    UPDATE contact c SET words = w.words
    FROM (SELECT org_id, contact_id, string_agg(' ' || word, '') AS words FROM contact_word GROUP BY org_id, contact_id) w
    WHERE w.org_id = c.org_id AND w.contact_id = c.id;
    INSERT INTO contact_attribute (org_id, contact_id, key, archived, text, rest, number, flag, created_at)
    SELECT c.org_id, c.id, a.key, c.archived_at IS NOT NULL, cut_once(t.folded), NULLIF(substr(t.folded, length(cut_once(t.folded)) + 1), ''),
        CASE WHEN jsonb_typeof(a.value) = 'number' THEN (a.value #>> '{}')::float8 END,
        CASE WHEN jsonb_typeof(a.value) = 'boolean' THEN (a.value #>> '{}')::boolean END, c.created_at
    FROM contact c, jsonb_each(c.attributes) a, LATERAL (SELECT CASE WHEN jsonb_typeof(a.value) = 'string' THEN fold_once(a.value #>> '{}') END AS folded) t
    WHERE c.attributes <> '{}';
    DROP FUNCTION fold_once(text), cut_once(text);
END
$$;
-- +goose StatementEnd

ALTER TABLE contact FORCE ROW LEVEL SECURITY;
ALTER TABLE contact_word FORCE ROW LEVEL SECURITY;
ALTER TABLE contact_field FORCE ROW LEVEL SECURITY;
ALTER TABLE contact_attribute FORCE ROW LEVEL SECURITY;

CREATE INDEX contact_first_name ON contact (org_id, first_name_folded, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX contact_phone ON contact (org_id, phone_folded, created_at, id) WHERE phone_folded IS NOT NULL AND archived_at IS NULL;
CREATE INDEX contact_job_title ON contact (org_id, job_title_folded, created_at, id) WHERE job_title_folded IS NOT NULL AND archived_at IS NULL;
CREATE INDEX contact_source ON contact (org_id, source_folded, created_at, id) WHERE source_folded IS NOT NULL AND archived_at IS NULL;
CREATE INDEX contact_time_zone ON contact (org_id, time_zone_folded, created_at, id) WHERE time_zone_folded IS NOT NULL AND archived_at IS NULL;
CREATE INDEX contact_updated ON contact (org_id, updated_at, id) WHERE archived_at IS NULL;

-- The order of contact_tag: the contacts with one value lie in the order of their creation.
CREATE INDEX contact_attribute_text ON contact_attribute (org_id, key, archived, text, created_at, contact_id) WHERE text IS NOT NULL;
CREATE INDEX contact_attribute_number ON contact_attribute (org_id, key, archived, number, created_at, contact_id) WHERE number IS NOT NULL;
CREATE INDEX contact_attribute_flag ON contact_attribute (org_id, key, archived, flag, created_at, contact_id) WHERE flag IS NOT NULL;
-- A value belongs to its key: without this the planner would take the two for independent.
CREATE STATISTICS contact_attribute_texts (mcv, dependencies) ON key, text FROM contact_attribute;
CREATE STATISTICS contact_attribute_flags (mcv) ON key, flag FROM contact_attribute;
