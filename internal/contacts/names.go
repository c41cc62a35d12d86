package contacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Kinds of names. Tags and stages are listed in the table vocabulary, keys of segments and of custom fields in the
// tables of their definitions.
const (
	tagName       = "tag"
	stageName     = "stage"
	segmentName   = "segment"
	attributeName = "attribute"
)

// firstStages are the stages that a new org has. They are not listed in the vocabulary, so that the usual contact costs
// no row there.
var firstStages = []string{
	"subscriber", DefaultStage, "mql", "sql", "opportunity", "customer", "evangelist", "other",
}

// storedName is a name of an org: how it is shown, and how rows have it.
type storedName struct {
	name      string
	spellings []string // of rows; name is the first
	forms     []string // folded names that mean it: its own first, then those that were renamed to it
}

// vocabularyRow is a row of the table.
type vocabularyRow struct {
	Kind, Folded, Name string
	Former             []string
	Successor          string
}

const vocabularyColumns = `v.kind, v.folded, v.name, v.former, v.successor FROM vocabulary v WHERE v.org_id = $1
	AND v.kind = ANY ($2::text[])`

// readNames returns the tags and stages whose folded names are given, or all of them for nil.
func readNames(ctx context.Context, tx *postgres.Tx, kinds, folded []string) ([]vocabularyRow, error) {
	sql := `SELECT ` + vocabularyColumns
	args := []any{tx.Org(), kinds}
	if folded != nil {
		args = append(args, folded)
		sql += ` AND v.folded = ANY ($3::text[]) UNION ALL SELECT v.kind, v.folded, v.name, v.former, v.successor
			FROM vocabulary o JOIN vocabulary v ON v.org_id = $1 AND v.kind = o.kind AND v.folded = o.successor
			WHERE o.org_id = $1 AND o.kind = ANY ($2::text[]) AND o.folded = ANY ($3::text[]) AND o.successor <> ''`
	}
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[vocabularyRow])
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	return all, nil
}

// namesOf joins the rows of a kind that were renamed to the rows of their new names.
func namesOf(all []vocabularyRow, kind string) map[string]*storedName {
	names := map[string]*storedName{}
	for _, r := range all {
		if r.Kind == kind && r.Successor == "" {
			names[r.Folded] = &storedName{
				name: r.Name, spellings: append([]string{r.Name}, r.Former...), forms: []string{r.Folded},
			}
		}
	}
	for _, r := range all {
		if n := names[r.Successor]; n != nil && r.Kind == kind && !slices.Contains(n.forms, r.Folded) {
			n.forms = append(n.forms, r.Folded)
		}
	}
	return names
}

// addPlain adds a name that has one spelling, unless the vocabulary lists it.
func addPlain(names map[string]*storedName, name string) {
	folded := compare.Text(name)
	if n := names[folded]; n == nil {
		names[folded] = &storedName{name: name, spellings: []string{name}, forms: []string{folded}}
	} else if !slices.Contains(n.spellings, name) {
		n.spellings = append(n.spellings, name)
	}
}

// readFieldNames returns the stored names of a filter field of type Key or Keys. folded restricts tags to those that
// have one of the forms; nil means all.
func readFieldNames(ctx context.Context, tx *postgres.Tx, field string, folded []string) (map[string]*storedName,
	error,
) {
	switch field {
	case tagName, stageName:
		if field == stageName {
			folded = nil // few
		}
		all, err := readNames(ctx, tx, []string{field}, folded)
		if err != nil {
			return nil, err
		}
		names := namesOf(all, field)
		if field == tagName {
			return names, nil
		}
		for _, s := range firstStages {
			addPlain(names, s)
		}
		return names, readPlain(ctx, tx, names, `SELECT unnest(stages) FROM org WHERE id = $1`)
	case segmentName:
		names := map[string]*storedName{}
		return names, readPlain(ctx, tx, names, `SELECT key FROM segment WHERE org_id = $1 AND archived_at IS NULL`)
	}
	return map[string]*storedName{}, nil
}

// readPlain adds the names that sql selects. $1 is the org.
func readPlain(ctx context.Context, tx *postgres.Tx, names map[string]*storedName, sql string) error {
	rows, err := tx.Query(ctx, sql, tx.Org())
	if err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	for _, name := range all {
		addPlain(names, name)
	}
	return nil
}

// resolve looks up the stored names of a filter's conditions.
func resolve(ctx context.Context, tx *postgres.Tx, f *filter.Filter) error {
	if !f.HasNames() {
		return nil
	}
	names := map[string]map[string]*storedName{}
	for _, field := range []string{tagName, stageName, segmentName} {
		if !slices.Contains(f.Fields(), field) {
			continue
		}
		var folded []string
		if values, whole := f.Names(field); whole {
			folded = foldAll(values)
		}
		var err error
		if names[field], err = readFieldNames(ctx, tx, field, folded); err != nil {
			return err
		}
	}
	f.Resolve(func(field string, holds func(folded string) bool) []string {
		out := []string{}
		for _, n := range names[field] {
			if slices.ContainsFunc(n.forms, holds) {
				out = append(out, n.spellings...)
			}
		}
		return out
	})
	return nil
}

// Resolve replaces the stages, tags and segments of f by the stored spellings that they mean.
func (f *Filter) Resolve(ctx context.Context, tx *postgres.Tx) error {
	for field, values := range map[string]*[]string{
		stageName: &f.Stages, tagName: &f.Tags, segmentName: &f.Segments,
	} {
		if len(*values) == 0 {
			continue
		}
		folded := foldAll(*values)
		names, err := readFieldNames(ctx, tx, field, folded)
		if err != nil {
			return err
		}
		var out []string
		for i, sent := range *values {
			found := false
			for _, n := range names {
				if slices.Contains(n.forms, folded[i]) {
					out = append(out, n.spellings...)
					found = true
				}
			}
			if !found {
				out = append(out, sent)
			}
		}
		slices.Sort(out)
		*values = slices.Compact(out)
	}
	return nil
}

func foldAll(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = compare.Text(v)
	}
	return out
}
