-- The folded words of a deal's name, of archived deals too. A prefix is a range of them.

-- +goose Up
CREATE TABLE deal_word (
    org_id  uuid NOT NULL,
    word    text COLLATE "C" NOT NULL,
    deal_id uuid NOT NULL,
    PRIMARY KEY (org_id, word, deal_id)
);
CALL tenant('deal_word');

-- Deals that exist: Postgres folds as Go does where it knows letters beyond ASCII. The next change of a name writes Go's
-- form. The owner may be no superuser, hence the lift of the row policies.
ALTER TABLE deal NO FORCE ROW LEVEL SECURITY;
ALTER TABLE deal_word NO FORCE ROW LEVEL SECURITY;
-- +goose StatementBegin
DO $$
DECLARE
    letters text := (SELECT quote_ident(collname) FROM pg_collation WHERE collname IN ('und-x-icu', 'pg_c_utf8', 'C.utf8', 'C')
        ORDER BY array_position(ARRAY['und-x-icu', 'pg_c_utf8', 'C.utf8', 'C'], collname::text) LIMIT 1);
BEGIN
    EXECUTE format('INSERT INTO deal_word (org_id, word, deal_id)
        SELECT DISTINCT d.org_id, w.word, d.id FROM deal d,
            regexp_split_to_table(normalize(lower(normalize(d.name, NFC) COLLATE %1$s), NFC) COLLATE %1$s, ''[^[:alnum:]]+'') AS w (word)
        WHERE w.word <> '''' AND octet_length(w.word) <= 40', letters);
END
$$;
-- +goose StatementEnd
ALTER TABLE deal FORCE ROW LEVEL SECURITY;
ALTER TABLE deal_word FORCE ROW LEVEL SECURITY;
