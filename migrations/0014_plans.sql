-- Plans: what an org has subscribed to, what that lets it use, how much of it is used, and the orgs of its clients.

-- +goose Up

-- An agency's client is an org of its own that names its agency. An agency has none itself, so there are two levels
-- and no cycles: the foreign key demands a parent of level 0, and a parent cannot leave that level while it is named.
ALTER TABLE org
    ADD COLUMN parent_org_id uuid,
    ADD COLUMN level         smallint NOT NULL GENERATED ALWAYS AS (CASE WHEN parent_org_id IS NULL THEN 0 ELSE 1 END) STORED,
    ADD COLUMN parent_level  smallint GENERATED ALWAYS AS (CASE WHEN parent_org_id IS NOT NULL THEN 0 END) STORED,
    ADD COLUMN writes_until  timestamptz, -- from then on it is only read from: the trial's end; NULL: no end
    ADD COLUMN paused_at     timestamptz, -- by its agency; only read from
    ADD COLUMN computed      int NOT NULL DEFAULT 0, -- the ETag's second part: moved with the plan
    ADD CONSTRAINT org_level UNIQUE (id, level),
    ADD CONSTRAINT org_parent FOREIGN KEY (parent_org_id, parent_level) REFERENCES org (id, level);

-- One row per org, from its first moment. internal/billing/plans.Set is the only door to it.
CREATE TABLE subscription (
    org_id                 uuid        NOT NULL PRIMARY KEY REFERENCES org (id),
    plan                   text        NOT NULL DEFAULT 'trial', -- a key of the catalogue, or client
    plan_version           text        NOT NULL DEFAULT '',      -- of the catalogue that the limits were last taken from
    interval               text        CHECK (interval IN ('month', 'year')), -- NULL: nothing is paid
    status                 text        NOT NULL DEFAULT 'trialing'
        CHECK (status IN ('trialing', 'active', 'past_due', 'incomplete', 'unpaid', 'canceled', 'paused')),
    cancel_at_period_end   boolean     NOT NULL DEFAULT false,
    current_period_start   timestamptz,
    current_period_end     timestamptz,
    trial_ends_at          timestamptz, -- NULL: the trial has no end
    past_due_since         timestamptz, -- the start of the grace; NULL unless past_due
    stripe_customer_id     text,
    stripe_subscription_id text,
    stripe_item_id         text,
    stripe_overage_item_id text,
    quantity               int         NOT NULL DEFAULT 1,
    entitlement_version    bigint      NOT NULL DEFAULT 1, -- moves with whatever changes what the org may use
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX subscription_customer ON subscription (stripe_customer_id) WHERE stripe_customer_id IS NOT NULL;
CREATE UNIQUE INDEX subscription_stripe ON subscription (stripe_subscription_id) WHERE stripe_subscription_id IS NOT NULL;
CREATE INDEX subscription_version ON subscription (plan_version);
CALL tenant('subscription');
CALL system('subscription', 'SELECT, INSERT, UPDATE');

-- +goose StatementBegin
CREATE FUNCTION org_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO subscription (org_id) VALUES (NEW.id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER org_begins AFTER INSERT ON org FOR EACH ROW EXECUTE FUNCTION org_begins();

-- As the system role, because the owner of the tables sees no rows of them.
SET LOCAL ROLE funnelwork_system;
INSERT INTO subscription (org_id) SELECT id FROM org;
RESET ROLE;

-- More of a feature, on top of the plan.
CREATE TABLE plan_addon (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    feature    text        NOT NULL,
    amount     bigint, -- of a limit; NULL: without end, and for a feature that one has or has not
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, id)
);
CALL tenant('plan_addon');

-- A value that stands in place of the plan's: an operator's decision, or what an agency allots to a client.
CREATE TABLE plan_override (
    org_id     uuid        NOT NULL,
    feature    text        NOT NULL,
    value      json        NOT NULL, -- true or false, a number or null for no limit, or a text
    source     text        NOT NULL CHECK (source IN ('override', 'allocation')),
    expires_at timestamptz, -- NULL: never
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, feature)
);
CALL tenant('plan_override');

-- What an org has used of the features that are limited for it, kept exact by triggers. No row: no limit, and then
-- nothing is counted and nobody waits for anybody.
CREATE TABLE quota (
    org_id  uuid     NOT NULL,
    feature text     NOT NULL,
    cap     bigint   NOT NULL,
    overage boolean  NOT NULL DEFAULT false, -- more may be used, and is paid for
    used    bigint   NOT NULL,
    told    smallint NOT NULL DEFAULT 0 CHECK (told IN (0, 80, 100)), -- the percentage that was last announced
    PRIMARY KEY (org_id, feature)
) WITH (fillfactor = 50);
CALL tenant('quota');
CALL system('quota', 'SELECT, UPDATE');

-- What a feature counts: the rows of these tables whose column `gone` is NULL.
CREATE TABLE quota_source (
    feature  text NOT NULL,
    relation text NOT NULL,
    gone     text NOT NULL,
    PRIMARY KEY (feature, relation)
);
GRANT SELECT ON quota_source TO funnelwork_app, funnelwork_system;

-- quota_key(org, what): the advisory lock under which an org's use of a feature begins to be counted.
CREATE FUNCTION quota_key(org uuid, what text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT hashtextextended(what, hashtextextended(''quota '' || org::text, 0))';

CREATE FUNCTION quota_level(used bigint, cap bigint) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT (CASE WHEN used >= cap THEN 100 WHEN used * 5 >= cap * 4 THEN 80 ELSE 0 END)::smallint';

-- quota_count(feature, step): counts one row that came or went, at the commit, so that the counter's row is the last
-- thing that a transaction locks and the first that it lets go. One that finds no room is refused with
-- plan_limit_reached. Whoever counts holds the lock that quota_settle takes alone, from before it looks whether there
-- is a limit until its commit: a limit that begins meanwhile starts from a number that holds all such rows or none.
-- +goose StatementBegin
CREATE FUNCTION quota_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    what  text := TG_ARGV[0];
    step  int  := TG_ARGV[1];
    org   uuid;
    q     quota;
    level smallint;
BEGIN
    IF TG_OP = 'DELETE' THEN org := OLD.org_id; ELSE org := NEW.org_id; END IF;
    PERFORM pg_advisory_xact_lock_shared(quota_key(org, what));
    UPDATE quota SET used = used + step
    WHERE org_id = org AND feature = what AND (step < 0 OR overage OR used + step <= cap) RETURNING * INTO q;
    IF NOT FOUND THEN
        IF step > 0 THEN
            PERFORM refuse('plan_limit_reached', json_build_object('feature', what, 'limit', c.cap, 'used', c.used, 'plan', s.plan, 'status', s.status)::text)
            FROM quota c JOIN subscription s ON s.org_id = c.org_id WHERE c.org_id = org AND c.feature = what;
        END IF;
        RETURN NULL;
    END IF;
    level := quota_level(q.used, q.cap);
    IF level <> q.told THEN
        UPDATE quota SET told = level WHERE org_id = org AND feature = what;
        IF step > 0 AND level > q.told THEN
            INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
            VALUES (org, uuidv7_at(clock_timestamp()), 'quota.announce',
                json_build_object('kind', what, 'percent', level, 'used', q.used, 'limit', q.cap), 'default', 8, job_wake(org, 'default', now()));
        END IF;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- counts(t, what, gone): every row of t whose column gone is NULL uses one of the feature what.
-- +goose StatementBegin
CREATE PROCEDURE counts(t regclass, what text, gone text) LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    INSERT INTO quota_source (feature, relation, gone) VALUES (what, t::text, gone);
    FOR c IN SELECT * FROM (VALUES
        ('comes', 'INSERT', 'NEW.%I IS NULL', 1), ('returns', 'UPDATE', 'OLD.%1$I IS NOT NULL AND NEW.%1$I IS NULL', 1),
        ('goes', 'UPDATE', 'OLD.%1$I IS NULL AND NEW.%1$I IS NOT NULL', -1), ('ends', 'DELETE', 'OLD.%I IS NULL', -1)) AS x (name, act, clause, step)
    LOOP
        EXECUTE format('CREATE CONSTRAINT TRIGGER quota_%s AFTER %s ON %s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (%s) EXECUTE FUNCTION quota_count(%L, %L)',
            c.name, c.act, t, format(c.clause, gone), what, c.step);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- quota_truth(org, what): how much of a feature is used, counted from the rows themselves.
-- +goose StatementBegin
CREATE FUNCTION quota_truth(org uuid, what text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    s     quota_source;
    one   bigint;
    total bigint := 0;
BEGIN
    FOR s IN SELECT * FROM quota_source WHERE feature = what LOOP
        EXECUTE format('SELECT count(*) FROM %s WHERE org_id = $1 AND %I IS NULL', s.relation, s.gone) INTO one USING org;
        total := total + one;
    END LOOP;
    RETURN total;
END
$$;
-- +goose StatementEnd

-- quota_settle(org, features, caps, overages): these limits and no others. A feature that had none is counted once,
-- while nobody adds to it. The transaction holds the subscription's row, so that it is alone.
-- +goose StatementBegin
CREATE FUNCTION quota_settle(org uuid, features text[], caps bigint[], overages boolean[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    f record;
BEGIN
    SET CONSTRAINTS ALL IMMEDIATE; -- what this transaction itself has added is counted before it is looked at
    DELETE FROM quota WHERE org_id = org AND NOT (feature = ANY (features));
    FOR f IN
        SELECT x.feature, x.cap, x.overage FROM unnest(features, caps, overages) AS x (feature, cap, overage)
        WHERE EXISTS (SELECT FROM quota_source s WHERE s.feature = x.feature) ORDER BY x.feature
    LOOP
        UPDATE quota SET cap = f.cap, overage = f.overage, told = quota_level(used, f.cap) WHERE org_id = org AND feature = f.feature;
        IF NOT FOUND THEN
            PERFORM pg_advisory_xact_lock(quota_key(org, f.feature));
            INSERT INTO quota (org_id, feature, cap, overage, used, told)
            SELECT org, f.feature, f.cap, f.overage, n, quota_level(n, f.cap) FROM quota_truth(org, f.feature) AS n;
        END IF;
    END LOOP;
    SET CONSTRAINTS ALL DEFERRED;
END
$$;
-- +goose StatementEnd

-- What an agency knows of its clients. Everything else is the client's own and under its policy.
CREATE TABLE client_org (
    org_id      uuid        NOT NULL REFERENCES org (id), -- the agency
    id          uuid        NOT NULL REFERENCES org (id), -- the client's org
    name        text        NOT NULL, -- the client's, kept in step with it
    created_by  uuid        NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    paused_at   timestamptz, -- still counted
    detached_at timestamptz, -- no client any more
    edit        int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CALL tenant('client_org');

-- An agency's staff in a client's org: short, and seen by the client.
CREATE TABLE staff_access (
    org_id        uuid        NOT NULL REFERENCES org (id), -- the client
    id            uuid        NOT NULL, -- the session that the token names
    user_id       uuid        NOT NULL,
    parent_org_id uuid        NOT NULL,
    role          text        NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX staff_access_age ON staff_access (expires_at);
CALL tenant('staff_access');
CALL system('staff_access', 'SELECT, DELETE');

CALL counts('contact', 'contacts', 'archived_at');
CALL counts('member', 'members', 'removed_at');
CALL counts('invitation', 'members', 'closed_at');
CALL counts('webhook_endpoint', 'webhooks', 'archived_at');
CALL counts('client_org', 'client_orgs', 'detached_at');
