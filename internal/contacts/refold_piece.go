package contacts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Refolded is what RefoldPiece has done.
type Refolded struct {
	Read       int
	Last       id.ID // the last contact that was read
	Changed    int
	Collisions int // contacts whose address an older contact holds
}

// storedForms are the forms of a contact's texts as its row has them.
type storedForms struct {
	c        Contact
	archived bool
	address  string
	texts    []string // of foldedColumns; "" for NULL
	words    string
}

// foldedColumns are the columns with the form of one text, beside email_folded.
var foldedColumns = append([]string{"first_name", "last_name"}, TextNames()...)

// RefoldPiece computes the forms of at most n contacts after the given one again, and writes those that differ. Of live
// contacts with one address the oldest gets it.
func RefoldPiece(ctx context.Context, tx *postgres.Tx, after id.ID, n int) (out Refolded, err error) {
	ByKeys(tx)
	all, err := readForms(ctx, tx, ` AND id > $2 ORDER BY id LIMIT $3`, after, n)
	if err != nil || len(all) == 0 {
		return out, err
	}
	out.Read = len(all)
	out.Last = all[len(all)-1].c.ID
	stale, err := staleIDs(ctx, tx, all)
	if err != nil || len(stale) == 0 {
		return out, err
	}

	// Only rows that change are locked. They may have changed since.
	if all, err = readForms(ctx, tx, ` AND id = ANY ($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`, stale); err != nil {
		return out, err
	}
	for i := range all {
		s := &all[i]
		if s.hasOldAddress() {
			collides, err := s.writeAddress(ctx, tx)
			if err != nil {
				return out, err
			}
			if collides {
				out.Collisions++
			}
		}
		s.write(tx)
	}
	refoldAttributes(tx, all)
	out.Changed = len(all)
	return out, tx.Flush(ctx)
}

// staleIDs returns the contacts of which a form differs from the current one.
func staleIDs(ctx context.Context, tx *postgres.Tx, all []storedForms) (ids []id.ID, err error) {
	for i := range all {
		if all[i].isStale() {
			ids = append(ids, all[i].c.ID)
		}
	}
	a := attributeForms(all)
	if len(a.ids) == 0 {
		return ids, nil
	}
	rows, err := tx.Query(ctx, `SELECT DISTINCT a.contact_id FROM contact_attribute a JOIN `+attributeFormsSQL+`
		ON a.contact_id = u.id AND a.key = u.key WHERE `+attributeIsStale, tx.Org(), a.ids, a.keys, a.texts, a.rests)
	if err != nil {
		return nil, fmt.Errorf("compare attributes: %w", err)
	}
	more, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("compare attributes: %w", err)
	}
	return SortIDs(append(ids, more...)), nil
}

const (
	attributeFormsSQL = `unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) AS u (id, key, text, rest)`
	attributeIsStale  = `a.org_id = $1 AND (a.text IS DISTINCT FROM u.text OR a.rest IS DISTINCT FROM u.rest)`
)

// readForms reads the contacts that a condition selects, with its order and lock. Its arguments begin with $2.
func readForms(ctx context.Context, tx *postgres.Tx, condition string, args ...any) ([]storedForms, error) {
	var columns strings.Builder
	for _, name := range foldedColumns {
		columns.WriteString(", " + name + ", " + name + "_folded")
	}
	rows, err := tx.Query(ctx, `SELECT id, email, email_folded, created_at, archived_at IS NOT NULL, attributes, words`+
		columns.String()+` FROM contact WHERE org_id = $1`+condition, append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s storedForms, err error) {
		var attributes []byte
		texts := make([]*string, 2*len(foldedColumns))
		dst := []any{
			&s.c.ID, &s.c.Email, &s.address, &s.c.CreatedAt, &s.archived, &attributes, &s.words,
		}
		for i := range texts {
			dst = append(dst, &texts[i])
		}
		if err := row.Scan(dst...); err != nil {
			return s, err
		}
		s.c.FirstName, s.c.LastName = *texts[0], *texts[2]
		for i := range optionalTexts {
			*optionalTexts[i].Of(&s.c) = texts[4+2*i]
		}
		for i := range foldedColumns {
			folded := ""
			if texts[2*i+1] != nil {
				folded = *texts[2*i+1]
			}
			s.texts = append(s.texts, folded)
		}
		return s, json.Unmarshal(attributes, &s.c.Attributes)
	})
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	return all, nil
}

// forms returns the current forms of foldedColumns.
func (s *storedForms) forms() []string {
	out := []string{compare.Text(s.c.FirstName), compare.Text(s.c.LastName)}
	for i := range optionalTexts {
		folded := ""
		if v := *optionalTexts[i].Of(&s.c); v != nil {
			folded = compare.Text(*v)
		}
		out = append(out, folded)
	}
	return out
}

// isStale reports whether a stored form differs from the current one. A contact that has lost its address to an older
// one is not stale because of it.
func (s *storedForms) isStale() bool {
	return s.hasOldAddress() || !slices.Equal(s.texts, s.forms()) ||
		s.words != wordLine(wordsOf(&s.c))
}

// hasOldAddress reports whether the key of the address is neither the address nor that of one that was lost.
func (s *storedForms) hasOldAddress() bool {
	address := compare.Address(s.c.Email)
	return s.address != address && s.address != lostAddress(address, s.c.ID)
}

// lostAddress returns the key of a contact whose address an older contact holds. No address has a blank.
func lostAddress(folded string, i id.ID) string { return folded + " " + i.String() }

// writeAddress gives the contact its address, or the key of one that has lost it. It reports whether two live contacts
// have the address.
func (s *storedForms) writeAddress(ctx context.Context, tx *postgres.Tx) (collides bool, err error) {
	address := compare.Address(s.c.Email)
	set := func(i id.ID, folded string) {
		tx.Queue(`UPDATE contact SET email_folded = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), i, folded)
	}
	if s.archived {
		set(s.c.ID, address)
		return false, nil
	}

	var (
		holder id.ID
		since  time.Time
	)
	err = tx.QueryRow(ctx, `SELECT id, created_at FROM contact WHERE org_id = $1 AND email_folded = $2
		AND archived_at IS NULL AND id <> $3`, []any{tx.Org(), address, s.c.ID}, &holder, &since)
	switch {
	case postgres.None(err):
		set(s.c.ID, address)
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up address: %w", err)
	case since.Before(s.c.CreatedAt.Time):
		set(s.c.ID, lostAddress(address, s.c.ID))
	default:
		set(holder, lostAddress(address, holder))
		set(s.c.ID, address)
	}
	return true, nil
}

// write queues the forms of texts, and the search words.
func (s *storedForms) write(tx *postgres.Tx) {
	words := wordsOf(&s.c)
	var sql strings.Builder
	sql.WriteString(`UPDATE contact SET words = $3`)
	args := []any{tx.Org(), s.c.ID, wordLine(words)}
	for i, folded := range s.forms() {
		args = append(args, folded)
		fmt.Fprintf(&sql, ", %[1]s_folded = CASE WHEN %[1]s IS NOT NULL THEN $%[2]d END", foldedColumns[i], len(args))
	}
	tx.Queue(sql.String()+` WHERE org_id = $1 AND id = $2`, args...)
	tx.Queue(`DELETE FROM contact_word w USING unnest($3::text[]) AS u (word)
		WHERE w.org_id = $1 AND w.contact_id = $2 AND w.word = u.word`, tx.Org(), s.c.ID,
		withoutKeys(splitLine(s.words), words))
	tx.Queue(`INSERT INTO contact_word (org_id, word, contact_id) SELECT $1, u.word, $2 FROM unnest($3::text[])
		AS u (word)
		ON CONFLICT DO NOTHING`, tx.Org(), s.c.ID, words)
}

// attributeTexts are the texts of custom fields in their current forms, as parallel columns.
type attributeTexts struct {
	ids         []id.ID
	keys, texts []string
	rests       []*string
}

func attributeForms(all []storedForms) (a attributeTexts) {
	for i := range all {
		r := RowsOf(all[i].c.Attributes)
		for k, key := range r.Keys {
			if r.Texts[k] == nil {
				continue
			}
			a.ids, a.keys = append(a.ids, all[i].c.ID), append(a.keys, key)
			a.texts, a.rests = append(a.texts, *r.Texts[k]), append(a.rests, r.Rests[k])
		}
	}
	return a
}

// refoldAttributes queues the texts of custom fields of locked contacts that are stored in another form.
func refoldAttributes(tx *postgres.Tx, all []storedForms) {
	if a := attributeForms(all); len(a.ids) > 0 {
		tx.Queue(`UPDATE contact_attribute a SET text = u.text, rest = u.rest FROM `+attributeFormsSQL+`
			WHERE a.contact_id = u.id AND a.key = u.key AND
				`+attributeIsStale, tx.Org(), a.ids, a.keys, a.texts, a.rests)
	}
}

// AllTagsSQL selects all tags of contacts, live or archived. $1 is the org, $2 is "".
const AllTagsSQL = stepSQL + ` SELECT tag FROM step WHERE tag IS NOT NULL`

// FirstTag returns the spelling of a tag: the one that the vocabulary has, or else that of the contact that was created
// first. It lists the tag.
func FirstTag(ctx context.Context, tx *postgres.Tx, folded string, spellings []string) (first string, err error) {
	first = spellings[0]
	if len(spellings) > 1 {
		err = tx.QueryRow(ctx, `SELECT coalesce(
				(SELECT name FROM vocabulary WHERE org_id = $1 AND kind = 'tag' AND folded = $2),
				(SELECT s FROM unnest($3::text[]) AS s CROSS JOIN LATERAL (SELECT created_at FROM contact_tag t
					WHERE t.org_id = $1 AND t.tag = s AND t.archived IN (false, true) ORDER BY created_at LIMIT 1) AS t
				ORDER BY t.created_at, s LIMIT 1))`, []any{tx.Org(), folded, spellings}, &first)
		if err != nil {
			return "", fmt.Errorf("look up the first spelling: %w", err)
		}
	}
	listNames(tx, tagName, []string{folded}, []string{first})
	return first, nil
}

// ListStages queues the stages that the vocabulary lacks.
func ListStages(tx *postgres.Tx, stages []string) {
	listed := slices.DeleteFunc(slices.Clone(stages), func(s string) bool { return slices.Contains(firstStages, s) })
	listNames(tx, stageName, foldAll(listed), listed)
}

// listNames queues names that the vocabulary lacks. Of those that are one the first is listed.
func listNames(tx *postgres.Tx, kind string, folded, names []string) {
	tx.Queue(`INSERT INTO vocabulary (org_id, kind, folded, name, created_at)
		SELECT $1, $2, f, n, now() FROM unnest($3::text[], $4::text[]) AS u (f, n) ON CONFLICT DO NOTHING`, tx.Org(),
		kind, folded, names)
}

// splitLine returns the words of a wordLine.
func splitLine(line string) []string {
	return strings.Fields(line)
}
