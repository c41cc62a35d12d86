-- Views and preferences of the console, as each user keeps them in each org.

-- +goose Up
CREATE TABLE user_view (
    org_id     uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    key        text        COLLATE "C" NOT NULL,
    value      json        NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, user_id, key)
);
CALL tenant('user_view');
