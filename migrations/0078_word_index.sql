-- The word index: for each org with many contacts, a bit-sliced signature file of the contacts' words, from which a
-- search for several common words takes its candidates. internal/contacts/wordindex writes, reads and describes it.

-- +goose Up

-- One row for each org that has an index. A first build begins once every transaction that may have written contacts
-- without a mark has ended: all of them have an id below fence.
CREATE TABLE word_index (
    org_id       uuid    NOT NULL PRIMARY KEY,
    ready        boolean NOT NULL DEFAULT false, -- the blocks and marks cover all contacts
    due          boolean NOT NULL DEFAULT true,  -- the job has something to do
    building     boolean NOT NULL DEFAULT true,  -- a build reads all contacts in the order of ids
    fence        xid8,
    built_id     uuid,                           -- the last contact that the build has read; NULL at its beginning
    first_block  int     NOT NULL DEFAULT 0,     -- of the last build, whose end deletes all lower ones
    next_block   int     NOT NULL DEFAULT 0,
    built_blocks int     NOT NULL DEFAULT 0      -- blocks after the last build: twice as many begin the next one
);
CREATE INDEX word_index_due ON word_index (org_id) WHERE due;
CALL tenant('word_index');
CALL system('word_index', 'SELECT, INSERT, UPDATE');

-- A contact whose words or company have changed and that no block covers yet. Marks are only added, never updated and
-- never unique, so that writers of contacts do not wait for each other or for the job.
CREATE TABLE word_index_mark (
    org_id     uuid   NOT NULL,
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    contact_id uuid   NOT NULL,
    PRIMARY KEY (org_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CALL tenant('word_index_mark');
CALL system('word_index_mark', 'SELECT');

-- The blocks, cut into pages of at most 4 kB. A search reads few pages of every block, hence the order of the key.
CREATE TABLE word_index_page (
    org_id uuid     NOT NULL,
    page   smallint NOT NULL,
    block  int      NOT NULL,
    data   bytea    NOT NULL,
    PRIMARY KEY (org_id, page, block)
);
ALTER TABLE word_index_page ALTER COLUMN data SET STORAGE PLAIN; -- one read each, and bits are not worth compressing
CALL tenant('word_index_page');

-- The system role counts contacts to find the orgs that need an index, and may read nothing else of them.
CREATE POLICY system ON contact FOR SELECT TO funnelwork_system USING (true);
GRANT SELECT (org_id) ON contact TO funnelwork_system;

-- +goose StatementBegin
CREATE FUNCTION word_index_marks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO word_index_mark (org_id, contact_id)
    SELECT c.org_id, c.id FROM added c WHERE EXISTS (SELECT FROM word_index w WHERE w.org_id = c.org_id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER word_index_add AFTER INSERT ON contact REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION word_index_marks();

-- +goose StatementBegin
CREATE FUNCTION word_index_mark_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO word_index_mark (org_id, contact_id)
    SELECT w.org_id, NEW.id FROM word_index w WHERE w.org_id = NEW.org_id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER word_index_change AFTER UPDATE OF words, company_id ON contact FOR EACH ROW
    WHEN (OLD.words <> NEW.words OR OLD.company_id IS DISTINCT FROM NEW.company_id)
    EXECUTE FUNCTION word_index_mark_row();
