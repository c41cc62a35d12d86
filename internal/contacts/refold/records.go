package refold

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// foldContacts refolds a piece of the contacts, live and archived.
func (r *Refolder) foldContacts(ctx context.Context, tx *postgres.Tx, at *place) error {
	done, err := contacts.RefoldPiece(ctx, tx, at.from(), r.piece())
	at.rows += int64(done.Changed)
	at.collisions += done.Collisions
	at.moveOn(done.Last, done.Read, r.piece())
	return err
}

// named is a table of records with names, and how they are found by them.
type named struct {
	table  string
	folded string // the column of the folded name, or ""
	more   string // a further text with search words, or ""
	words  string // the table of search words, or ""
	of     string // its column of the record
}

func (r *Refolder) foldCompanies(ctx context.Context, tx *postgres.Tx, at *place) error {
	return r.foldNamed(ctx, tx, at, named{
		"company", "name_folded", "coalesce(domain, '')", "company_word",
		"company_id",
	})
}

func (r *Refolder) foldDeals(ctx context.Context, tx *postgres.Tx, at *place) error {
	return r.foldNamed(ctx, tx, at, named{"deal", "", "''", "deal_word", "deal_id"})
}

func (r *Refolder) foldSequences(ctx context.Context, tx *postgres.Tx, at *place) error {
	return r.foldNamed(ctx, tx, at, named{"sequence", "name_folded", "''", "", ""})
}

func (r *Refolder) foldTemplates(ctx context.Context, tx *postgres.Tx, at *place) error {
	return r.foldNamed(ctx, tx, at, named{"template", "name_folded", "''", "", ""})
}

// foldNamed refolds a piece of the records of a table. It locks only those that change.
func (r *Refolder) foldNamed(ctx context.Context, tx *postgres.Tx, at *place, n named) error {
	contacts.ByKeys(tx)
	all, err := readRecords(ctx, tx, n, ` AND id > $2 ORDER BY id LIMIT $3`, at.from(), r.piece())
	if err != nil {
		return err
	}
	last := at.from()
	var stale []id.ID
	for _, one := range all {
		last = one.id
		if n.folded != "" && one.folded != compare.Text(one.name) ||
			n.words != "" && !slices.Equal(one.oldWords(), one.newWords()) {
			stale = append(stale, one.id)
		}
	}
	at.moveOn(last, len(all), r.piece())
	if len(stale) == 0 {
		return nil
	}

	if all, err = readRecords(ctx, tx, n, ` AND id = ANY ($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
		stale); err != nil {
		return err
	}
	for _, one := range all {
		if n.folded != "" {
			tx.Queue(`UPDATE `+n.table+` SET `+n.folded+` = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), one.id,
				compare.Text(one.name))
		}
		if n.words != "" {
			tx.Queue(`DELETE FROM `+n.words+` WHERE org_id = $1 AND word = ANY ($3::text[]) AND word <> ALL ($4::text[])
				AND `+n.of+` = $2`, tx.Org(), one.id, one.oldWords(), one.newWords())
			tx.Queue(`INSERT INTO `+n.words+` (org_id, word, `+n.of+`) SELECT $1, u, $2 FROM unnest($3::text[]) AS u
				ON CONFLICT DO NOTHING`, tx.Org(), one.id, one.newWords())
		}
	}
	at.rows += int64(len(all))
	return tx.Flush(ctx)
}

// record is a record with the texts that it is found by.
type record struct {
	id                 id.ID
	name, more, folded string
}

// readRecords reads the records that a condition selects, with its order and lock. Its arguments begin with $2.
func readRecords(ctx context.Context, tx *postgres.Tx, n named, condition string, args ...any) ([]record, error) {
	rows, err := tx.Query(ctx, `SELECT id, name, `+n.more+`, `+cmp.Or(n.folded, "''")+` FROM `+n.table+`
		WHERE org_id = $1`+condition, append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r record, err error) {
		return r, row.Scan(&r.id, &r.name, &r.more, &r.folded)
	})
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	return all, nil
}

func (r *record) newWords() []string { return compare.Indexed(r.name, r.more) }

// oldWords returns the words by which the record was found before version 1: in lower case, with accents.
func (r *record) oldWords() []string {
	out := []string{}
	for _, t := range []string{r.name, r.more} {
		lower := norm.NFC.String(strings.ToLower(norm.NFC.String(t)))
		for _, w := range strings.FieldsFunc(lower, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			if w = compare.Cut(w, 40); !slices.Contains(out, w) && len(out) < 24 {
				out = append(out, w)
			}
		}
	}
	return out
}
