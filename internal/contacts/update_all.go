package contacts

import (
	"slices"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Bulk versions of update and setArchived: one statement per table, so that the cost depends on the rows and not on the
// statements. A test checks that both write the same rows.

var updateAllSQL = `
UPDATE contact c SET ` + joinColumns(updatedColumns, func(_ int, c *contactColumn) string {
	return c.name + " = " + keepLost(c.name, "c.", "u."+c.name+c.conversion, "u.email")
}) + `, edit = c.edit + 1
FROM ` + wide + `
WHERE c.org_id = $1 AND c.id = u.id`

const updateScoresSQL = `
UPDATE contact_score s SET score = u.score, probability = u.probability, version = u.version, confidence =
u.confidence, segments = u.segments::text[], scored_at = u.scored_at,
	` + keepFirst + `
FROM ` + rated + `
WHERE s.org_id = $1 AND s.contact_id = u.id`

// updateAll queues the update of the stored rows, which the transaction has locked, to the state in the changes. If an
// address is taken, the TakenError does not name it.
func updateAll(tx *postgres.Tx, all []Change) error {
	if len(all) == 0 {
		return nil
	}

	changed := make([]*Contact, len(all))
	words := make([][]string, len(all))
	var scored []*Contact
	var segments [][]string // of the scored contacts
	var wordless, worded, untagged, tagged, out, in, lost sideRows
	var values attributeRows
	for i := range all {
		was := &all[i].before
		now := &all[i].Contact
		changed[i] = now
		if was.Score != now.Score || !slices.Equal(was.Segment, now.Segment) {
			scored, segments = append(scored, now), append(segments, all[i].storedSegments(now.Segment))
		}
		before := wordsOf(was)
		after := wordsOf(now)
		words[i] = after
		wordless.add(now, withoutKeys(before, after)...)
		worded.add(now, withoutKeys(after, before)...)
		untagged.add(now, withoutKeys(was.Tag, now.Tag)...)
		tagged.add(now, withoutKeys(now.Tag, was.Tag)...)
		out.add(now, withoutKeys(was.Segment, now.Segment)...)
		in.add(now, withoutKeys(now.Segment, was.Segment)...)
		lost.add(now, missingKeys(was.Attributes, now.Attributes)...)
		values.add(now, changedValues(was.Attributes, now.Attributes))
	}

	args, err := wideOf(tx.Org(), changed, words)
	if err != nil {
		return err
	}

	releaseExternalIDs(tx, all)
	convertTaken(tx.Queue(updateAllSQL, args...), "", externalIDsOf(changed))
	if len(scored) > 0 {
		tx.Queue(updateScoresSQL, scoresOf(tx.Org(), scored, segments)...)
	}
	wordless.queue(tx,
		`DELETE FROM contact_word t USING x WHERE t.org_id = $1 AND t.word = x.key AND t.contact_id = x.id`)
	worded.queue(tx, `INSERT INTO contact_word (org_id, word, contact_id) SELECT $1, key, id FROM x`)
	untagged.queue(tx,
		`DELETE FROM contact_tag t USING x WHERE t.org_id = $1 AND t.tag = x.key AND t.archived = x.archived
			AND t.created_at = x.at AND t.contact_id = x.id`)
	tagged.queue(tx,
		`INSERT INTO contact_tag (org_id, tag, archived, created_at, contact_id) SELECT $1, key, archived, at, id
			FROM x`)
	out.queue(tx, `DELETE FROM segment_member m USING x, segment s WHERE s.org_id = $1 AND s.key = x.key
		AND m.org_id = $1 AND m.segment_id = s.id AND m.archived = x.archived AND m.created_at = x.at
		AND m.contact_id = x.id`)
	in.queue(tx, `INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
		SELECT $1, s.id, x.archived, x.at, x.id FROM x JOIN segment s ON s.org_id = $1 AND s.key = x.key
		ON CONFLICT DO NOTHING`)
	lost.queue(tx,
		`DELETE FROM contact_attribute a USING x WHERE a.org_id = $1 AND a.contact_id = x.id AND a.key = x.key`)
	values.queue(tx)
	return nil
}

// sideRows holds side table rows: a contact and a key each.
type sideRows struct {
	ids      []id.ID
	keys     []string
	at       []wire.Time // created_at of the contact
	archived []bool
}

func (r *sideRows) add(c *events.Contact, keys ...string) {
	for _, k := range keys {
		r.ids, r.keys, r.at, r.archived = append(r.ids, c.ID), append(r.keys, k), append(r.at, c.CreatedAt),
			append(r.archived, c.ArchivedAt != nil)
	}
}

// queue queues sql over the rows as x (id, key, at, archived), or nothing if there are no rows. The rows are sorted by
// key, so that adjacent index entries are written together.
func (r *sideRows) queue(tx *postgres.Tx, sql string) {
	if len(r.ids) > 0 {
		tx.Queue(`WITH x AS (SELECT * FROM unnest($2::uuid[], $3::text[] COLLATE "C", $4::timestamptz[],
			$5::boolean[]) AS u (id, key, at, archived) ORDER BY key, at, id) `+sql,
			tx.Org(), r.ids, r.keys, r.at, r.archived)
	}
}

// attributeRows holds rows of contact_attribute.
type attributeRows struct {
	of sideRows
	AttributeRows
}

func (a *attributeRows) add(c *events.Contact, values map[string]any) {
	if len(values) == 0 {
		return
	}
	r := RowsOf(values)
	a.of.add(c, r.Keys...)
	a.Texts, a.Rests, a.Numbers, a.Flags = append(a.Texts, r.Texts...), append(a.Rests, r.Rests...),
		append(a.Numbers, r.Numbers...), append(a.Flags, r.Flags...)
}

func (a *attributeRows) queue(tx *postgres.Tx) {
	if len(a.of.ids) > 0 {
		tx.Queue(`INSERT INTO contact_attribute (org_id, contact_id, key, archived, text, rest, number, flag,
			created_at)
			SELECT $1, id, k, archived, t, r, n, f, at
			FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::boolean[], $6::text[], $7::text[],
			$8::float8[], $9::boolean[]) AS a (id, k, at, archived, t, r, n, f)
			ON CONFLICT (org_id, contact_id, key) DO UPDATE
			SET text = excluded.text, rest = excluded.rest, number = excluded.number, flag = excluded.flag`,
			tx.Org(), a.of.ids, a.of.keys, a.of.at, a.of.archived, a.Texts, a.Rests, a.Numbers, a.Flags)
	}
}
