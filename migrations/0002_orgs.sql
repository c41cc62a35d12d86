-- Orgs, people and what lets them in. People are global; everything that names an org is under its policy.

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

CREATE TABLE member (
    org_id     uuid        NOT NULL REFERENCES org (id),
    user_id    uuid        NOT NULL REFERENCES app_user (id),
    role       text        NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, user_id)
);
CREATE INDEX member_user ON member (user_id);
CALL tenant('member');
CALL system('member', 'SELECT, INSERT, UPDATE, DELETE');

-- An org sees its own people.
CREATE POLICY colleagues ON app_user FOR SELECT TO funnelwork_app
    USING (EXISTS (SELECT 1 FROM member m WHERE m.user_id = app_user.id AND m.org_id = NULLIF(current_setting('app.org_id', true), '')::uuid));
GRANT SELECT (id, email, first_name, last_name, created_at) ON app_user TO funnelwork_app;
