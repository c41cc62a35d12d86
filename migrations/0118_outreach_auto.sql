-- What sequences do by themselves: they stop variants that lose, and enrol the contacts that enter a segment. Two
-- sequences that enrol a contact at the same time keep their rule to exclude each other.

-- +goose Up

-- A contact has at most one open enrolment of a sequence that leaves out contacts in other ones. Enrolments from before
-- are not marked: each new one is compared with those that were committed.
ALTER TABLE enrolment ADD COLUMN exclusive boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX enrolment_exclusive ON enrolment (org_id, contact_id) WHERE exclusive AND ended_at IS NULL;

-- variant_comparison: the steps of active versions whose losing variants are stopped.
CREATE TABLE variant_comparison (
    org_id      uuid        NOT NULL,
    sequence_id uuid        NOT NULL,
    step        text        COLLATE "C" NOT NULL,
    check_at    timestamptz,                       -- NULL: there is nothing to compare any more
    stopped     jsonb       NOT NULL DEFAULT '{}', -- keys of variants, with the times at which they were stopped
    PRIMARY KEY (org_id, sequence_id, step)
);
CREATE INDEX variant_comparison_due ON variant_comparison (check_at) WHERE check_at IS NOT NULL;
CALL tenant('variant_comparison');
CALL system('variant_comparison', 'SELECT');

ALTER TABLE sequence ADD COLUMN enroll_segment uuid; -- of the active version: contacts that enter it are enrolled
CREATE INDEX sequence_segment ON sequence (org_id, enroll_segment) WHERE enroll_segment IS NOT NULL;

-- segment_entry: contacts that entered the segment of a sequence and are not enrolled yet.
CREATE TABLE segment_entry (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    sequence_id uuid        NOT NULL,
    segment_id  uuid        NOT NULL,
    contact_id  uuid        NOT NULL,
    due_at      timestamptz NOT NULL,              -- later than created_at while the sequence has no mailbox
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX segment_entry_due ON segment_entry (org_id, due_at);
CREATE INDEX segment_entry_contact ON segment_entry (org_id, contact_id);
CREATE INDEX segment_entry_age ON segment_entry (created_at);
CALL tenant('segment_entry');
CALL system('segment_entry', 'SELECT, DELETE');
