-- Notes and tasks have ids in other systems.

-- +goose Up

ALTER TABLE note ADD COLUMN external_ids jsonb NOT NULL DEFAULT '{}';
CREATE TRIGGER external_ids_come AFTER INSERT ON note FOR EACH ROW
    WHEN (NEW.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('note');
CREATE TRIGGER external_ids_change AFTER UPDATE OF external_ids, archived_at ON note FOR EACH ROW
    WHEN (NEW.external_ids <> OLD.external_ids
        OR NEW.external_ids <> '{}' AND (NEW.archived_at IS NULL) <> (OLD.archived_at IS NULL))
    EXECUTE FUNCTION external_ids_kept('note');
CREATE TRIGGER external_ids_go AFTER DELETE ON note FOR EACH ROW
    WHEN (OLD.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('note');

ALTER TABLE task ADD COLUMN external_ids jsonb NOT NULL DEFAULT '{}';
CREATE TRIGGER external_ids_come AFTER INSERT ON task FOR EACH ROW
    WHEN (NEW.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('task');
CREATE TRIGGER external_ids_change AFTER UPDATE OF external_ids, archived_at ON task FOR EACH ROW
    WHEN (NEW.external_ids <> OLD.external_ids
        OR NEW.external_ids <> '{}' AND (NEW.archived_at IS NULL) <> (OLD.archived_at IS NULL))
    EXECUTE FUNCTION external_ids_kept('task');
CREATE TRIGGER external_ids_go AFTER DELETE ON task FOR EACH ROW
    WHEN (OLD.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('task');
