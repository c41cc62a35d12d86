-- The helpers of the build, in a schema of their own, and the orgs: one huge, some of middle size, one that has grown
-- lately, some small, and many with a handful of contacts.
SET synchronous_commit = off;
SET work_mem = '128MB';
SET maintenance_work_mem = '256MB';
SET session_replication_role = replica;
SET jit = off;

CREATE SCHEMA aged;

-- id(at, what) is a UUIDv7 of that millisecond that what determines.
CREATE FUNCTION aged.id(at timestamptz, what text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT overlay(overlay(overlay(md5('@seed ' || what)
        PLACING lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') FROM 1 FOR 12)
        PLACING '7' FROM 13 FOR 1) PLACING '8' FROM 17 FOR 1)::uuid
$$;

-- h(n, k) is the k'th number in [0, 1) that n determines.
CREATE FUNCTION aged.h(n bigint, k int) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (hashint8extended(n, k + @seed::bigint) & 2147483647) / 2147483648.0::float8
$$;

-- bytes(what) is 32 bytes that what determines, for hashes and keys that nobody can reverse.
CREATE FUNCTION aged.bytes(what text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT sha256(convert_to('@seed ' || what, 'UTF8'))
$$;

CREATE FUNCTION aged.name(i int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('{ba,ke,li,mo,nu,ra,se,ti,vo,zu,da,fe,gi,ho,ju,ka,le,mi,no,pu}'::text[])[1 + i % 20]
        || ('{lan,mer,nik,ros,tun,wal,ben,der,fin,gor,hal,jan,kor,lem,mar,nor,pol,rik,sun,tal}'::text[])[1 + i / 20 % 20]
        || ('{"",a,o,en,er,is,ov,ez,ini,sen,ski,mann,berg,son,ström,ova,aki,ito,ard,ell}'::text[])[1 + i / 400 % 20]
$$;

-- happened(a, b) is a moment of the last 31 days: in one case of twenty, today.
CREATE FUNCTION aged.happened(a float8, b float8) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN a < 0.05 THEN date_trunc('day', @now, 'UTC') + b * (@now - date_trunc('day', @now, 'UTC'))
        ELSE date_trunc('day', @now, 'UTC') - (a - 0.05) / 0.95 * interval '30 days' END
$$;

CREATE TABLE aged.org AS
SELECT n, aged.id(@now - interval '400 days' + n * interval '1 second', 'org ' || n) AS id, class,
    @now - interval '400 days' + n * interval '1 second' AS at, contacts,
    CASE class WHEN 'grown' THEN 10 ELSE contacts END AS before, -- contacts of the first part
    greatest(contacts / 20, 2) AS companies,
    CASE class WHEN 'huge' THEN 25 WHEN 'tiny' THEN 1 ELSE 4 END AS members,
    CASE class WHEN 'huge' THEN 3 WHEN 'tiny' THEN (n % 4 = 0)::int ELSE 2 END AS endpoints,
    CASE class WHEN 'huge' THEN 5 WHEN 'tiny' THEN 1 ELSE 3 END AS mailboxes,
    CASE class WHEN 'huge' THEN 12 WHEN 'tiny' THEN 1 ELSE 4 END AS sequences,
    CASE class WHEN 'huge' THEN 20 WHEN 'tiny' THEN 2 ELSE 8 END AS segments,
    CASE class WHEN 'huge' THEN 30 WHEN 'tiny' THEN 0 ELSE 5 END AS files, -- imports, exports, bulk changes, broadcasts
    CASE WHEN class = 'tiny' AND n % 10 = 3 THEN 1 END AS parent,
    '' AS api_key
FROM (
    SELECT n, class, CASE class WHEN 'huge' THEN @huge WHEN 'middle' THEN @middle WHEN 'grown' THEN @grown
        WHEN 'small' THEN @small ELSE 1 + n % 9 END AS contacts
    FROM (SELECT n, CASE WHEN n = 1 THEN 'huge' WHEN n = 2 THEN 'grown' WHEN n <= 2 + @middles THEN 'middle'
        WHEN n <= 2 + @middles + @smalls THEN 'small' ELSE 'tiny' END AS class
        FROM generate_series(1, @orgs) AS n) AS c
) AS o;
CREATE UNIQUE INDEX ON aged.org (id);

INSERT INTO org (id, name, plan, created_at, updated_at, parent_org_id)
SELECT o.id, initcap(aged.name(o.n)) || ' ' || o.n, CASE WHEN o.parent IS NULL THEN 'white_label_enterprise'
    ELSE 'client' END, o.at, o.at, p.id
FROM aged.org o LEFT JOIN aged.org p ON p.n = o.parent;
INSERT INTO subscription (org_id, plan, interval, status, current_period_start, current_period_end, created_at,
    updated_at, stripe_customer_id, stripe_subscription_id)
SELECT id, CASE WHEN parent IS NULL THEN 'white_label_enterprise' ELSE 'client' END, 'month', 'active',
    @now - interval '10 days', @now + interval '20 days', at, at, 'cus_' || n, 'sub_' || n FROM aged.org;
INSERT INTO overview_state (org_id, look_at, counted_at, whole_at, late_at, read_at)
SELECT id, @now + n % 1440 * interval '1 minute', @now - interval '1 hour', @now - interval '2 hours',
    @now - interval '1 hour', CASE WHEN class <> 'tiny' THEN @now - interval '1 day' ELSE '-infinity' END
FROM aged.org;
INSERT INTO client_org (org_id, id, name, created_by, created_at, updated_at)
SELECT p.id, o.id, 'Client ' || o.n, aged.id(p.at, 'user 1 0'), o.at, o.at
FROM aged.org o JOIN aged.org p ON p.n = o.parent;

-- Partitions of the days behind. The migrations have made those ahead.
DO $$
DECLARE
    p record;
    d date;
    child text;
BEGIN
    FOR p IN SELECT name, filled FROM partitioned LOOP
        FOR d IN SELECT g::date FROM generate_series((@now AT TIME ZONE 'UTC')::date - @behind,
            (@now AT TIME ZONE 'UTC')::date + @ahead, interval '1 day') g LOOP
            child := p.name || '_' || to_char(d, 'YYYYMMDD');
            CONTINUE WHEN to_regclass(child) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) WITH (fillfactor = %s)', child, p.name, p.filled);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', p.name, child,
                uuid_floor(d::timestamp AT TIME ZONE 'UTC'), uuid_floor((d + 1)::timestamp AT TIME ZONE 'UTC'));
        END LOOP;
    END LOOP;
END
$$;
UPDATE partitioned SET keep_days = greatest(keep_days, @behind);
