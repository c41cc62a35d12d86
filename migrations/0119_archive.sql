-- The archive: a day that has had its time leaves its table, is written to an object store, counted there, and dropped.

-- +goose Up

-- A day that has left its table. Nothing can write to it any more, so that a run that is killed is continued by the
-- next one, and its objects are the same whoever writes them.
CREATE TABLE archive_day (
    name        text        NOT NULL PRIMARY KEY, -- of the detached table, such as event_20261101
    folder      text        NOT NULL,             -- in the archive, such as event/2026-11-01
    detached_at timestamptz NOT NULL DEFAULT now()
);

-- The parts of a day that are written, in the order of its primary key. Each is one object.
CREATE TABLE archive_part (
    name     text   NOT NULL REFERENCES archive_day (name) ON DELETE CASCADE,
    part     int    NOT NULL,
    lines    bigint NOT NULL,
    bytes    bigint NOT NULL, -- of the object
    sha256   bytea  NOT NULL, -- of the object
    last_org uuid   NOT NULL, -- the key of its last row
    last_id  uuid   NOT NULL,
    PRIMARY KEY (name, part)
);
GRANT SELECT ON archive_day TO funnelwork_system;
GRANT SELECT, INSERT, DELETE ON archive_part TO funnelwork_system;
GRANT SELECT, UPDATE (keep_days) ON partitioned TO funnelwork_system;

-- detach_days(): takes the days that are older than their table keeps from their table, and such rows of default
-- partitions into a table of their own; returns how many tables. From then on they are out of sight and cannot change.
-- +goose StatementBegin
CREATE FUNCTION detach_days() RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
        WHERE child.relname ~ ('^' || p.name || '_[0-9]{8}$')
          AND to_date(right(child.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - p.keep_days
        ORDER BY day, parent
    LOOP
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', c.parent, c.name);
        EXECUTE format('GRANT SELECT ON %I TO funnelwork_system', c.name);
        INSERT INTO archive_day (name, folder) VALUES (c.name, c.parent || '/' || to_char(c.day, 'YYYY-MM-DD'));
        detached := detached + 1;
    END LOOP;
    FOR c IN
        SELECT name AS parent, name || '_default' AS rest, uuid_floor(now() - make_interval(days => keep_days)) AS bound
        FROM partitioned
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

-- drop_archived(day): drops a day whose every row is in the archive; returns false if another run has dropped it.
-- +goose StatementBegin
CREATE FUNCTION drop_archived(day text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    kept    bigint;
    written bigint;
BEGIN
    PERFORM 1 FROM archive_day WHERE name = day FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    EXECUTE format('SELECT count(*) FROM %I', day) INTO kept;
    SELECT coalesce(sum(lines), 0) INTO written FROM archive_part WHERE name = day;
    IF kept <> written THEN
        RAISE EXCEPTION '% has % rows, of which % are in the archive', day, kept, written;
    END IF;
    EXECUTE format('DROP TABLE %I', day);
    DELETE FROM archive_day WHERE name = day;
    RETURN true;
END
$$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION detach_days(), drop_archived(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION detach_days(), drop_archived(text) TO funnelwork_system;
