-- What a provider tells us of a person: that they removed our application there, or that their data are to be erased.

-- +goose Up
CREATE TABLE social_notice (
    id         uuid        PRIMARY KEY,
    act        text        NOT NULL CHECK (act IN ('deauthorize', 'erase')),
    platform   text        NOT NULL,            -- whose callback it came by
    client_id  text        NOT NULL,
    subject_id text        NOT NULL,            -- the person at the provider; '' once it is done
    code       text        NOT NULL UNIQUE,     -- shows how far an erasure is to whoever has it
    issued_at  timestamptz NOT NULL,            -- logins that are younger are not meant
    received_at timestamptz NOT NULL DEFAULT now(),
    done_at    timestamptz
);
GRANT SELECT, INSERT, UPDATE, DELETE ON social_notice TO funnelwork_system;
