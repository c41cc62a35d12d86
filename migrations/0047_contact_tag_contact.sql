-- The tags of one contact: a list that has come to a contact by another way looks here whether it has one of some tags.

-- +goose Up
CREATE INDEX contact_tag_contact ON contact_tag (org_id, contact_id, tag);
