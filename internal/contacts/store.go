package contacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

const insertSQL = `
INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, phone, job_title,
source, time_zone,
	company_id, stage, tags, attributes, owner_id, created_at, updated_at,
	first_name_folded, phone_folded, job_title_folded, source_folded, time_zone_folded, words)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`

const insertScoreSQL = `
INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments, scored_at)
VALUES ($1, $2, $3, $4, $5, $6, $3, $7, $8)`

// insert queues the rows of a new contact.
func insert(tx *postgres.Tx, c *Contact) error {
	attrs, err := json.Marshal(c.Attributes)
	if err != nil {
		return fmt.Errorf("encode attributes: %w", err)
	}
	folded, words := Fold(c.Email), wordsOf(c)
	unique(tx.Queue(insertSQL, tx.Org(), c.ID, c.Email, folded, c.FirstName, c.LastName, Fold(c.LastName), c.Phone,
		c.JobTitle, c.Source,
		c.TimeZone, c.CompanyID, c.Stage, c.Tag, attrs, c.OwnerID, c.CreatedAt, c.UpdatedAt,
		Fold(c.FirstName), foldOf(c.Phone), foldOf(c.JobTitle), foldOf(c.Source), foldOf(c.TimeZone), line(words)),
		folded)
	tx.Queue(insertScoreSQL, tx.Org(), c.ID, c.LeadScore, c.Score.Probability, c.Score.ModelVersion,
		c.Score.Confidence, c.Segment, c.UpdatedAt)
	addWords(tx, c.ID, words)
	addTags(tx, c, c.Tag)
	addSegments(tx, c, c.Segment)
	putAttributes(tx, c, c.Attributes)
	return nil
}

const updateSQL = `
UPDATE contact SET email = $3, email_folded = $4, first_name = $5, last_name = $6, last_name_folded = $7, phone =
$8, job_title = $9,
	source = $10, time_zone = $11, company_id = $12, stage = $13, tags = $14, attributes = $15, owner_id = $16,
	updated_at = $17, edit = edit + 1,
	first_name_folded = $18, phone_folded = $19, job_title_folded = $20, source_folded = $21, time_zone_folded =
	$22, words = $23
WHERE org_id = $1 AND id = $2`

const updateScoreSQL = `
UPDATE contact_score SET score = $3, probability = $4, version = $5, confidence = $6, segments = $7, scored_at = $8
WHERE org_id = $1 AND contact_id = $2`

// update queues the update of the stored row was, which the transaction has locked, to c.
func update(tx *postgres.Tx, was *Row, c *Contact) error {
	attrs, err := json.Marshal(c.Attributes)
	if err != nil {
		return fmt.Errorf("encode attributes: %w", err)
	}
	folded, before, after := Fold(c.Email), wordsOf(&was.Contact), wordsOf(c)
	unique(tx.Queue(updateSQL, tx.Org(), c.ID, c.Email, folded, c.FirstName, c.LastName, Fold(c.LastName), c.Phone,
		c.JobTitle,
		c.Source, c.TimeZone, c.CompanyID, c.Stage, c.Tag, attrs, c.OwnerID, c.UpdatedAt,
		Fold(c.FirstName), foldOf(c.Phone), foldOf(c.JobTitle), foldOf(c.Source), foldOf(c.TimeZone), line(after)),
		folded)
	if was.Score != c.Score || !slices.Equal(was.Segment, c.Segment) {
		tx.Queue(updateScoreSQL, tx.Org(), c.ID, c.LeadScore, c.Score.Probability, c.Score.ModelVersion,
			c.Score.Confidence, was.stored(c.Segment), c.UpdatedAt)
	}
	takeWords(tx, c.ID, without(before, after))
	addWords(tx, c.ID, without(after, before))
	takeTags(tx, c, without(was.Tag, c.Tag))
	addTags(tx, c, without(c.Tag, was.Tag))
	takeSegments(tx, c, without(was.Segment, c.Segment))
	addSegments(tx, c, without(c.Segment, was.Segment))
	takeAttributes(tx, c, gone(was.Attributes, c.Attributes))
	putAttributes(tx, c, news(was.Attributes, c.Attributes))
	return nil
}

// unique converts a violation of contact_email by q to a TakenError.
func unique(q *pgx.QueuedQuery, folded string) {
	q.Fn = func(br pgx.BatchResults) error {
		_, err := br.Exec()
		if postgres.Violates(err, "contact_email") {
			return &TakenError{Email: folded, cause: err}
		}
		return err
	}
}

func asTaken(err error) (*TakenError, bool) { return errors.AsType[*TakenError](err) }
