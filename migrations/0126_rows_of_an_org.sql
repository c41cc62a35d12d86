-- Postgres expects many rows of each org. ANALYZE estimates the distinct orgs of a table; if there are thousands, the
-- planner expects one row of an org that it does not know, and for one row an index that only starts with org_id costs as
-- little as the primary key. A look-up by key then reads the whole of an org that has grown since. With 100 distinct
-- orgs such an org has a hundredth of the table: look-ups use their keys, and pages walk an index in their order. The
-- statistics know large orgs by name, so an estimate is wrong only for small ones, where it costs little.

-- +goose Up

-- expect_rows_of_orgs(table): sets the estimate of the distinct orgs. It counts from the table's next ANALYZE on.
-- +goose StatementBegin
CREATE FUNCTION expect_rows_of_orgs(rel regclass) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ALTER COLUMN org_id SET (n_distinct = 100)', rel);
    IF (SELECT relkind = 'p' FROM pg_class WHERE oid = rel) THEN
        EXECUTE format('ALTER TABLE %s ALTER COLUMN org_id SET (n_distinct_inherited = 100)', rel);
    END IF;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION expect_rows_of_orgs(regclass) FROM PUBLIC;

-- Where org_id is the first of several columns of a key or an index; it alone is a key that needs no estimate.
SELECT expect_rows_of_orgs(c.oid)
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
  AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indnkeyatts > 1);

-- make_partitions(days) as before, with the estimate.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION make_partitions(days int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made int := 0;
    p record;
    d date;
    child text;
    first uuid;
    next uuid;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('funnelwork.partitions'));
    FOR p IN SELECT name, filled,
            (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = name::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
        FROM partitioned LOOP
        FOR d IN SELECT g::date FROM generate_series((now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + days, interval '1 day') g LOOP
            child := p.name || '_' || to_char(d, 'YYYYMMDD');
            IF to_regclass(child) IS NULL THEN
                first := uuid_floor(d::timestamp AT TIME ZONE 'UTC');
                next := uuid_floor((d + 1)::timestamp AT TIME ZONE 'UTC');
                EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) WITH (fillfactor = %s)', child, p.name, p.filled);
                PERFORM expect_rows_of_orgs(child::regclass);
                IF to_regclass(p.name || '_default') IS NOT NULL THEN
                    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE id >= %L AND id < %L RETURNING %s) INSERT INTO %I (%s) SELECT * FROM moved',
                        p.name || '_default', first, next, p.columns, child, p.columns);
                END IF;
                EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', p.name, child, first, next);
                made := made + 1;
            END IF;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
