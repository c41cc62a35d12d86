package contacts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// List returns at most limit contacts selected by f in the order s, starting after a position, or at the beginning if
// after is nil. A position that does not fit s is an error.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int) ([]Row, error) {
	f = f.onward(s, after)
	if len(f.Words) > 0 {
		return search(ctx, tx, f, s, after, limit, usual())
	}
	set, err := findSelectiveSet(ctx, tx, f, s, usual().few)
	if err != nil {
		return nil, err
	}
	if set != nil {
		q, sql, err := gather(tx.Org(), f, s, after, limit, set.once)
		if err != nil {
			return nil, err
		}
		return q.list(ctx, tx, sql)
	}
	if stages := f.stages(); (s == Highest || s == Lowest) && len(stages) > 0 && len(stages) <= maxStagesByIndex {
		all, err := scoresHaveStages(ctx, tx)
		if err != nil {
			return nil, err
		}
		if all {
			q, sql, err := byStages(tx.Org(), f, s, after, limit, stages)
			if err != nil {
				return nil, err
			}
			return q.list(ctx, tx, sql)
		}
	}
	q := build(tx.Org(), f, s, true)
	sql, err := q.page(s, after, limit)
	if err != nil {
		return nil, err
	}
	return q.list(ctx, tx, sql)
}

// page appends the start position, the order and the limit.
func (q *query) page(s Sort, after *Position, limit int) (string, error) {
	if err := q.begin(s, after); err != nil {
		return "", err
	}
	d := s.direction()
	return "SELECT " + rowColumns + "\n" + q.from.String() + "\nWHERE " + q.where.String() +
		"\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(limit), nil
}

// Selecting returns a statement that selects id and created_at of the contacts that f selects. It can be embedded in an
// INSERT ... SELECT, or read in pieces ordered by both columns. $1 is the org; args are the caller's own arguments, $2
// and on, for the surrounding statement. The caller must send allArgs.
func Selecting(org id.ID, f *Filter, args ...any) (sql string, allArgs []any) {
	q := build(org, f, Newest, false, args...)
	return "SELECT c.id, c.created_at\n" + q.from.String() + "\nWHERE " + q.where.String(), q.args
}
