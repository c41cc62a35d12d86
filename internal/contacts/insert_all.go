package contacts

import (
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Bulk versions of queueInsert: one statement per table, because a statement costs more than a row. A test checks that
// both write identical rows.

// wide selects the arrays of contacts as rows u. Its arguments are those of wideOf.
var wide = `unnest(` + joinColumns(contactColumns, func(i int, c *contactColumn) string {
	return "$" + strconv.Itoa(i+2) + "::" + c.element + "[]"
}) + `) AS u (` + columnNames(contactColumns) + `)`

// rated selects the arrays of scores as rows u. Its arguments are those of scoresOf.
const rated = `unnest($2::uuid[], $3::float8[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
	$9::text[]) AS u (id, score, probability, version, confidence, segments, scored_at, stage)`

var insertAllSQL = `
WITH made AS (INSERT INTO contact (org_id, ` + columnNames(contactColumns) + `)
SELECT $1, ` + joinColumns(contactColumns, func(_ int, c *contactColumn) string {
	return "u." + c.name + c.conversion
}) + `
FROM ` + wide + ` RETURNING 1)
SELECT quota_noted($1, 'contacts', 1, (SELECT count(*) FROM made))`

const insertScoresSQL = `
INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments, scored_at,
	stage)
SELECT $1, u.id, u.score, u.probability, u.version, u.confidence, u.score, u.segments::text[], u.scored_at, u.stage
FROM ` + rated

// insertAll is queueInsert for many contacts, in the given order. If an address is taken, the TakenError does not name
// it.
func insertAll(tx *postgres.Tx, all []*Contact) error {
	if len(all) == 0 {
		return nil
	}

	var words, tagged, members many
	segments := make([][]string, len(all))
	found := make([][]string, len(all))
	for i, c := range all {
		found[i] = wordsOf(c)
		words.add(c, found[i])
		tagged.add(c, c.Tag)
		members.add(c, c.Segment)
		segments[i] = c.Segment
	}

	args, err := wideOf(tx.Org(), all, found)
	if err != nil {
		return err
	}

	convertTaken(tx.Queue(insertAllSQL, args...), "", externalIDsOf(all))
	tx.Queue(insertScoresSQL, scoresOf(tx.Org(), all, segments)...)
	words.queueInsert(tx, `INSERT INTO contact_word (org_id, word, contact_id) SELECT $1, value, contact FROM u`)
	tagged.queueInsert(tx,
		`INSERT INTO contact_tag (org_id, tag, created_at, contact_id) SELECT $1, value, created, contact FROM u`)
	members.queueInsert(tx, `INSERT INTO segment_member (org_id, segment_id, created_at, contact_id)
		SELECT $1, s.id, u.created, u.contact FROM u JOIN segment s ON s.org_id = $1 AND s.key = u.value
		ON CONFLICT DO NOTHING`)
	insertAttributes(tx, all)
	return nil
}

// wideOf returns the arguments of a statement over wide. words[i] is wordsOf(all[i]).
func wideOf(org id.ID, all []*Contact, words [][]string) ([]any, error) {
	rows := make([]writtenContact, len(all))
	for i, c := range all {
		w, err := writtenOf(c, words[i])
		if err != nil {
			return nil, err
		}
		rows[i] = w
	}
	args := make([]any, 0, 1+len(contactColumns))
	args = append(args, org)
	for i := range contactColumns {
		args = append(args, contactColumns[i].array(rows))
	}
	return args, nil
}

// insertAttributes is putAttributes for contacts without attributes.
func insertAttributes(tx *postgres.Tx, all []*Contact) {
	var (
		ids     []id.ID
		created []time.Time
		of      AttributeRows
	)
	for _, c := range all {
		if len(c.Attributes) == 0 {
			continue
		}
		r := RowsOf(c.Attributes)
		for range r.Keys {
			ids, created = append(ids, c.ID), append(created, c.CreatedAt.Time)
		}
		of.Keys, of.Texts, of.Rests = append(of.Keys, r.Keys...), append(of.Texts, r.Texts...),
			append(of.Rests, r.Rests...)
		of.Numbers, of.Flags = append(of.Numbers, r.Numbers...), append(of.Flags, r.Flags...)
	}

	if len(ids) > 0 {
		tx.Queue(`INSERT INTO contact_attribute (org_id, contact_id, key, text, rest, number, flag, created_at)
			SELECT $1, a.* FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::float8[],
			$7::boolean[], $8::timestamptz[]) AS a`,
			tx.Org(), ids, of.Keys, of.Texts, of.Rests, of.Numbers, of.Flags, created)
	}
}

// scoresOf returns the arguments of a statement over rated. segments[i] is the stored form of all[i]'s segments.
func scoresOf(org id.ID, all []*Contact, segments [][]string) []any {
	n := len(all)
	ids := make([]id.ID, n)
	score := make([]float64, n)
	probability := make([]float64, n)
	version := make([]string, n)
	confidence := make([]string, n)
	stored := make([]string, n)
	stages := make([]string, n)
	at := make([]time.Time, n)
	for i, c := range all {
		ids[i] = c.ID
		score[i] = c.LeadScore
		probability[i] = c.Score.Probability
		version[i] = c.Score.ModelVersion
		confidence[i] = c.Score.Confidence
		stored[i], stages[i] = arrayLiteral(segments[i]), c.Stage
		at[i] = c.UpdatedAt.Time
	}

	return []any{org, ids, score, probability, version, confidence, stored, at, stages}
}

// many holds side table rows: one for each word, tag or segment of a contact.
type many struct {
	contacts []id.ID
	created  []time.Time
	values   []string
}

func (m *many) add(c *Contact, values []string) {
	for _, v := range values {
		m.contacts, m.created, m.values = append(m.contacts, c.ID), append(m.created, c.CreatedAt.Time),
			append(m.values, v)
	}
}

// queueInsert queues sql over the rows as u (contact, value, created), or nothing if there are no rows. The rows are
// sorted by value, so that adjacent index entries are written together.
func (m *many) queueInsert(tx *postgres.Tx, sql string) {
	if len(m.values) > 0 {
		tx.Queue(`WITH u AS (SELECT * FROM unnest($2::uuid[], $3::text[] COLLATE "C", $4::timestamptz[]) AS u
			(contact, value, created) ORDER BY value, created, contact) `+sql,
			tx.Org(), m.contacts, m.values, m.created)
	}
}
