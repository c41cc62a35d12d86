-- A transaction that creates contacts confirms with the database that the model which scored them is in use, and holds
-- the lock that a change of the model waits for. So no job scores a new contact again.

-- +goose Up

-- score_confirm(org, number): refuses with score_model_changed if another version than number is in use, and else keeps
-- it in use until the transaction ends. The lock comes first: each statement of a volatile function has a snapshot of
-- its own, so the number is read as it stands once the lock is held.
-- +goose StatementBegin
CREATE FUNCTION score_confirm(org uuid, used int) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('score model', hashtextextended(org::text, 0)));
    IF used <> coalesce((SELECT number FROM score_current WHERE org_id = org), 0) THEN
        PERFORM refuse('score_model_changed', '');
    END IF;
END
$$;
-- +goose StatementEnd
