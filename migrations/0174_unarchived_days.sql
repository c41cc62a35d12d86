-- Days that are not archived: where there is an archive, its run leaves them, and the days that have had their time are
-- dropped.

-- +goose Up

-- drop_unarchived(): as drop_partitions(), of the tables that are not archived.
-- +goose StatementBegin
CREATE FUNCTION drop_unarchived() RETURNS int LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    c record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('funnelwork.partitions'));
    FOR c IN SELECT name, keep_days FROM partitioned WHERE NOT archived LOOP
        IF to_regclass(c.name || '_default') IS NOT NULL THEN
            EXECUTE format('DELETE FROM %I WHERE id < %L', c.name || '_default', uuid_floor(now() - make_interval(days => c.keep_days)));
        END IF;
    END LOOP;
    FOR c IN
        SELECT child.relname
        FROM partitioned p
        JOIN pg_class parent ON parent.relname = p.name AND parent.relnamespace = 'public'::regnamespace
        JOIN pg_inherits i ON i.inhparent = parent.oid
        JOIN pg_class child ON child.oid = i.inhrelid
        WHERE NOT p.archived AND child.relname ~ ('^' || p.name || '_[0-9]{8}$')
          AND to_date(right(child.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - p.keep_days
        ORDER BY right(child.relname, 8), child.relname
        LIMIT 1
    LOOP
        EXECUTE format('DROP TABLE %I', c.relname);
        RETURN 1;
    END LOOP;
    RETURN 0;
END
$$;
-- +goose StatementEnd

-- detach_days() as before, of the tables that are archived.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION detach_days() RETURNS int LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    detached int := 0;
    c        record;
    strays   boolean;
    moment   text;
    taken    text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('funnelwork.partitions'));
    FOR c IN
        SELECT child.relname AS name, p.name AS parent, to_date(right(child.relname, 8), 'YYYYMMDD') AS day
        FROM partitioned p
        JOIN pg_class parent ON parent.relname = p.name AND parent.relnamespace = 'public'::regnamespace
        JOIN pg_inherits i ON i.inhparent = parent.oid
        JOIN pg_class child ON child.oid = i.inhrelid
        WHERE p.archived AND child.relname ~ ('^' || p.name || '_[0-9]{8}$')
          AND to_date(right(child.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - p.keep_days
        ORDER BY day, parent
        LIMIT 1
    LOOP
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', c.parent, c.name);
        EXECUTE format('GRANT SELECT ON %I TO funnelwork_system', c.name);
        INSERT INTO archive_day (name, folder) VALUES (c.name, c.parent || '/' || to_char(c.day, 'YYYY-MM-DD'));
        RETURN 1;
    END LOOP;
    FOR c IN
        SELECT name AS parent, name || '_default' AS rest, uuid_floor(now() - make_interval(days => keep_days)) AS bound
        FROM partitioned WHERE archived
    LOOP
        CONTINUE WHEN to_regclass(c.rest) IS NULL;
        EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE id < %L)', c.rest, c.bound) INTO strays;
        CONTINUE WHEN NOT strays;
        moment := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISSUS');
        taken := c.parent || '_strays_' || moment;
        EXECUTE format('LOCK TABLE %I IN EXCLUSIVE MODE', c.rest); -- what is copied is what is deleted
        EXECUTE format('CREATE TABLE %I AS SELECT * FROM %I WHERE id < %L', taken, c.rest, c.bound);
        EXECUTE format('DELETE FROM %I WHERE id < %L', c.rest, c.bound);
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (org_id, id)', taken);
        EXECUTE format('GRANT SELECT ON %I TO funnelwork_system', taken);
        INSERT INTO archive_day (name, folder) VALUES (taken, c.parent || '/strays-' || moment);
        detached := detached + 1;
    END LOOP;
    RETURN detached;
END
$$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION drop_unarchived() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_unarchived() TO funnelwork_system;
