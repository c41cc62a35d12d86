-- Roles, row policies and the few functions that every later file stands on.

-- +goose Up
-- +goose StatementBegin
DO $$
BEGIN
    -- funnelwork_app sees one org at a time; funnelwork_system is the relay's, the sweeps' and the login's.
    -- Both are cluster wide, so another database of the same cluster may have made them already.
    BEGIN CREATE ROLE funnelwork_app NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
    BEGIN CREATE ROLE funnelwork_system NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
    IF NOT pg_has_role(current_user, 'funnelwork_app', 'MEMBER') OR NOT pg_has_role(current_user, 'funnelwork_system', 'MEMBER') THEN
        EXECUTE format('GRANT funnelwork_app, funnelwork_system TO %I', current_user);
    END IF;
END
$$;
-- +goose StatementEnd

GRANT USAGE ON SCHEMA public TO funnelwork_app, funnelwork_system;

-- tenant(t): t has org_id, and a session sees only the rows of the org that its transaction set.
-- An unset org reads as NULL the first time and as '' afterwards, hence NULLIF: both see nothing.
-- +goose StatementBegin
CREATE PROCEDURE tenant(t regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON %s TO funnelwork_app USING (org_id = NULLIF(current_setting(''app.org_id'', true), '''')::uuid)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO funnelwork_app', t);
END
$$;
-- +goose StatementEnd

-- system(t, rights): the system role may do just these on all rows of t.
-- +goose StatementBegin
CREATE PROCEDURE system(t regclass, rights text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY system ON %s TO funnelwork_system USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT %s ON %s TO funnelwork_system', rights, t);
END
$$;
-- +goose StatementEnd

-- uuidv7(at): RFC 9562 section 5.7, for rows that SQL makes. Postgres has one of its own only from 18 on.
-- +goose StatementBegin
CREATE FUNCTION uuidv7_at(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
            52, 1), 53, 1), 'hex')::uuid
$$;
-- +goose StatementEnd

-- uuid_floor(at): the smallest UUIDv7 of that millisecond, the border of a day's partition.
-- +goose StatementBegin
CREATE FUNCTION uuid_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;
-- +goose StatementEnd

-- partitions: the tables that are split by days of their UUIDv7 id, and how many days each is kept.
CREATE TABLE partitioned (name text PRIMARY KEY, keep_days int NOT NULL);

-- make_partitions(days): a partition for yesterday (clocks differ) to `days` ahead of every partitioned table.
-- Runs as the owner, because the two roles own nothing. Callers may race: one waits for the other. A new partition
-- is attached, which, unlike CREATE ... PARTITION OF, lets the parent be written meanwhile, and first takes what
-- came for its day before it was there from the default partition, where a table has one.
-- +goose StatementBegin
CREATE FUNCTION make_partitions(days int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made int := 0;
    p record;
    d date;
    child text;
    first uuid;
    next uuid;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('funnelwork.partitions'));
    FOR p IN SELECT name FROM partitioned LOOP
        FOR d IN SELECT g::date FROM generate_series((now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + days, interval '1 day') g LOOP
            child := p.name || '_' || to_char(d, 'YYYYMMDD');
            IF to_regclass(child) IS NULL THEN
                first := uuid_floor(d::timestamp AT TIME ZONE 'UTC');
                next := uuid_floor((d + 1)::timestamp AT TIME ZONE 'UTC');
                EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, p.name);
                IF to_regclass(p.name || '_default') IS NOT NULL THEN
                    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE id >= %L AND id < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
                        p.name || '_default', first, next, child);
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

-- drop_partitions(): drops the days that are older than their table keeps, and such rows of default partitions;
-- answers how many days.
-- +goose StatementBegin
CREATE FUNCTION drop_partitions() RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    dropped int := 0;
    c record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('funnelwork.partitions'));
    FOR c IN
        SELECT child.relname
        FROM partitioned p
        JOIN pg_class parent ON parent.relname = p.name AND parent.relnamespace = 'public'::regnamespace
        JOIN pg_inherits i ON i.inhparent = parent.oid
        JOIN pg_class child ON child.oid = i.inhrelid
        WHERE child.relname ~ ('^' || p.name || '_[0-9]{8}$')
          AND to_date(right(child.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - p.keep_days
    LOOP
        EXECUTE format('DROP TABLE %I', c.relname);
        dropped := dropped + 1;
    END LOOP;
    FOR c IN SELECT name, keep_days FROM partitioned LOOP
        IF to_regclass(c.name || '_default') IS NOT NULL THEN
            EXECUTE format('DELETE FROM %I WHERE id < %L', c.name || '_default', uuid_floor(now() - make_interval(days => c.keep_days)));
        END IF;
    END LOOP;
    RETURN dropped;
END
$$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION make_partitions(int), drop_partitions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_partitions(int), drop_partitions() TO funnelwork_system;
