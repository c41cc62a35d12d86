-- The audit log by actor, by action and by target, each newest first.

-- +goose Up
CREATE INDEX audit_log_actor ON audit_log (org_id, actor_id, id);
CREATE INDEX audit_log_action ON audit_log (org_id, action, id);
CREATE INDEX audit_log_target ON audit_log (org_id, target_id, id);
