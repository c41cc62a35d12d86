-- The feed of events shows what is below its horizon: the oldest open transaction. A writing transaction that is not ours
-- (somebody's psql, a restore into another database of the server) would stop every org's feed while it is open. So our
-- own writers register, and a worker publishes the oldest of these as a row, which standbys replicate.
--
-- The rules that make a published transaction id final:
-- 1. A writer holds the shared advisory lock (hashtext('funnelwork.events'), 1) before it gets its transaction id.
-- 2. The publisher takes a snapshot, and after it reads the locks. A transaction of the snapshot is foreign if it holds
--    the lock on its id, and not the writers' lock. Every other one may write events. Locks are released after the
--    transaction has left the snapshots of others, so one that is seen by neither has ended.
-- 3. A transaction that has not registered (an earlier release, an operator's session) holds the lock with key 2 shared
--    from its first event to its end, and fails if its id has been passed. The publisher needs that lock alone.
-- Package events has the test of this over histories with kills.

-- +goose Up

-- One row: no transaction below xid writes events any more. A new horizon is a new row, and readers take the largest xid,
-- since the versions of an updated row could not be removed while an old transaction is open.
CREATE TABLE event_horizon_row (
    xid bigint PRIMARY KEY
);
GRANT SELECT ON event_horizon_row TO funnelwork_app;
GRANT SELECT, INSERT, DELETE ON event_horizon_row TO funnelwork_system;

-- event_horizon(): every event below it is visible, or will never be. After a logical restore the published row may be
-- from another cluster; it is ignored until a worker has replaced it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION event_horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT greatest(pg_snapshot_xmin(s)::text::bigint,
        (SELECT max(xid) FROM event_horizon_row WHERE xid <= pg_snapshot_xmax(s)::text::bigint)) << 12
    FROM pg_current_snapshot() AS s
$$;
-- +goose StatementEnd

-- late_event_seq(n): event_seq(n) of a transaction that has not registered.
-- +goose StatementBegin
CREATE FUNCTION late_event_seq(n int) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    own bigint := pg_current_xact_id()::text::bigint;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('funnelwork.events'), 2);
    PERFORM FROM event_horizon_row
    WHERE xid > own AND xid <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    IF FOUND THEN
        RAISE EXCEPTION 'the feed of events has passed this transaction'
            USING ERRCODE = 'serialization_failure', HINT = 'Repeat the transaction.';
    END IF;
    RETURN (own << 12) | n;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION event_seq(n int) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN current_setting('app.writer', true) = 'on'
        THEN (pg_current_xact_id()::text::bigint << 12) | n
        ELSE late_event_seq(n) END
$$;
-- +goose StatementEnd

-- publish_event_horizon(before): publishes the horizon if the oldest open transaction is still the one that an earlier
-- call returned, and returns the oldest open transaction. before = 0 replaces a row of another cluster.
-- +goose StatementBegin
CREATE FUNCTION publish_event_horizon(before bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    shot      pg_snapshot := pg_current_snapshot();
    oldest    bigint := pg_snapshot_xmin(shot)::text::bigint;
    horizon   bigint;
    published bigint;
BEGIN
    IF before <> 0 AND (oldest <> before OR oldest = pg_snapshot_xmax(shot)::text::bigint) THEN
        RETURN oldest; -- the oldest transactions end by themselves
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtext('funnelwork.events'), 2) THEN
        RETURN oldest;
    END IF;
    shot := pg_current_snapshot();
    WITH lock AS MATERIALIZED (
        SELECT locktype, virtualtransaction, transactionid, mode, database, classid, objid, objsubid FROM pg_locks
        WHERE granted AND locktype IN ('transactionid', 'advisory')
    ), writer AS MATERIALIZED (
        SELECT virtualtransaction FROM lock
        WHERE locktype = 'advisory' AND classid = hashtext('funnelwork.events')::oid AND objid = 1 AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
    SELECT coalesce(min(running::text::bigint), pg_snapshot_xmax(shot)::text::bigint) INTO horizon
    FROM pg_snapshot_xip(shot) AS running
    WHERE NOT EXISTS (SELECT FROM lock WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock'
        AND transactionid = running::xid AND virtualtransaction NOT IN (SELECT virtualtransaction FROM writer));
    IF before = 0 THEN
        DELETE FROM event_horizon_row WHERE xid > pg_snapshot_xmax(shot)::text::bigint;
    END IF;
    SELECT coalesce(max(xid), 0) INTO published FROM event_horizon_row;
    IF horizon > published + 1 THEN -- else nothing but the last publication has ended since
        DELETE FROM event_horizon_row WHERE xid = published;
        INSERT INTO event_horizon_row (xid) VALUES (horizon);
    END IF;
    RETURN oldest;
END
$$;
-- +goose StatementEnd
