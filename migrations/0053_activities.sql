-- Notes and tasks about contacts, companies and deals.

-- +goose Up
CREATE TABLE note (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    body        text        NOT NULL,
    author_id   uuid,       -- the user; NULL: an API key or the platform
    contact_id  uuid,
    company_id  uuid,       -- any id: it resolves when the org has such a company
    deal_id     uuid,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    archived_at timestamptz,
    edit        int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CHECK (contact_id IS NOT NULL OR company_id IS NOT NULL OR deal_id IS NOT NULL)
);
CREATE INDEX note_created ON note (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX note_archived ON note (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX note_author ON note (org_id, author_id, created_at, id) WHERE author_id IS NOT NULL AND archived_at IS NULL;
-- Of archived notes too: a contact is asked for all of its notes.
CREATE INDEX note_contact ON note (org_id, contact_id, created_at, id) WHERE contact_id IS NOT NULL;
CREATE INDEX note_company ON note (org_id, company_id, created_at, id) WHERE company_id IS NOT NULL;
CREATE INDEX note_deal ON note (org_id, deal_id, created_at, id) WHERE deal_id IS NOT NULL;
CALL tenant('note');

CREATE TABLE task (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    title        text        NOT NULL,
    description  text,
    status       text        COLLATE "C" NOT NULL CHECK (status IN ('open', 'done')),
    priority     text        COLLATE "C" NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
    due_at       timestamptz,
    due_order    timestamptz NOT NULL GENERATED ALWAYS AS (coalesce(due_at, 'infinity'::timestamptz)) STORED, -- for the order: those without come last
    assignee_id  uuid,
    contact_id   uuid,
    company_id   uuid,
    deal_id      uuid,
    completed_at timestamptz,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    archived_at  timestamptz,
    edit         int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CHECK ((completed_at IS NOT NULL) = (status = 'done'))
);
CREATE INDEX task_created ON task (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX task_due ON task (org_id, due_order, id) WHERE archived_at IS NULL;
CREATE INDEX task_archived ON task (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX task_archived_due ON task (org_id, due_order, id) WHERE archived_at IS NOT NULL;
-- What a list of work is asked for: the open ones, all or somebody's, by the time they are due.
CREATE INDEX task_status ON task (org_id, status, due_order, id) WHERE archived_at IS NULL;
CREATE INDEX task_assignee ON task (org_id, assignee_id, due_order, id) WHERE assignee_id IS NOT NULL AND archived_at IS NULL;
CREATE INDEX task_contact ON task (org_id, contact_id, created_at, id) WHERE contact_id IS NOT NULL;
CREATE INDEX task_company ON task (org_id, company_id, created_at, id) WHERE company_id IS NOT NULL;
CREATE INDEX task_deal ON task (org_id, deal_id, created_at, id) WHERE deal_id IS NOT NULL;
CALL tenant('task');
