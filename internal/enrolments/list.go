package enrolments

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// List returns at most limit enrolments that f selects, newest first, from the one before on; the zero before begins
// with the newest.
//
// Its cost is that of the page, in an org of any size: the page's ids are read from the end of each stretch of an index
// that has the filter's columns, one stretch for each state, and the enrolments by their ids.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, before id.ID, limit int) ([]Enrolment, error) {
	sql, args := f.pageSQL(tx.Org(), before, limit)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list enrolments: %w", err)
	}
	all, err := pgx.CollectRows(rows, states.Scan)
	if err != nil {
		return nil, fmt.Errorf("list enrolments: %w", err)
	}
	return all, nil
}

// pageSQL returns the statement of List.
func (f *Filter) pageSQL(org, before id.ID, limit int) (sql string, args []any) {
	if before.IsZero() {
		before = id.ID(bytes.Repeat([]byte{0xff}, len(before)))
	}
	args = []any{org, before, limit}
	ids := ""
	if f.Sequence != nil && f.Contact == nil {
		ids = f.sequencePageSQL(func(v any) string {
			args = append(args, v)
			return "$" + strconv.Itoa(len(args))
		})
	} else { // a contact has few
		var where string
		where, args = f.where(args...)
		ids = `SELECT n.id FROM enrolment n WHERE n.org_id = $1 AND ` + where + ` AND n.id < $2
			ORDER BY n.contact_id DESC, n.id DESC LIMIT $3`
	}

	return `SELECT ` + states.Columns + ` FROM (` + ids + `) AS page CROSS JOIN LATERAL (
		SELECT * FROM enrolment WHERE org_id = $1 AND id = page.id LIMIT 1) AS n ORDER BY page.id DESC`, args
}

// sequencePageSQL returns the statement for the ids of a page of a sequence. arg adds an argument after the org, the id
// before which the page begins, and the limit.
//
// The columns before the id are bounded as a row and are part of the order, though each has one value: only the index
// that serves f has this order. With plain conditions another index costs no more where the planner expects one row,
// and then reads the sequence or the org.
func (f *Filter) sequencePageSQL(arg func(any) string) string {
	columns, values, also := "n.state, n.id", "", ""
	switch {
	case f.Reason != "":
		columns, values, also = "n.reason, "+columns, arg(f.Reason)+", ", " AND n.reason <> ''"
		if f.Step != "" { // the index has it after the id
			also += " AND n.step = " + arg(f.Step)
		}
	case f.Step != "":
		columns, values = "n.step, "+columns, arg(f.Step)+", "
	}
	chosen := f.States
	if len(chosen) == 0 {
		chosen = states.All()
	}
	sequence, lowest := arg(*f.Sequence), arg(id.ID{})
	parts := make([]string, len(chosen))
	for i, state := range chosen {
		value := values + arg(state) + ", "
		parts[i] = `(SELECT n.id FROM enrolment n WHERE n.org_id = $1 AND n.sequence_id = ` + sequence + also +
			` AND (` + columns + `) >= (` + value + lowest + `) AND (` + columns + `) < (` + value + `$2)
			ORDER BY ` + strings.ReplaceAll(columns, ",", " DESC,") + ` DESC LIMIT $3)`
	}

	return `SELECT id FROM (` + strings.Join(parts, ` UNION ALL `) + `) AS newest ORDER BY id DESC LIMIT $3`
}
