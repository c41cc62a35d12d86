-- Rows of a limited feature that one statement writes by the hundreds are counted together. Until now the counter's row
-- was written once for each of them, and each time past all the versions of it that the same transaction had left.

-- +goose Up

-- quota_noted(org, what, step, n): says that a statement of this transaction has n rows that come (step 1) or go (-1).
-- The first of them that is counted counts them all. It may be said once the rows are written, and for fewer than there are,
-- never for more: `WITH w AS (INSERT ... RETURNING org_id) SELECT quota_noted(...) FROM w` cannot be wrong. What is noted
-- is of the transaction, and is forgotten by a rollback to a savepoint as its rows are. While something else is noted, n
-- rows are counted one by one.
-- +goose StatementBegin
CREATE FUNCTION quota_noted(org uuid, what text, step int, n bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    of_this text   := concat_ws(' ', org, what, step);
    noted   text[] := string_to_array(NULLIF(current_setting('quota.noted', true), ''), ',');
BEGIN
    IF n > 0 AND (noted IS NULL OR noted[1] = of_this OR noted[2] = '0' AND noted[3] = '0') THEN
        IF noted[1] IS DISTINCT FROM of_this THEN
            noted := ARRAY[of_this, '0', '0'];
        END IF;
        PERFORM set_config('quota.noted', concat_ws(',', of_this, noted[2]::bigint + n, noted[3]), true);
    END IF;
END
$$;
-- +goose StatementEnd

-- quota_count(feature, step): counts a row that came or went, and those that were noted with it, at the commit, so that
-- the counter's row is the last thing that a transaction locks and the first that it lets go. One that finds no room is refused with
-- plan_limit_reached. Whoever counts holds the lock that quota_settle takes alone, from before it looks whether there
-- is a limit until its commit: a limit that begins meanwhile starts from a number that holds all such rows or none.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION quota_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    what    text := TG_ARGV[0];
    step    int  := TG_ARGV[1];
    org     uuid;
    q       quota;
    level   smallint;
    n       bigint := 1;
    noted   text[]; -- whose, rows to be counted, rows to come that have been counted
    percent smallint;
BEGIN
    IF TG_OP = 'DELETE' THEN org := OLD.org_id; ELSE org := NEW.org_id; END IF;
    noted := string_to_array(NULLIF(current_setting('quota.noted', true), ''), ',');
    IF noted[1] = concat_ws(' ', org, what, step) THEN
        IF noted[2] <> '0' THEN
            n := noted[2];
            PERFORM set_config('quota.noted', concat_ws(',', noted[1], '0', noted[3]::bigint + n - 1), true);
        ELSIF noted[3] <> '0' THEN
            PERFORM set_config('quota.noted', concat_ws(',', noted[1], '0', noted[3]::bigint - 1), true);
            RETURN NULL;
        END IF;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(quota_key(org, what));
    UPDATE quota SET used = used + step * n
    WHERE org_id = org AND feature = what AND (step < 0 OR overage OR used + n <= cap) RETURNING * INTO q;
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
        FOREACH percent IN ARRAY ARRAY[80, 100] LOOP
            IF step > 0 AND percent > q.told AND percent <= level AND (percent = level OR n > 1) THEN
                INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
                VALUES (org, uuidv7_at(clock_timestamp()), 'quota.announce',
                    json_build_object('kind', what, 'percent', percent, 'used', q.used, 'limit', q.cap), 'default', 8, job_wake(org, 'default', now()));
            END IF;
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
