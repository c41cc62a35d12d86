-- One row for each contact of the world, with eight numbers in [0, 1), its moment, and the part in which it comes. In
-- the large orgs most contacts came by imports, a thousand within two seconds.
CREATE UNLOGGED TABLE aged.company AS
SELECT o.id AS org_id, i, aged.id(o.at + i * interval '1 minute', 'company ' || o.n || ' ' || i) AS id,
    initcap(aged.name(i * 7 % 8000)) || ' ' || ('{GmbH,Media,Labs,Consulting,Group,Foods,Logistics,Systems}'::text[])[1 + i % 8]
        || CASE WHEN i >= 8000 THEN ' ' || i ELSE '' END AS name,
    aged.name(i * 7 % 8000) || i || '.example' AS domain, o.at + i * interval '1 minute' AS at
FROM aged.org o, generate_series(0, o.companies - 1) AS i;
CREATE UNIQUE INDEX ON aged.company (org_id, i);
INSERT INTO company (org_id, id, name, name_folded, domain, industry, external_ids, created_at, updated_at, archived_at)
SELECT org_id, id, name, lower(name), domain, ('{software,food,media}'::text[])[1 + i % 3],
    jsonb_build_object('hubspot', i::text), at, at,
    CASE WHEN i % 50 = 49 THEN @now END FROM aged.company;
INSERT INTO external_id (org_id, kind, system, value, record_id, archived)
SELECT org_id, 'company', 'hubspot', external_ids ->> 'hubspot', id, archived_at IS NOT NULL FROM company ORDER BY 1, 4;
INSERT INTO company_word (org_id, word, company_id)
SELECT DISTINCT org_id, w, id FROM aged.company, regexp_split_to_table(lower(name) || '.' || domain, '[ .]+') AS w
ORDER BY 1, 2, 3;

CREATE UNLOGGED TABLE aged.seed AS
SELECT org_id, n, class, g, part, at, aged.id(at, 'contact ' || n || ' ' || g) AS id, companies, members, endpoints,
    mailboxes, sequences, segments, files, org_at, h1, h2, h3, h4, h5, h6, h7, h8, n * 1000003::bigint + g AS x,
    CASE WHEN h5 < 0.55 THEN 'lead' WHEN h5 < 0.75 THEN 'subscriber' WHEN h5 < 0.85 THEN 'mql' WHEN h5 < 0.90 THEN 'sql'
        WHEN h5 < 0.94 THEN 'opportunity' WHEN h5 < 0.99 THEN 'customer' WHEN h5 < 0.995 THEN 'evangelist'
        ELSE 'other' END AS stage
FROM (
    SELECT o.id AS org_id, o.n, o.class, g, o.companies, o.members, o.endpoints, o.mailboxes, o.sequences, o.segments,
        o.files, o.at AS org_at, CASE WHEN g <= CASE WHEN '@state' = 'half' THEN (o.contacts + 1) / 2 ELSE o.before END
            THEN 1 ELSE 2 END AS part,
        CASE WHEN o.class <> 'tiny' AND g % 10 < 6
            THEN o.at + (g / 1000 * 1000) * (interval '398 days' / o.contacts) + g % 1000 * interval '2 ms'
            ELSE o.at + g * (interval '398 days' / o.contacts) END AS at,
        h[1] AS h1, h[2] AS h2, h[3] AS h3, h[4] AS h4, h[5] AS h5, h[6] AS h6, h[7] AS h7, h[8] AS h8
    FROM aged.org o, generate_series(1, o.contacts) AS g, LATERAL (
        SELECT ARRAY(SELECT aged.h(o.n * 1000003::bigint + g, k) FROM generate_series(1, 8) AS k) AS h) AS numbers
) AS made;
