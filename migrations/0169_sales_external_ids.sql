-- Companies and deals have ids in other systems.

-- +goose Up

ALTER TABLE company ADD COLUMN external_ids jsonb NOT NULL DEFAULT '{}';
CREATE TRIGGER external_ids_come AFTER INSERT ON company FOR EACH ROW
    WHEN (NEW.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('company');
CREATE TRIGGER external_ids_change AFTER UPDATE OF external_ids, archived_at ON company FOR EACH ROW
    WHEN (NEW.external_ids <> OLD.external_ids
        OR NEW.external_ids <> '{}' AND (NEW.archived_at IS NULL) <> (OLD.archived_at IS NULL))
    EXECUTE FUNCTION external_ids_kept('company');
CREATE TRIGGER external_ids_go AFTER DELETE ON company FOR EACH ROW
    WHEN (OLD.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('company');

ALTER TABLE deal ADD COLUMN external_ids jsonb NOT NULL DEFAULT '{}';
CREATE TRIGGER external_ids_come AFTER INSERT ON deal FOR EACH ROW
    WHEN (NEW.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('deal');
CREATE TRIGGER external_ids_change AFTER UPDATE OF external_ids, archived_at ON deal FOR EACH ROW
    WHEN (NEW.external_ids <> OLD.external_ids
        OR NEW.external_ids <> '{}' AND (NEW.archived_at IS NULL) <> (OLD.archived_at IS NULL))
    EXECUTE FUNCTION external_ids_kept('deal');
CREATE TRIGGER external_ids_go AFTER DELETE ON deal FOR EACH ROW
    WHEN (OLD.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('deal');
