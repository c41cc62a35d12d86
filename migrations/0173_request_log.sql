-- The API requests of each org in the last days. A process writes them in batches, so a row may be missing, and none is
-- ever waited for.
--
-- A row's id has the time at which the request came, so there is no other time. Rows are found by the id of the request,
-- and pages go back in the order of ids. Failures are few: they have an index of their own.

-- +goose Up
CREATE TABLE request_log (
    org_id     uuid     NOT NULL,
    id         uuid     NOT NULL,
    request_id text     COLLATE "C" NOT NULL,
    method     text     COLLATE "C" NOT NULL,
    route      text     COLLATE "C" NOT NULL, -- as in the API document; '': there is none at the address
    status     smallint NOT NULL,
    code       text     COLLATE "C" NOT NULL, -- of the problem; '' of a success
    took_us    bigint   NOT NULL,
    key_id     uuid,                          -- the API key that called, or
    user_id    uuid,                          -- the user
    subject_id uuid,                          -- of a failure: the id in the path
    body       json,                          -- of a failure: what was sent, redacted; NULL: nothing is kept
    errors     json,                          -- of a failure: what was wrong, without values
    PRIMARY KEY (org_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX request_log_request ON request_log (org_id, request_id);
CREATE INDEX request_log_failed ON request_log (org_id, id) WHERE status >= 400;
CALL tenant('request_log');
CALL system('request_log', 'SELECT, INSERT');

-- As of other tables that are split by days: a row whose day has no partition is kept here.
CREATE TABLE request_log_default PARTITION OF request_log DEFAULT;
SELECT expect_rows_of_orgs('request_log'), expect_rows_of_orgs('request_log_default');

-- Days that are not archived are dropped when they have had their time, also where there is an archive.
ALTER TABLE partitioned ADD COLUMN archived boolean NOT NULL DEFAULT true;
INSERT INTO partitioned (name, keep_days, archived) VALUES ('request_log', 7, false);
SELECT make_partitions(7);
