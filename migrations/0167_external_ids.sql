-- The ids that records have in other systems, for finding a record by one. The ids themselves are in the rows of the
-- records, in the column external_ids; triggers keep this table in line with them, whichever version writes.

-- +goose Up

CREATE TABLE external_id (
    org_id    uuid    NOT NULL,
    kind      text    COLLATE "C" NOT NULL CHECK (kind IN ('contact', 'company', 'deal', 'note', 'task')),
    system    text    COLLATE "C" NOT NULL,
    value     text    COLLATE "C" NOT NULL,
    record_id uuid    NOT NULL,
    archived  boolean NOT NULL, -- as the record is: its ids are free for others then
    PRIMARY KEY (org_id, kind, system, value, record_id)
);
CREATE UNIQUE INDEX external_id_live ON external_id (org_id, kind, system, value) INCLUDE (record_id) WHERE NOT archived;
CALL tenant('external_id');
CALL system('external_id', 'SELECT, INSERT, DELETE');
SELECT expect_rows_of_orgs('external_id');

-- external_ids_kept(kind): a row was added, changed or deleted. The settings are for plans by keys, whatever the
-- statistics say.
-- +goose StatementBegin
CREATE FUNCTION external_ids_kept() RETURNS trigger LANGUAGE plpgsql
SET jit = off SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM external_id e USING jsonb_each_text(OLD.external_ids) AS o
        WHERE e.org_id = OLD.org_id AND e.kind = TG_ARGV[0] AND e.system = o.key AND e.value = o.value
            AND e.record_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO external_id (org_id, kind, system, value, record_id, archived)
        SELECT NEW.org_id, TG_ARGV[0], n.key, n.value, NEW.id, NEW.archived_at IS NOT NULL
        FROM jsonb_each_text(NEW.external_ids) AS n ORDER BY n.key COLLATE "C";
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
