-- Whether the class of an incoming message is sure. One that is not waits for a person, who settles it.

-- +goose Up
ALTER TABLE message ADD COLUMN sure boolean NOT NULL DEFAULT true;

-- Nothing has followed from the opinions that were recorded so far.
-- As the system role, because the owner of the tables sees no rows of them.
GRANT UPDATE (sure) ON message TO funnelwork_system;
SET LOCAL ROLE funnelwork_system;
UPDATE message SET sure = false WHERE class_by = 'ai' OR class = 'unknown';
RESET ROLE;
REVOKE UPDATE (sure) ON message FROM funnelwork_system;
