-- The stage of each contact beside its score, so that an index has the contacts of a stage in the order of their scores.
-- Until a sweep has filled the rows of before, a list of an org that has such rows reads their contacts for it.

-- +goose Up

ALTER TABLE contact_score ADD COLUMN stage text COLLATE "C";

-- Versions before this one insert without the stage.
-- +goose StatementBegin
CREATE FUNCTION score_stage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT c.stage INTO NEW.stage FROM contact c WHERE c.org_id = NEW.org_id AND c.id = NEW.contact_id;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER stage BEFORE INSERT ON contact_score FOR EACH ROW WHEN (NEW.stage IS NULL) EXECUTE FUNCTION score_stage();

-- +goose StatementBegin
CREATE FUNCTION score_stage_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE contact_score SET stage = NEW.stage WHERE org_id = NEW.org_id AND contact_id = NEW.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER score_stage AFTER UPDATE OF stage ON contact FOR EACH ROW
    WHEN (OLD.stage IS DISTINCT FROM NEW.stage) EXECUTE FUNCTION score_stage_follows();
