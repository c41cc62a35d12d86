-- Fewer writes for an email that is sent: email.fence is of the run that marked it last, email.attempt counts its marks.

-- +goose Up

-- The cap of an org counts the marks of each mailbox by email_marked.
DROP INDEX email_org_marked;
