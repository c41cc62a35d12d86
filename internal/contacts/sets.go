package contacts

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// What update and shelve do for one contact, here for many: one statement per table, whose cost is that of the rows and
// not of the statements. A test holds both ways to the same rows.

// wide is one row of rewriteSQL.
type wide struct {
	ID        id.ID           `json:"id"`
	Email     string          `json:"email"`
	Folded    string          `json:"email_folded"`
	FirstName string          `json:"first_name"`
	LastName  string          `json:"last_name"`
	Sorted    string          `json:"last_name_folded"`
	Phone     *string         `json:"phone"`
	JobTitle  *string         `json:"job_title"`
	Source    *string         `json:"source"`
	TimeZone  *string         `json:"time_zone"`
	CompanyID *id.ID          `json:"company_id"`
	Stage     string          `json:"stage"`
	Tags      []string        `json:"tags"`
	Attrs     json.RawMessage `json:"attributes"`
	OwnerID   *id.ID          `json:"owner_id"`
	UpdatedAt wire.Time       `json:"updated_at"`
	First     string          `json:"first_name_folded"`
	PhoneF    *string         `json:"phone_folded"`
	JobTitleF *string         `json:"job_title_folded"`
	SourceF   *string         `json:"source_folded"`
	TimeZoneF *string         `json:"time_zone_folded"`
	Words     string          `json:"words"`
}

// rewriteSQL takes its rows as JSON, because an array of arrays of tags has to be rectangular.
const rewriteSQL = `
UPDATE contact c SET email = x.email, email_folded = x.email_folded, first_name = x.first_name, last_name = x.last_name,
	last_name_folded = x.last_name_folded, phone = x.phone, job_title = x.job_title, source = x.source, time_zone = x.time_zone,
	company_id = x.company_id, stage = x.stage, tags = x.tags, attributes = x.attributes, owner_id = x.owner_id, updated_at = x.updated_at, edit = c.edit + 1,
	first_name_folded = x.first_name_folded, phone_folded = x.phone_folded, job_title_folded = x.job_title_folded, source_folded = x.source_folded, time_zone_folded = x.time_zone_folded, words = x.words
FROM json_to_recordset($2::json) AS x (id uuid, email text, email_folded text, first_name text, last_name text, last_name_folded text, phone text,
	job_title text, source text, time_zone text, company_id uuid, stage text, tags text[], attributes jsonb, owner_id uuid, updated_at timestamptz,
	first_name_folded text, phone_folded text, job_title_folded text, source_folded text, time_zone_folded text, words text)
WHERE c.org_id = $1 AND c.id = x.id`

// rated is one row of rescoreSQL.
type rated struct {
	ID          id.ID     `json:"id"`
	Score       float64   `json:"score"`
	Probability float64   `json:"probability"`
	Version     string    `json:"version"`
	Confidence  string    `json:"confidence"`
	Segments    []string  `json:"segments"`
	ScoredAt    wire.Time `json:"scored_at"`
}

const rescoreSQL = `
UPDATE contact_score s SET score = x.score, probability = x.probability, version = x.version, confidence = x.confidence, segments = x.segments, scored_at = x.scored_at
FROM json_to_recordset($2::json) AS x (id uuid, score float8, probability float8, version text, confidence text, segments text[], scored_at timestamptz)
WHERE s.org_id = $1 AND s.contact_id = x.id`

// rewrite queues what makes the stored rows of the changes, which the transaction has locked, into what they are now.
// An address that is taken is a TakenError without it.
func rewrite(tx *postgres.Tx, all []Change) error {
	if len(all) == 0 {
		return nil
	}
	rows, scores := make([]wide, len(all)), []rated(nil)
	var wordless, worded, untagged, tagged, out, in, lost sideRows
	var values attributeRows
	for i := range all {
		was, now := &all[i].before, &all[i].Contact
		attrs, err := json.Marshal(now.Attributes)
		if err != nil {
			return fmt.Errorf("encode attributes: %w", err)
		}
		before, after := wordsOf(was), wordsOf(now)
		rows[i] = wide{
			now.ID, now.Email, Fold(now.Email), now.FirstName, now.LastName, Fold(now.LastName), now.Phone, now.JobTitle, now.Source, now.TimeZone,
			now.CompanyID, now.Stage, list(now.Tag), attrs, now.OwnerID, now.UpdatedAt,
			Fold(now.FirstName), foldOf(now.Phone), foldOf(now.JobTitle), foldOf(now.Source), foldOf(now.TimeZone), line(after),
		}
		if was.Score != now.Score || !slices.Equal(was.Segment, now.Segment) {
			scores = append(scores, rated{now.ID, now.LeadScore, now.Score.Probability, now.Score.ModelVersion, now.Score.Confidence, all[i].stored(now.Segment), now.UpdatedAt})
		}
		wordless.add(now, without(before, after)...)
		worded.add(now, without(after, before)...)
		untagged.add(now, without(was.Tag, now.Tag)...)
		tagged.add(now, without(now.Tag, was.Tag)...)
		out.add(now, without(was.Segment, now.Segment)...)
		in.add(now, without(now.Segment, was.Segment)...)
		lost.add(now, gone(was.Attributes, now.Attributes)...)
		values.add(now, news(was.Attributes, now.Attributes))
	}
	if err := queueRows(tx, rewriteSQL, rows); err != nil {
		return err
	}
	if err := queueRows(tx, rescoreSQL, scores); err != nil {
		return err
	}
	wordless.queue(tx, `DELETE FROM contact_word t USING x WHERE t.org_id = $1 AND t.word = x.key AND t.contact_id = x.id`)
	worded.queue(tx, `INSERT INTO contact_word (org_id, word, contact_id) SELECT $1, key, id FROM x`)
	untagged.queue(tx, `DELETE FROM contact_tag t USING x WHERE t.org_id = $1 AND t.tag = x.key AND t.archived = x.archived AND t.created_at = x.at AND t.contact_id = x.id`)
	tagged.queue(tx, `INSERT INTO contact_tag (org_id, tag, archived, created_at, contact_id) SELECT $1, key, archived, at, id FROM x`)
	out.queue(tx, `DELETE FROM segment_member m USING x, segment s WHERE s.org_id = $1 AND s.key = x.key
		AND m.org_id = $1 AND m.segment_id = s.id AND m.archived = x.archived AND m.created_at = x.at AND m.contact_id = x.id`)
	in.queue(tx, `INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
		SELECT $1, s.id, x.archived, x.at, x.id FROM x JOIN segment s ON s.org_id = $1 AND s.key = x.key ON CONFLICT DO NOTHING`)
	lost.queue(tx, `DELETE FROM contact_attribute a USING x WHERE a.org_id = $1 AND a.contact_id = x.id AND a.key = x.key`)
	values.queue(tx)
	return nil
}

// shelveAll queues what archives contacts, or brings them back, at the moment that each is said to be updated.
func shelveAll(tx *postgres.Tx, all []Change) {
	if len(all) == 0 {
		return
	}
	ids, moments, archived := make([]id.ID, len(all)), make([]wire.Time, len(all)), all[0].ArchivedAt != nil
	var tags sideRows
	for i := range all {
		ids[i], moments[i] = all[i].ID, all[i].UpdatedAt
		tags.add(&all[i].before, all[i].Tag...)
	}
	unique(tx.Queue(`UPDATE contact c SET archived_at = CASE WHEN $4 THEN x.at END, updated_at = x.at, edit = c.edit + 1
		FROM unnest($2::uuid[], $3::timestamptz[]) AS x (id, at) WHERE c.org_id = $1 AND c.id = x.id`, tx.Org(), ids, moments, archived), "")
	tx.Queue(`UPDATE contact_score SET archived = $3 WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`, tx.Org(), ids, archived)
	tags.queue(tx, `UPDATE contact_tag t SET archived = NOT x.archived FROM x
		WHERE t.org_id = $1 AND t.tag = x.key AND t.archived = x.archived AND t.created_at = x.at AND t.contact_id = x.id`)
	// Those of dynamic segments follow by the job that tells of them.
	tx.Queue(`UPDATE segment_member m SET archived = $3 FROM segment s WHERE s.org_id = $1 AND s.id = m.segment_id AND s.kind = 'static'
		AND m.org_id = $1 AND m.contact_id = ANY ($2::uuid[]) AND m.archived = NOT $3`, tx.Org(), ids, archived)
	tx.Queue(`UPDATE contact_attribute SET archived = $3 WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`, tx.Org(), ids, archived)
}

// sideRows are contacts with a key each: rows of a side table.
type sideRows struct {
	ids      []id.ID
	keys     []string
	at       []wire.Time // the contact's created_at
	archived []bool
}

func (p *sideRows) add(c *events.Contact, keys ...string) {
	for _, k := range keys {
		p.ids, p.keys, p.at, p.archived = append(p.ids, c.ID), append(p.keys, k), append(p.at, c.CreatedAt), append(p.archived, c.ArchivedAt != nil)
	}
}

// queue queues sql over the rows as x (id, key, at, archived), and nothing for none. They come in the order of the key,
// so that neighbours in the index are written together.
func (p *sideRows) queue(tx *postgres.Tx, sql string) {
	if len(p.ids) > 0 {
		tx.Queue(`WITH x AS (SELECT * FROM unnest($2::uuid[], $3::text[] COLLATE "C", $4::timestamptz[], $5::boolean[]) AS u (id, key, at, archived) ORDER BY key, at, id) `+sql,
			tx.Org(), p.ids, p.keys, p.at, p.archived)
	}
}

// attributeRows are rows of contact_attribute.
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
	a.Texts, a.Rests, a.Numbers, a.Flags = append(a.Texts, r.Texts...), append(a.Rests, r.Rests...), append(a.Numbers, r.Numbers...), append(a.Flags, r.Flags...)
}

func (a *attributeRows) queue(tx *postgres.Tx) {
	if len(a.of.ids) > 0 {
		tx.Queue(`INSERT INTO contact_attribute (org_id, contact_id, key, archived, text, rest, number, flag, created_at)
			SELECT $1, id, k, archived, t, r, n, f, at
			FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::boolean[], $6::text[], $7::text[], $8::float8[], $9::boolean[]) AS a (id, k, at, archived, t, r, n, f)
			ON CONFLICT (org_id, contact_id, key) DO UPDATE SET text = excluded.text, rest = excluded.rest, number = excluded.number, flag = excluded.flag`,
			tx.Org(), a.of.ids, a.of.keys, a.of.at, a.of.archived, a.Texts, a.Rests, a.Numbers, a.Flags)
	}
}

// queueRows queues sql with rows as its $2, and nothing for none.
func queueRows[T any](tx *postgres.Tx, sql string, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	body, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encode rows: %w", err)
	}
	unique(tx.Queue(sql, tx.Org(), string(body)), "")
	return nil
}
