-- Contacts have ids in other systems.

-- +goose Up

ALTER TABLE contact ADD COLUMN external_ids jsonb NOT NULL DEFAULT '{}';
CREATE TRIGGER external_ids_come AFTER INSERT ON contact FOR EACH ROW
    WHEN (NEW.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('contact');
CREATE TRIGGER external_ids_change AFTER UPDATE OF external_ids, archived_at ON contact FOR EACH ROW
    WHEN (NEW.external_ids <> OLD.external_ids
        OR NEW.external_ids <> '{}' AND (NEW.archived_at IS NULL) <> (OLD.archived_at IS NULL))
    EXECUTE FUNCTION external_ids_kept('contact');
CREATE TRIGGER external_ids_go AFTER DELETE ON contact FOR EACH ROW
    WHEN (OLD.external_ids <> '{}') EXECUTE FUNCTION external_ids_kept('contact');
