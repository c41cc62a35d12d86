package contacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// speller writes the names of patches as the org has them: a tag, stage, segment or custom field that the org has in
// another spelling is that one. The zero value knows no name and changes nothing.
type speller struct {
	known map[string]map[string]string // by kind and folded form
}

func newSpeller() *speller {
	return &speller{known: map[string]map[string]string{
		tagName: {}, stageName: {}, segmentName: {}, attributeName: {},
	}}
}

// add makes name the spelling of its form, unless there is one.
func (s *speller) add(kind, folded, name string) {
	if _, has := s.known[kind][folded]; !has {
		s.known[kind][folded] = name
	}
}

// spell returns the org's spelling of a name, which is the name itself if it is new.
func (s *speller) spell(kind, name string) string {
	folded := compare.Text(name)
	s.add(kind, folded, name)
	return s.known[kind][folded]
}

// sentNames returns the names in patches, by kind.
func sentNames(all ...*Patch) map[string][]string {
	out := map[string][]string{}
	for _, p := range all {
		if p.Stage.Set && !p.Stage.Null {
			out[stageName] = append(out[stageName], p.Stage.Value)
		}
		out[tagName] = append(out[tagName], p.Tag.Value...)
		out[segmentName] = append(out[segmentName], p.Segment.Value...)
		out[attributeName] = slices.AppendSeq(out[attributeName], maps.Keys(p.Attributes.Value))
	}
	maps.DeleteFunc(out, func(_ string, names []string) bool { return len(names) == 0 })
	return out
}

// queueSpeller queues the read of the org's spellings of names. The speller must not be used before the statements of
// tx were sent.
func queueSpeller(tx *postgres.Tx, names map[string][]string) *speller {
	s := newSpeller()
	if len(names) == 0 {
		return s
	}
	add := func(rows pgx.Rows) error {
		var kind, folded, name string
		_, err := pgx.ForEachRow(rows, []any{&kind, &folded, &name}, func() error {
			if folded == "" {
				folded = compare.Text(name)
			}
			s.add(kind, folded, name)
			return nil
		})
		return err
	}

	ask := func(kind, sql string, more ...any) {
		if len(names[kind]) > 0 {
			tx.Queue(sql, append([]any{tx.Org(), foldAll(names[kind])}, more...)...).Query(add)
		}
	}
	if len(names[stageName]) > 0 {
		tx.Queue(`SELECT 'stage', '', unnest(stages) FROM org WHERE id = $1`, tx.Org()).Query(add)
	}
	listed := `SELECT v.kind, v.folded, coalesce(n.name, v.name) FROM vocabulary v LEFT JOIN vocabulary n
		ON n.org_id = $1 AND n.kind = $3 AND n.folded = v.successor AND v.successor <> ''
		WHERE v.org_id = $1 AND v.kind = $3 AND v.folded = ANY ($2::text[])`
	ask(stageName, listed, stageName)
	ask(tagName, listed, tagName)
	// a row without a form is from before; an exact key comes first
	ask(segmentName, `SELECT 'segment', coalesce(folded, ''), key FROM segment WHERE org_id = $1
		AND (folded = ANY ($2::text[]) OR folded IS NULL) ORDER BY archived_at IS NOT NULL, created_at`)
	ask(attributeName, `SELECT 'attribute', coalesce(folded, ''), key FROM contact_field WHERE org_id = $1
		AND archived_at IS NULL AND (folded = ANY ($2::text[]) OR folded IS NULL) ORDER BY created_at`)
	return s
}

// Respell reads the org's spellings of the names in p, and writes them into p.
func Respell(ctx context.Context, tx *postgres.Tx, p *Patch) error {
	names := sentNames(p)
	if len(names) == 0 {
		return nil
	}
	s := queueSpeller(tx, names)
	if err := tx.Flush(ctx); err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	s.respell(p)
	return nil
}

// respell writes the org's spellings into p, whose lists and objects it replaces.
func (s *speller) respell(p *Patch) {
	if p.Stage.Set && !p.Stage.Null {
		p.Stage.Value = s.spell(stageName, p.Stage.Value)
	}
	for kind, at := range map[string]*wire.Field[[]string]{tagName: &p.Tag, segmentName: &p.Segment} {
		if len(at.Value) == 0 {
			continue
		}
		out := make([]string, len(at.Value))
		for i, name := range at.Value {
			out[i] = s.spell(kind, name)
		}
		at.Value = out
	}
	if len(p.Attributes.Value) == 0 || hasTwins(p.Attributes.Value) {
		return // twins are refused where the patch is applied
	}
	values := make(map[string]any, len(p.Attributes.Value))
	for _, key := range slices.Sorted(maps.Keys(p.Attributes.Value)) {
		values[s.spell(attributeName, key)] = p.Attributes.Value[key]
	}
	p.Attributes.Value = values
}

// hasTwins reports whether two keys of values are one.
func hasTwins(values map[string]any) bool {
	seen := make(map[string]bool, len(values))
	for key := range values {
		seen[compare.Text(key)] = true
	}
	return len(seen) < len(values)
}

// SpellingError means that the org has a name in another spelling than the one that a statement wrote. Respell of the
// same patch in a new transaction finds it.
type SpellingError struct{ cause error }

// Error implements error.
func (e *SpellingError) Error() string { return "a name has another spelling: " + e.cause.Error() }

// Unwrap makes the error a conflict where it is not retried.
func (e *SpellingError) Unwrap() error {
	return fault.New(fault.Conflict,
		"Another request has just used one of the names in another spelling. Send it again.").
		Because(e.cause)
}

// writtenNames holds the names that a transaction writes.
type writtenNames struct{ kinds, folded, names []string }

// add adds the names of c that was lacks.
func (w *writtenNames) add(was, c *Contact) {
	if c.Stage != was.Stage && !slices.Contains(firstStages, c.Stage) {
		w.addName(stageName, c.Stage)
	}
	for _, tag := range withoutKeys(c.Tag, was.Tag) {
		w.addName(tagName, tag)
	}
	for _, key := range withoutKeys(c.Segment, was.Segment) {
		w.addName(segmentName, key)
	}
	for key := range c.Attributes {
		if _, had := was.Attributes[key]; !had {
			w.addName(attributeName, key)
		}
	}
}

func (w *writtenNames) addName(kind, name string) {
	folded := compare.Text(name)
	for i := range w.names {
		if w.kinds[i] == kind && w.folded[i] == folded {
			return
		}
	}
	w.kinds, w.folded, w.names = append(w.kinds, kind), append(w.folded, folded), append(w.names, name)
}

const sentNamesSQL = `(SELECT * FROM unnest($2::text[], $3::text[] COLLATE "C", $4::text[] COLLATE "C")
	AS s (kind, folded, name) ORDER BY kind, folded) AS s`

// queue lists new tags and stages, and queues a check that the org has no name in another spelling. A violation is a
// SpellingError when the transaction is sent. It must follow the lock of new custom fields and precede their writes.
func (w *writtenNames) queue(tx *postgres.Tx) {
	if len(w.names) == 0 {
		return
	}
	if slices.Contains(w.kinds, tagName) || slices.Contains(w.kinds, stageName) {
		tx.Queue(`INSERT INTO vocabulary (org_id, kind, folded, name, created_at)
			SELECT $1, s.kind, s.folded, s.name, $5 FROM `+sentNamesSQL+` WHERE s.kind IN ('tag', 'stage')
			AND NOT EXISTS (SELECT FROM vocabulary v WHERE v.org_id = $1 AND v.kind = s.kind AND v.folded = s.folded)
			ON CONFLICT DO NOTHING`, tx.Org(), w.kinds, w.folded, w.names, wire.Now())
	}
	tx.Queue(`SELECT refuse('spelling', json_agg(x)::text) FROM (
			SELECT s.kind, s.name, coalesce(n.name, v.name) AS stored FROM `+sentNamesSQL+`
			JOIN vocabulary v ON v.org_id = $1 AND v.kind = s.kind AND v.folded = s.folded
			LEFT JOIN vocabulary n ON n.org_id = $1 AND n.kind = v.kind AND n.folded = v.successor AND v.successor <> ''
			UNION ALL SELECT s.kind, s.name, g.key FROM `+sentNamesSQL+`
			JOIN segment g ON g.org_id = $1 AND g.folded = s.folded WHERE s.kind = 'segment'
			AND NOT EXISTS (SELECT FROM segment e WHERE e.org_id = $1 AND e.key = s.name)
			UNION ALL SELECT s.kind, s.name, f.key FROM `+sentNamesSQL+`
			JOIN contact_field f ON f.org_id = $1 AND f.folded = s.folded AND f.archived_at IS NULL
			WHERE s.kind = 'attribute' AND NOT EXISTS (SELECT FROM contact_field e WHERE e.org_id = $1 AND e.key
				= s.name
				AND e.archived_at IS NULL)
		) AS x WHERE stored <> name HAVING count(*) > 0`, tx.Org(), w.kinds, w.folded, w.names).Fn = spellingResult
}

func spellingResult(br pgx.BatchResults) error {
	_, err := br.Exec()
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if ok && pg.Code == "FW001" && pg.Message == "spelling" {
		return &SpellingError{cause: fmt.Errorf("%s: %w", spellingDetail(pg.Detail), err)}
	}
	return err
}

// spellingDetail returns the kinds of the names in a refusal, which has no names: an error may be logged.
func spellingDetail(about string) string {
	var all []struct{ Kind string }
	if json.Unmarshal([]byte(about), &all) != nil || len(all) == 0 {
		return "name"
	}
	return all[0].Kind
}
