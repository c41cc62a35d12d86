package sequences

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// named is the condition that a sequence q, which is not archived, has a version with the mailbox $2.
const named = `q.org_id = $1 AND q.archived_at IS NULL AND q.status <> 'archived'
	AND EXISTS (SELECT FROM sequence_version v WHERE v.org_id = $1 AND v.sequence_id = q.id
		AND (v.settings -> 'mailbox_ids')::jsonb ? $2::text)`

// LockOfMailbox queues locking the sequences with a mailbox, as whoever changes or enrols in one does first.
func LockOfMailbox(tx *postgres.Tx, mailbox id.ID) {
	tx.Queue(`SELECT FROM sequence q WHERE `+named+` ORDER BY q.id FOR UPDATE`, tx.Org(), mailbox.String())
}

// reassignSQL replaces a mailbox in every version of the sequences that are not archived. One that a version has
// already is not added twice. It begins with the sequences, since whoever changes a version has locked its sequence.
const reassignSQL = `
WITH named AS MATERIALIZED (
	SELECT q.id FROM sequence q WHERE ` + named + ` ORDER BY q.id FOR UPDATE
), changed AS (
	UPDATE sequence_version v SET settings = jsonb_set(v.settings::jsonb, '{mailbox_ids}', (
		SELECT jsonb_agg(box ORDER BY n) FROM (
			SELECT box, min(n) AS n FROM (
				SELECT CASE WHEN value = $2::text THEN $3::text ELSE value END AS box, n
				FROM jsonb_array_elements_text((v.settings -> 'mailbox_ids')::jsonb) WITH ORDINALITY AS u (value, n)
			) AS each GROUP BY box
		) AS once))::json
	WHERE v.org_id = $1 AND v.sequence_id IN (SELECT id FROM named)
		AND (v.settings -> 'mailbox_ids')::jsonb ? $2::text
	RETURNING v.sequence_id
)
UPDATE sequence SET edit = edit + 1, updated_at = clock_timestamp()
WHERE org_id = $1 AND id IN (SELECT sequence_id FROM changed)`

// ReassignMailbox queues that another mailbox takes the place of one in the settings of sequences.
func ReassignMailbox(tx *postgres.Tx, from, to id.ID) {
	tx.Queue(reassignSQL, tx.Org(), from.String(), to.String())
}
