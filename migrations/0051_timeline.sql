-- What happened to each contact, for as long as the contact is kept: events go after a month, this stays.
--
-- The statement that writes an event writes its rows here, one per contact that the event is about. A page is a range
-- of the primary key: ids are UUIDv7, so their order is that of what happened. No second index, because a contact is
-- created in one round trip and this row is on its way.

-- +goose Up
CREATE TABLE timeline (
    org_id     uuid        NOT NULL,
    contact_id uuid        NOT NULL,
    id         uuid        NOT NULL, -- the event's
    type       text        NOT NULL, -- the event's
    actor_type text        NOT NULL,
    actor_id   text        NOT NULL DEFAULT '',
    object_id  uuid,                 -- what changed: the contact, a deal, a note
    data       json        NOT NULL, -- {"object": its main members after the change, "changes": {member: {from, to}} or null}
    at         timestamptz NOT NULL,
    PRIMARY KEY (org_id, contact_id, id)
);
CALL tenant('timeline');

-- The entries of the events that are still there. Org by org as the app role, because the owner of the tables sees no
-- rows of them and a policy of its own would lock out those who write meanwhile.
-- +goose StatementBegin
DO $$
DECLARE
    orgs uuid[];
    one  uuid;
BEGIN
    SET LOCAL ROLE funnelwork_system;
    SELECT coalesce(array_agg(id), '{}') INTO orgs FROM org;
    SET LOCAL ROLE funnelwork_app;
    FOREACH one IN ARRAY orgs LOOP
        PERFORM set_config('app.org_id', one::text, true);
        INSERT INTO timeline (org_id, contact_id, id, type, actor_type, actor_id, object_id, data, at)
        SELECT e.org_id, c.id, e.id, e.type, e.actor_type, e.actor_id, c.id, json_build_object(
            'object', CASE WHEN e.type = 'contact.tagged' THEN e.data -> 'object' ELSE (
                SELECT json_object_agg(key, value) FROM json_each(e.data -> 'object')
                WHERE key IN ('id', 'email', 'first_name', 'last_name', 'stage', 'lead_score')) END,
            'changes', CASE WHEN json_typeof(e.data -> 'previous') = 'object' THEN (
                SELECT coalesce(json_object_agg(name, json_build_object('from', was, 'to', is_now)), '{}') FROM (
                    SELECT p.key AS name, p.value AS was, e.data -> 'object' -> p.key AS is_now
                    FROM json_each(e.data -> 'previous') p WHERE p.key NOT IN ('score', 'attributes')
                    UNION ALL
                    SELECT 'attributes.' || coalesce(a.key, b.key), a.value, b.value
                    FROM json_each(CASE WHEN json_typeof(e.data -> 'previous' -> 'attributes') = 'object' THEN e.data -> 'previous' -> 'attributes' ELSE '{}' END) a
                    FULL JOIN json_each(CASE WHEN json_typeof(e.data -> 'previous' -> 'attributes') = 'object' THEN e.data -> 'object' -> 'attributes' ELSE '{}' END) b ON b.key = a.key
                    WHERE a.value::text IS DISTINCT FROM b.value::text) changed) END),
            e.created_at
        FROM event e
        JOIN contact c ON c.org_id = one AND c.id = coalesce(e.data -> 'object' ->> 'contact_id', e.data -> 'object' ->> 'id')::uuid
        WHERE e.org_id = one AND e.type IN ('contact.created', 'contact.updated', 'contact.archived', 'contact.restored', 'contact.tagged', 'contact.score_changed');
    END LOOP;
    RESET ROLE;
    PERFORM set_config('app.org_id', '', true);
END
$$;
-- +goose StatementEnd
