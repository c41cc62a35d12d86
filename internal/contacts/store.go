package contacts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// insertSQL inserts a new contact, its score, which is the first record of it, and its words. $1 is the org, $2 the id;
// the columns end with the time of the score, the stage and the words.
var insertSQL = func() string {
	n := len(contactColumns) + 1
	return `
WITH made AS (
	INSERT INTO contact (org_id, ` + columnNames(contactColumns) + `)
	VALUES ($1, ` + joinColumns(contactColumns, func(i int, _ *contactColumn) string {
		return "$" + strconv.Itoa(i+2)
	}) + `)
), rated AS (
	INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
	scored_at, stage)
	VALUES ($1, $2, ` + paramList(n+1, 4) + fmt.Sprintf(", $%d, ", n+1) + paramList(n+5, 3) + `)
)
INSERT INTO contact_word (org_id, word, contact_id) SELECT $1, w, $2 FROM unnest(` + paramList(n+8, 1) + `::text[]) w`
}()

// paramList returns the parameters of n arguments from number first.
func paramList(first, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(out, ", ")
}

// columnValues appends w's values of columns to args.
func columnValues(args []any, columns []contactColumn, w *writtenContact) []any {
	args = slices.Grow(args, len(columns))
	for i := range columns {
		args = append(args, columns[i].value(w))
	}
	return args
}

// queueInsert queues the rows of a new contact.
func queueInsert(tx *postgres.Tx, c *Contact) error {
	words := wordsOf(c)
	w, err := writtenOf(c, words)
	if err != nil {
		return err
	}
	args := append(columnValues([]any{tx.Org()}, contactColumns, &w), c.LeadScore, c.Score.Probability,
		c.Score.ModelVersion, c.Score.Confidence, c.Segment, c.UpdatedAt, c.Stage, words)
	convertTaken(tx.Queue(insertSQL, args...), w.address, c.ExternalIDs.Keys())
	addTags(tx, c, c.Tag)
	addSegments(tx, c, c.Segment)
	putAttributes(tx, c, c.Attributes)
	return nil
}

// emailParam is the parameter of email in updateSQL.
var emailParam = "$" + strconv.Itoa(3+slices.IndexFunc(updatedColumns, func(c contactColumn) bool {
	return c.name == "email"
}))

// keepLost returns the expression that an update sets a column to. A key of an address is kept with the address: it may
// be that of a contact whose address an older one holds.
func keepLost(column, was, value, email string) string {
	if column != "email_folded" {
		return value
	}
	return "CASE WHEN " + was + "email = " + email + " THEN " + was + "email_folded ELSE " + value + " END"
}

var updateSQL = `
UPDATE contact SET ` + joinColumns(updatedColumns, func(i int, c *contactColumn) string {
	return c.name + " = " + keepLost(c.name, "contact.", "$"+strconv.Itoa(i+3), emailParam)
}) + `, edit = edit + 1
WHERE org_id = $1 AND id = $2`

// keepFirst keeps the first record of a score that a statement replaces: see the migration.
const keepFirst = `first_score = coalesce(s.first_score, s.score),
	first_probability = coalesce(s.first_probability, s.probability),
	first_version = coalesce(s.first_version, s.version)`

const updateScoreSQL = `
UPDATE contact_score s SET score = $3, probability = $4, version = $5, confidence = $6, segments = $7, scored_at = $8,
	` + keepFirst + `
WHERE org_id = $1 AND contact_id = $2`

// queueUpdate queues the update of the stored row was, which the transaction has locked, to c.
func queueUpdate(tx *postgres.Tx, was *Row, c *Contact) error {
	before := wordsOf(&was.Contact)
	after := wordsOf(c)
	w, err := writtenOf(c, after)
	if err != nil {
		return err
	}

	convertTaken(tx.Queue(updateSQL, columnValues([]any{tx.Org(), c.ID}, updatedColumns, &w)...), w.address,
		c.ExternalIDs.Keys())
	if was.Score != c.Score || !slices.Equal(was.Segment, c.Segment) {
		tx.Queue(updateScoreSQL, tx.Org(), c.ID, c.LeadScore, c.Score.Probability, c.Score.ModelVersion,
			c.Score.Confidence, was.storedSegments(c.Segment), c.UpdatedAt)
	}
	takeWords(tx, c.ID, withoutKeys(before, after))
	addWords(tx, c.ID, withoutKeys(after, before))
	takeTags(tx, c, withoutKeys(was.Tag, c.Tag))
	addTags(tx, c, withoutKeys(c.Tag, was.Tag))
	takeSegments(tx, c, withoutKeys(was.Segment, c.Segment))
	addSegments(tx, c, withoutKeys(c.Segment, was.Segment))
	takeAttributes(tx, c, missingKeys(was.Attributes, c.Attributes))
	putAttributes(tx, c, changedValues(was.Attributes, c.Attributes))
	return nil
}

// convertTaken converts a violation of contact_email by q to a TakenError, and one of an external id among keys to an
// externalid.TakenError.
func convertTaken(q *pgx.QueuedQuery, folded string, keys []externalid.Key) {
	q.Fn = func(br pgx.BatchResults) error {
		_, err := br.Exec()
		if postgres.Violates(err, "contact_email") {
			return &TakenError{Email: folded, cause: err}
		}
		return externalid.Refused(err, externalid.Contact, keys)
	}
}

func asTaken(err error) (*TakenError, bool) { return errors.AsType[*TakenError](err) }
