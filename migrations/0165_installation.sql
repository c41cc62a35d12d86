-- installation: its one row says which installation the database belongs to, and which binaries may serve it.
--
-- A Redis that was used with another database holds that id of another installation: a process refuses to start with it.
-- serves_from is the newest migration that a binary must have to serve the schema. It is 0 until a migration takes away
-- what an older binary still uses; that migration raises it to the version that no longer did.

-- +goose Up
CREATE TABLE installation (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    id          uuid    NOT NULL DEFAULT gen_random_uuid(),
    serves_from bigint  NOT NULL DEFAULT 0
);
INSERT INTO installation DEFAULT VALUES;
CALL system('installation', 'SELECT');
