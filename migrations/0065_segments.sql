-- Segments: the filters of dynamic ones, how far the reading of all contacts for one has come, and the marks by which
-- a change of a contact makes itself known to the job that keeps memberships current.

-- +goose Up

ALTER TABLE segment
    ADD COLUMN filter      json,                             -- of a dynamic one, in its canonical form
    ADD COLUMN reads       text[]  NOT NULL DEFAULT '{}',    -- the fields that the filter reads
    ADD COLUMN status      text    NOT NULL DEFAULT 'ready' CHECK (status IN ('building', 'ready')),
    ADD COLUMN generation  int     NOT NULL DEFAULT 0,       -- moved by whatever makes a build begin anew
    ADD COLUMN quiet       boolean NOT NULL DEFAULT false,   -- has never been ready: nobody is told who enters
    ADD COLUMN fresh       boolean NOT NULL DEFAULT false,   -- a build finds no members of an earlier filter
    ADD COLUMN built_shelf boolean NOT NULL DEFAULT false,   -- the build is at the archived contacts, after the live ones
    ADD COLUMN built_at    timestamptz,                      -- created_at and id of the last contact that the build has seen
    ADD COLUMN built_id    uuid,
    ADD COLUMN counted     bigint  NOT NULL DEFAULT 0,       -- live members, together with the steps of segment_tally
    ADD COLUMN edit        int     NOT NULL DEFAULT 1,       -- the ETag's first part
    ADD COLUMN computed    int     NOT NULL DEFAULT 0,       -- the second, together with the number of tallies
    ADD COLUMN updated_at  timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN archived_at timestamptz,                      -- its key stays its own
    ADD CONSTRAINT segment_filter CHECK ((kind = 'dynamic') = (filter IS NOT NULL));
CREATE INDEX segment_building ON segment (org_id) WHERE status = 'building' AND archived_at IS NULL;
CALL system('segment', 'SELECT, UPDATE');

-- All segments of a contact: to show them, and to compare them with what the filters say.
CREATE INDEX segment_member_contact ON segment_member (org_id, contact_id, segment_id);
CALL system('segment_member', 'SELECT');

SET LOCAL ROLE funnelwork_system;
UPDATE segment s SET updated_at = created_at,
    counted = (SELECT count(*) FROM segment_member m WHERE m.org_id = s.org_id AND m.segment_id = s.id AND NOT m.archived);
RESET ROLE;

-- One row per org that has, or had, a dynamic segment or an archived one. Of all others a contact's row says itself
-- which segments it is in.
CREATE TABLE segment_watch (
    org_id    uuid    NOT NULL PRIMARY KEY,
    watching  boolean NOT NULL DEFAULT false, -- a dynamic segment is live: changes of contacts are marked
    epoch     int     NOT NULL DEFAULT 0,     -- part of every contact's ETag: moved when members come or go by the thousands
    waits_for text[]  -- transactions that wrote contacts before they knew that they are watched; NULL: not looked for yet
);
CALL tenant('segment_watch');

-- A contact to be held against the filters. Marks are only added, never updated and never unique, so that nobody who
-- writes contacts ever waits for another one, or for the job, because of them.
CREATE TABLE segment_mark (
    org_id     uuid   NOT NULL,
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    contact_id uuid   NOT NULL,
    PRIMARY KEY (org_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CALL tenant('segment_mark');
CALL system('segment_mark', 'SELECT');

-- Members that came or went, added up into segment.counted now and then.
CREATE TABLE segment_tally (
    org_id     uuid   NOT NULL,
    segment_id uuid   NOT NULL,
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    step       bigint NOT NULL,
    PRIMARY KEY (org_id, segment_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CALL tenant('segment_tally');
CALL system('segment_tally', 'SELECT');

-- +goose StatementBegin
CREATE FUNCTION segment_marks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO segment_mark (org_id, contact_id)
    SELECT c.org_id, c.id FROM changed c WHERE EXISTS (SELECT FROM segment_watch w WHERE w.org_id = c.org_id AND w.watching);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER segment_come AFTER INSERT ON contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION segment_marks();
CREATE TRIGGER segment_change AFTER UPDATE ON contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION segment_marks();
CREATE TRIGGER segment_go AFTER DELETE ON contact REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION segment_marks();

-- Scores are written one at a time, and mostly the same ones again.
-- +goose StatementBegin
CREATE FUNCTION segment_marks_score() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO segment_mark (org_id, contact_id)
    SELECT w.org_id, NEW.contact_id FROM segment_watch w WHERE w.org_id = NEW.org_id AND w.watching;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER segment_score AFTER UPDATE OF score ON contact_score FOR EACH ROW WHEN (OLD.score <> NEW.score) EXECUTE FUNCTION segment_marks_score();

-- +goose StatementBegin
CREATE FUNCTION segment_tallies() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO segment_tally (org_id, segment_id, step)
        SELECT org_id, segment_id, count(*) FROM come WHERE NOT archived GROUP BY 1, 2;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO segment_tally (org_id, segment_id, step)
        SELECT org_id, segment_id, -count(*) FROM gone WHERE NOT archived GROUP BY 1, 2;
    ELSE
        INSERT INTO segment_tally (org_id, segment_id, step)
        SELECT org_id, segment_id, sum(step) FROM (
            SELECT org_id, segment_id, 1 AS step FROM come WHERE NOT archived
            UNION ALL SELECT org_id, segment_id, -1 FROM gone WHERE NOT archived) AS moved
        GROUP BY 1, 2 HAVING sum(step) <> 0;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER segment_tally_come AFTER INSERT ON segment_member REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION segment_tallies();
CREATE TRIGGER segment_tally_go AFTER DELETE ON segment_member REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION segment_tallies();
CREATE TRIGGER segment_tally_move AFTER UPDATE ON segment_member REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION segment_tallies();

-- At most 200 live segments, those that are made in passing by a contact's write included. Two such writes at once may
-- pass it by what they make.
-- +goose StatementBegin
CREATE FUNCTION segment_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM refuse('segments', '') FROM (SELECT DISTINCT org_id FROM made) AS m
    WHERE (SELECT count(*) FROM segment s WHERE s.org_id = m.org_id AND s.archived_at IS NULL) > 200;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER segment_room AFTER INSERT ON segment REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION segment_room();
