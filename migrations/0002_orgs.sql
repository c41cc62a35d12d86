-- Orgs, people and what lets them in. People are global; everything that names an org is under its policy.
-- Tokens and keys are stored as SHA-256 of what was handed out: they are random, so no slow hash is needed.

-- +goose Up
CREATE TABLE org (
    id              uuid        NOT NULL PRIMARY KEY,
    org_id          uuid        NOT NULL GENERATED ALWAYS AS (id) STORED, -- so that the one row policy serves here too
    name            text        NOT NULL,
    settings        jsonb       NOT NULL DEFAULT '{}',
    stages          text[]      NOT NULL DEFAULT '{subscriber,lead,mql,sql,opportunity,customer,evangelist,other}',
    plan            text        NOT NULL DEFAULT 'trial',
    rate_per_minute int,        -- NULL: the default of 100; the burst is twice this
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    edit            int         NOT NULL DEFAULT 1
);
CALL tenant('org');
CALL system('org', 'SELECT, INSERT');

-- A person, known by one address over all orgs.
CREATE TABLE app_user (
    id            uuid        NOT NULL PRIMARY KEY,
    email         text        NOT NULL,
    email_folded  text        NOT NULL UNIQUE,
    password_hash text        NOT NULL DEFAULT '', -- PHC string; '' until an invitation is accepted
    first_name    text        NOT NULL DEFAULT '',
    last_name     text        NOT NULL DEFAULT '',
    verified_at   timestamptz,
    last_org_id   uuid,
    created_at    timestamptz NOT NULL DEFAULT now()
);
CALL system('app_user', 'SELECT, INSERT, UPDATE');

-- A seat. A removed member's row stays: contacts and the audit log name people who have left.
CREATE TABLE member (
    org_id     uuid        NOT NULL REFERENCES org (id),
    user_id    uuid        NOT NULL REFERENCES app_user (id), -- also the member's id in the API
    invited_as uuid,       -- the invitation's id, which the API showed before the person joined
    role       text        NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz, -- not NULL: no rights any more
    edit       int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, user_id)
);
CREATE INDEX member_user ON member (user_id);
CALL tenant('member');
CALL system('member', 'SELECT, INSERT, UPDATE, DELETE');

-- An org sees its own people, those who left included.
CREATE POLICY colleagues ON app_user FOR SELECT TO funnelwork_app
    USING (EXISTS (SELECT 1 FROM member m WHERE m.user_id = app_user.id AND m.org_id = NULLIF(current_setting('app.org_id', true), '')::uuid));
GRANT SELECT (id, email, email_folded, first_name, last_name, created_at) ON app_user TO funnelwork_app;

-- One open invitation per address; inviting again replaces its token and role.
CREATE TABLE invitation (
    org_id       uuid        NOT NULL REFERENCES org (id),
    id           uuid        NOT NULL,
    email        text        NOT NULL,
    email_folded text        NOT NULL,
    role         text        NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    token_hash   bytea       NOT NULL,
    invited_by   uuid        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    closed_at    timestamptz, -- accepted or taken back
    edit         int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX invitation_open ON invitation (org_id, email_folded) WHERE closed_at IS NULL;
CREATE UNIQUE INDEX invitation_token ON invitation (org_id, token_hash);
CALL tenant('invitation');

CREATE TABLE api_key (
    org_id       uuid        NOT NULL REFERENCES org (id),
    id           uuid        NOT NULL,
    name         text        NOT NULL,
    role         text        NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    hint         text        NOT NULL, -- the key's last four characters, for people to tell keys apart
    hash         bytea       NOT NULL,
    created_by   uuid        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz, -- to the minute
    revoked_at   timestamptz,
    edit         int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX api_key_hash ON api_key (org_id, hash);
CALL tenant('api_key');

-- A family is one login. Its tokens form a chain, each used once; a second use ends the family.
CREATE TABLE refresh_token (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    family     uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    hash       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL, -- of the whole family
    used_at    timestamptz,
    successor  bytea,                -- sealed, for an answer that was lost; only the newest used token has one
    revoked_at timestamptz,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX refresh_token_hash ON refresh_token (org_id, hash);
CREATE INDEX refresh_token_family ON refresh_token (org_id, family);
CREATE INDEX refresh_token_user ON refresh_token (user_id);
CREATE INDEX refresh_token_age ON refresh_token (expires_at);
CALL tenant('refresh_token');
CALL system('refresh_token', 'SELECT, INSERT, UPDATE, DELETE');

-- Single-use links that were mailed to a person.
CREATE TABLE user_token (
    hash       bytea       NOT NULL PRIMARY KEY,
    user_id    uuid        NOT NULL REFERENCES app_user (id),
    purpose    text        NOT NULL CHECK (purpose IN ('reset_password', 'verify_email')),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX user_token_user ON user_token (user_id, purpose);
CREATE INDEX user_token_age ON user_token (expires_at);
CALL system('user_token', 'SELECT, INSERT, DELETE');

-- Keys that sign access tokens. A key is published from its making on, signs from use_at on, and is dropped
-- when nothing that it signed can still be valid.
CREATE TABLE signing_key (
    kid        text        NOT NULL PRIMARY KEY,
    public     bytea       NOT NULL,
    private    bytea       NOT NULL, -- sealed
    created_at timestamptz NOT NULL DEFAULT now(),
    use_at     timestamptz NOT NULL
);
CALL system('signing_key', 'SELECT, INSERT, DELETE');

-- Who did what to members, keys, roles, secrets, plans and client orgs. Rows are never changed.
CREATE TABLE audit_log (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    actor_type  text        NOT NULL,
    actor_id    text        NOT NULL,
    action      text        NOT NULL, -- area.past_tense, such as member.removed
    target_type text        NOT NULL,
    target_id   text        NOT NULL,
    detail      json        NOT NULL,
    request_id  text        NOT NULL,
    PRIMARY KEY (org_id, id)
);
CALL tenant('audit_log');
REVOKE UPDATE, DELETE ON audit_log FROM funnelwork_app;
CALL system('audit_log', 'SELECT, INSERT, DELETE');

-- Mail that the platform itself sends. The body bears a token, so it is sealed, and dropped once sent.
CREATE TABLE system_mail (
    org_id     uuid        NOT NULL, -- the zero uuid for mail that is about a person and no org
    id         uuid        NOT NULL,
    recipient  text        NOT NULL,
    subject    text        NOT NULL,
    body       bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    sent_at    timestamptz,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX system_mail_age ON system_mail (created_at);
CALL tenant('system_mail');
CALL system('system_mail', 'SELECT, INSERT, DELETE');

-- Where system mail arrives when no SMTP server is set. Bodies are sealed as in system_mail.
CREATE TABLE sandbox_mail (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    recipient   text        NOT NULL,
    subject     text        NOT NULL,
    body        bytea       NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, id)
);
CREATE INDEX sandbox_mail_age ON sandbox_mail (received_at);
CALL tenant('sandbox_mail');
CALL system('sandbox_mail', 'SELECT, DELETE');
