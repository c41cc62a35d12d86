package contacts

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The side tables by which contacts are found. Each function queues one statement for all of its rows, and none if
// there are no rows.

func addWords(tx *postgres.Tx, contact id.ID, words []string) {
	if len(words) > 0 {
		tx.Queue(`INSERT INTO contact_word (org_id, word, contact_id) SELECT $1, w, $2 FROM unnest($3::text[]) w`,
			tx.Org(), contact, words)
	}
}

func takeWords(tx *postgres.Tx, contact id.ID, words []string) {
	if len(words) > 0 {
		tx.Queue(`DELETE FROM contact_word WHERE org_id = $1 AND word = ANY ($3::text[]) AND contact_id = $2`,
			tx.Org(), contact, words)
	}
}

func addTags(tx *postgres.Tx, c *Contact, tags []string) {
	if len(tags) > 0 {
		tx.Queue(`INSERT INTO contact_tag (org_id, tag, created_at, contact_id) SELECT $1, t, $3, $2
			FROM unnest($4::text[]) t`,
			tx.Org(), c.ID, c.CreatedAt, tags)
	}
}

func takeTags(tx *postgres.Tx, c *Contact, tags []string) {
	if len(tags) > 0 {
		tx.Queue(`DELETE FROM contact_tag WHERE org_id = $1 AND tag = ANY ($4::text[]) AND created_at = $3
			AND contact_id = $2 AND archived IN (false, true)`,
			tx.Org(), c.ID, c.CreatedAt, tags)
	}
}

func addSegments(tx *postgres.Tx, c *Contact, keys []string) {
	if len(keys) > 0 {
		tx.Queue(`INSERT INTO segment_member (org_id, segment_id, created_at, contact_id)
			SELECT $1, s.id, $3, $2 FROM segment s WHERE s.org_id = $1 AND s.key = ANY ($4::text[])
			ON CONFLICT DO NOTHING`,
			tx.Org(), c.ID, c.CreatedAt, keys)
	}
}

func takeSegments(tx *postgres.Tx, c *Contact, keys []string) {
	if len(keys) > 0 {
		tx.Queue(`DELETE FROM segment_member m USING segment s WHERE s.org_id = $1 AND s.key = ANY ($4::text[])
			AND m.org_id = $1 AND m.segment_id = s.id AND m.created_at = $3 AND m.contact_id = $2
			AND m.archived IN (false, true)`,
			tx.Org(), c.ID, c.CreatedAt, keys)
	}
}

// setArchived moves the rows that drive lists to the archived side, or back.
func setArchived(tx *postgres.Tx, c *Contact, archived bool) {
	tx.Queue(`UPDATE contact_score SET archived = $3 WHERE org_id = $1 AND contact_id = $2`, tx.Org(), c.ID, archived)
	if len(c.Tag) > 0 {
		tx.Queue(`UPDATE contact_tag SET archived = $5 WHERE org_id = $1 AND tag = ANY ($4::text[])
			AND archived = NOT $5 AND created_at = $3 AND contact_id = $2`,
			tx.Org(), c.ID, c.CreatedAt, c.Tag, archived)
	}
	// The sync job moves the rows of dynamic segments, because it also announces them.
	tx.Queue(`UPDATE segment_member m SET archived = $3 FROM segment s WHERE s.org_id = $1 AND s.id = m.segment_id
		AND s.kind = 'static'
		AND m.org_id = $1 AND m.contact_id = $2 AND m.archived = NOT $3`, tx.Org(), c.ID, archived)
	if len(c.Attributes) > 0 {
		tx.Queue(`UPDATE contact_attribute SET archived = $3 WHERE org_id = $1 AND contact_id = $2`, tx.Org(), c.ID,
			archived)
	}
}
