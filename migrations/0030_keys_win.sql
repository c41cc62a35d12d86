-- Rows of the big tables are found by their key.

-- +goose Up

-- Where statistics say nothing, as for a day that has just begun, every index with org_id in front looks equally cheap
-- for org_id = $1 AND id = $2, and Postgres takes the one that was made last: it then walks all that the org had that
-- day, for each delivery, until somebody analyzes the table. So the keys are made last. New days make their indexes in
-- the order of their table's.
ALTER TABLE event DROP CONSTRAINT event_pkey, ADD PRIMARY KEY (org_id, id);
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_pkey, ADD PRIMARY KEY (org_id, id);
ALTER TABLE webhook_attempt DROP CONSTRAINT webhook_attempt_pkey, ADD PRIMARY KEY (org_id, id);
