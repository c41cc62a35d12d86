-- What the caps of an org count, beside those of its mailboxes.

-- +goose Up

-- cap_room: how many more mails the cap allows without counting, as the last count has found; NULL: count. It may be too
-- small, because mails get older than a day, and never too large.
ALTER TABLE org_sending ADD COLUMN cap_room int;
CREATE INDEX email_org_marked ON email (org_id, marked_at) WHERE marked_at IS NOT NULL;
CREATE INDEX email_domain_marked ON email (org_id, to_domain, marked_at) WHERE automated AND marked_at IS NOT NULL;
