-- Social and ad accounts: the logins (grants) that own tokens, the accounts that point at them, and logins on their way.
-- Every token is sealed under the keyset, bound to its table, org, row and field; no other column may hold one.

-- +goose Up

-- counts(t, what, gone) as 0014 has it, but a table may be counted for several features.
-- +goose StatementBegin
CREATE OR REPLACE PROCEDURE counts(t regclass, what text, gone text) LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    INSERT INTO quota_source (feature, relation, gone) VALUES (what, t::text, gone);
    FOR c IN SELECT * FROM (VALUES
        ('comes', 'INSERT', 'NEW.%I IS NULL', 1), ('returns', 'UPDATE', 'OLD.%1$I IS NOT NULL AND NEW.%1$I IS NULL', 1),
        ('goes', 'UPDATE', 'OLD.%1$I IS NULL AND NEW.%1$I IS NOT NULL', -1), ('ends', 'DELETE', 'OLD.%I IS NULL', -1)) AS x (name, act, clause, step)
    LOOP
        EXECUTE format('CREATE CONSTRAINT TRIGGER %I AFTER %s ON %s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (%s) EXECUTE FUNCTION quota_count(%L, %L)',
            'quota_' || what || '_' || c.name, c.act, t, format(c.clause, gone), what, c.step);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- sealed_key(sealed): the id of the key that sealed it, which stands in front of every sealing. 0: none.
CREATE FUNCTION sealed_key(sealed bytea) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT CASE WHEN length(sealed) < 5 THEN 0
        ELSE (get_byte(sealed, 1)::bigint << 24) | (get_byte(sealed, 2) << 16) | (get_byte(sealed, 3) << 8) | get_byte(sealed, 4) END';

-- A login at a provider. Logging in again renews it, unless accounts hang on it that the new login does not reach: then
-- a person has several.
CREATE TABLE social_grant (
    org_id             uuid        NOT NULL,
    id                 uuid        NOT NULL,
    platform           text        NOT NULL,
    kind               text        NOT NULL CHECK (kind IN ('social', 'ads')),
    client_id          text        NOT NULL, -- of the app that it was given to: ids at a provider are often the app's own
    subject_id         text        NOT NULL, -- the person at the provider
    sealed_access      bytea,                -- NULL: erased
    sealed_refresh     bytea,                -- NULL: none was given, or erased
    key_id             bigint      GENERATED ALWAYS AS (CASE -- NULL: holds none; 0: two keys
        WHEN sealed_access IS NULL THEN sealed_key(sealed_refresh)
        WHEN sealed_refresh IS NULL OR sealed_key(sealed_access) = sealed_key(sealed_refresh) THEN sealed_key(sealed_access) ELSE 0 END) STORED,
    scopes             text[]      NOT NULL DEFAULT '{}',
    granted_at         timestamptz NOT NULL, -- of the login: of two, the younger one's tokens are kept
    issued_at          timestamptz NOT NULL, -- of the tokens
    access_expires_at  timestamptz,          -- NULL: not said
    refresh_expires_at timestamptz,          -- NULL: not said, or no such token
    refresh_at         timestamptz,          -- when Postgres looks at this row again; NULL: never
    version            bigint      NOT NULL DEFAULT 1, -- moved by every claim and every change of the tokens: the fence
    attempt_state      text        CHECK (attempt_state IN ('intent', 'spooled')), -- of a refresh that is on its way
    attempt_at         timestamptz,
    attempt_token_hash bytea,                -- SHA-256 of the refresh token that is being spent
    status             text        NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'expiring', 'reauth_required', 'revoked')),
    reason             text        NOT NULL DEFAULT '', -- why it is not active: a code
    fail_count         int         NOT NULL DEFAULT 0,  -- failures in a row
    announced_at       timestamptz,          -- when its people were last written to
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX social_grant_login ON social_grant (org_id, platform, client_id, subject_id);
CREATE INDEX social_grant_due ON social_grant (refresh_at) WHERE status IN ('active', 'expiring') AND refresh_at IS NOT NULL;
CREATE INDEX social_grant_person ON social_grant (client_id, subject_id); -- over all orgs: who else lives by what a revoke would end
CREATE INDEX social_grant_key ON social_grant (key_id) WHERE key_id IS NOT NULL;
CALL tenant('social_grant');
CALL system('social_grant', 'SELECT, UPDATE');

-- An account that posts or advertises. A disconnected one keeps its row, and connecting it again is the same account.
-- What the API shows as status is this row's, or, while that is active, its grant's.
CREATE TABLE social_account (
    org_id              uuid        NOT NULL,
    id                  uuid        NOT NULL,
    platform            text        NOT NULL,
    kind                text        NOT NULL CHECK (kind IN ('social', 'ads')),
    external_account_id text        NOT NULL, -- verbatim
    grant_id            uuid        NOT NULL,
    display_name        text        NOT NULL DEFAULT '',
    avatar_url          text        NOT NULL DEFAULT '',
    sealed_token        bytea,                -- the account's own, where the platform gives such: a page's
    key_id              bigint      GENERATED ALWAYS AS (sealed_key(sealed_token)) STORED, -- NULL: holds none
    status              text        NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'reauth_required', 'revoked')),
    reason              text        NOT NULL DEFAULT '',
    connected_by        text        NOT NULL DEFAULT '', -- the actor
    connected_at        timestamptz NOT NULL,
    disconnected_at     timestamptz,
    created_at          timestamptz NOT NULL DEFAULT now(),
    updated_at          timestamptz NOT NULL DEFAULT now(),
    edit                int         NOT NULL DEFAULT 1,
    computed            int         NOT NULL DEFAULT 0,
    -- Not NULL: not counted for that feature. A broken account is counted like any other.
    no_social           boolean     GENERATED ALWAYS AS (CASE WHEN kind = 'social' AND disconnected_at IS NULL THEN NULL ELSE true END) STORED,
    no_ads              boolean     GENERATED ALWAYS AS (CASE WHEN kind = 'ads' AND disconnected_at IS NULL THEN NULL ELSE true END) STORED,
    PRIMARY KEY (org_id, id),
    UNIQUE (org_id, platform, external_account_id),
    FOREIGN KEY (org_id, grant_id) REFERENCES social_grant (org_id, id)
);
CREATE INDEX social_account_grant ON social_account (org_id, grant_id);
CREATE INDEX social_account_key ON social_account (key_id) WHERE key_id IS NOT NULL;
CALL tenant('social_account');
CALL system('social_account', 'SELECT, UPDATE');
CALL counts('social_account', 'social_accounts', 'no_social');
CALL counts('social_account', 'ad_accounts', 'no_ads');

-- A connect that waits for its callback. The state's text names its org, and is used once: by DELETE ... RETURNING.
CREATE TABLE oauth_state (
    org_id       uuid        NOT NULL,
    hash         bytea       NOT NULL, -- SHA-256 of the whole text
    platform     text        NOT NULL,
    kind         text        NOT NULL CHECK (kind IN ('social', 'ads')),
    actor_type   text        NOT NULL CHECK (actor_type IN ('user', 'api_key')),
    actor_id     uuid        NOT NULL,
    staff_of     uuid,                 -- the agency whose staff acts; NULL: the org's own people
    account_id   uuid,                 -- the account to connect anew; NULL: whichever the person logs in with
    verifier     bytea,                -- sealed; NULL: the platform takes no PKCE
    redirect_url text        NOT NULL DEFAULT '',
    browser      bytea,                -- SHA-256 of the cookie of the browser that began it; NULL: an API client did
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, hash)
);
CREATE INDEX oauth_state_age ON oauth_state (expires_at);
CALL tenant('oauth_state');
CALL system('oauth_state', 'SELECT, DELETE');

-- Tokens that no grant owns: of a login whose accounts are still to be chosen, and of one that is to be revoked. Each
-- has a job that revokes and deletes it at its end, unless it was chosen from before.
CREATE TABLE social_pending (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    platform     text        NOT NULL,
    kind         text        NOT NULL CHECK (kind IN ('social', 'ads')),
    client_id    text        NOT NULL,
    subject_id   text        NOT NULL DEFAULT '', -- '': not yet known
    actor_type   text        NOT NULL,
    actor_id     uuid        NOT NULL,
    account_id   uuid,                 -- the account to connect anew
    sealed       bytea,                -- the tokens, the accounts' own included
    accounts     jsonb,                -- what the login offers, without tokens; NULL: not yet asked for
    scopes       text[]      NOT NULL DEFAULT '{}',
    granted_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    discarded_at timestamptz,          -- nothing can be chosen from it any more
    PRIMARY KEY (org_id, id)
);
CREATE INDEX social_pending_person ON social_pending (client_id, subject_id);
CALL tenant('social_pending');
CALL system('social_pending', 'SELECT');

-- The limits of the two features begin to be counted: the sweep settles every org whose catalogue is another one.
SET LOCAL ROLE funnelwork_system;
UPDATE subscription SET plan_version = '' WHERE plan_version <> '';
RESET ROLE;
