-- A delivery's first success changes no indexed column, so that it updates the row in place (HOT) and writes no index
-- entries. The migration rewrites the deliveries of the last 31 days.

-- +goose Up

-- indexed_status is '' for a delivered delivery, and for an event's own delivery that waits for its first attempt: such
-- a delivery is found by its job, which has its id.
ALTER TABLE webhook_delivery
    ADD COLUMN indexed_status text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN status = 'delivered' OR status = 'pending' AND trigger = 'event' THEN '' ELSE status END) STORED;
DROP INDEX webhook_delivery_status, webhook_delivery_replay;
CREATE INDEX webhook_delivery_status ON webhook_delivery (org_id, endpoint_id, indexed_status, id);
CREATE INDEX webhook_delivery_replay ON webhook_delivery (org_id, replay_id, indexed_status)
    WHERE replay_id IS NOT NULL;
-- Of indexes that cost the same, as those of a new day do, the planner takes the one that was made last.
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_pkey, ADD PRIMARY KEY (org_id, id);

-- A delivery's row grows to three times its size when its attempt is kept in it.
ALTER TABLE partitioned ADD COLUMN filled int NOT NULL DEFAULT 100; -- fillfactor of new partitions
UPDATE partitioned SET filled = 30 WHERE name = 'webhook_delivery';

-- +goose StatementBegin
DO $$
DECLARE
    child regclass;
BEGIN
    FOR child IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'webhook_delivery'::regclass LOOP
        EXECUTE format('ALTER TABLE %s SET (fillfactor = 30)', child);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- make_partitions(days) as before, with the fill factor, and without writing generated columns.
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
