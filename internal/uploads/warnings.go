package uploads

import (
	"bytes"
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// Warning is about a row that was imported: a cell that was left out, or how the row was read.
type Warning struct {
	Row    int
	Column string // "": the whole row
	Code   string
	Detail string
}

// Codes of warnings about whole rows.
const (
	WarnConverted = "read_as_windows_1252"
	WarnRepeated  = "repeated_row"
)

// Converted returns the warning about a row that is no UTF-8.
func Converted(row int) Warning {
	return Warning{Row: row, Code: WarnConverted, Detail: "The row is not in UTF-8. It was read as Windows-1252."}
}

// QueueWarnings queues the insert of warnings. first is the number of those that the import has already.
func (t Tables) QueueWarnings(tx *postgres.Tx, file id.ID, first int, all []Warning) {
	if len(all) == 0 {
		return
	}

	numbers, rows := make([]int, len(all)), make([]int, len(all))
	columns, codes, details := make([]string, len(all)), make([]string, len(all)), make([]string, len(all))
	for i, w := range all {
		numbers[i] = first + i + 1
		rows[i] = w.Row
		columns[i] = w.Column
		codes[i] = w.Code
		details[i] = w.Detail
	}

	tx.Queue(`INSERT INTO `+string(t)+`_warning (org_id, import_id, number, row, col, code, detail)
		SELECT $1, $2, u.number, u.row, nullif(u.col, ''), u.code, u.detail
		FROM unnest($3::int[], $4::int[], $5::text[], $6::text[], $7::text[]) AS u (number, row, col, code, detail)`,
		tx.Org(), file, numbers, rows, columns, codes, details)
}

// Warnings returns a function that reads an import's warnings as CSV: row, column, code and detail. It reads in chunks
// and ends with io.EOF.
func (t Tables) Warnings(db *postgres.DB, org, file id.ID) func(context.Context) ([]byte, error) {
	write := func(out *bytes.Buffer, cells ...string) {
		for i := range cells {
			cells[i] = sheet.Cell(cells[i])
		}
		out.WriteString(sheet.Line(cells, ",") + "\n")
	}

	return t.chunks(db, org, func(out *bytes.Buffer) { write(out, "row", "column", "code", "detail") },
		func(ctx context.Context, tx *postgres.Tx, after int, out *bytes.Buffer) (int, error) {
			rows, err := tx.Query(ctx, `SELECT number, row, coalesce(col, ''), code, detail FROM `+string(t)+`_warning
				WHERE org_id = $1 AND import_id = $2 AND number > $3 ORDER BY number LIMIT $4`, org, file, after,
				rowsPerRead)
			if err != nil {
				return 0, err
			}

			var (
				row                  int
				column, code, detail string
			)
			_, err = pgx.ForEachRow(rows, []any{&after, &row, &column, &code, &detail}, func() error {
				write(out, strconv.Itoa(row), column, code, detail)
				return nil
			})

			return after, err
		})
}
