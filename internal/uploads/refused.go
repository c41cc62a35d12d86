package uploads

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// rowsPerRead is the number of refused rows or warnings per read.
const rowsPerRead = 500

// refusal is a row that an import has refused.
type refusal struct {
	row          int
	code, detail string
	record       []byte
}

// Refusals collects the refused rows of a step.
type Refusals struct{ all []refusal }

// Add adds a row.
func (f *Refusals) Add(r *sheet.Record, code, detail, delimiter string) {
	if delimiter == "" {
		delimiter = "," // of the text that FormerRecords makes
	}
	f.all = append(f.all, refusal{r.Row, code, detail, sheet.AppendRecord(nil, r, delimiter)})
}

// Len returns the number of rows.
func (f *Refusals) Len() int { return len(f.all) }

// QueueRefusals queues the insert of refused rows.
func (t Tables) QueueRefusals(tx *postgres.Tx, file id.ID, f *Refusals) {
	if len(f.all) == 0 {
		return
	}

	rows, codes := make([]int, len(f.all)), make([]string, len(f.all))
	details, records := make([]string, len(f.all)), make([][]byte, len(f.all))
	for i, r := range f.all {
		rows[i] = r.row
		codes[i] = r.code
		details[i] = r.detail
		records[i] = r.record
	}

	tx.Queue(`INSERT INTO `+string(t)+`_error (org_id, import_id, row, code, detail, cells)
		SELECT $1, $2, u.row, u.code, u.detail, u.cells
		FROM unnest($3::int[], $4::text[], $5::text[], $6::bytea[]) AS u (row, code, detail, cells)`,
		tx.Org(), file, rows, codes, details, records)
}

// Refused returns a function that reads an import's refused rows as CSV in UTF-8: the columns row, code and detail, and
// behind them the line as it was sent, with the delimiter of the source. columns are the names of the columns. It reads
// in chunks, each in its own transaction, and ends with io.EOF.
func (t Tables) Refused(db *postgres.DB, org, file id.ID, s Source, columns []string) func(context.Context) (
	[]byte, error,
) {
	delimiter, header := s.Delimiter, s.HeaderText
	if delimiter == "" {
		delimiter, header = ",", sheet.Line(columns, ",")
	}

	line := func(out *bytes.Buffer, text string, first ...string) {
		out.WriteString(sheet.Line(first, delimiter))
		out.WriteString(delimiter)
		out.WriteString(text)
		out.WriteByte('\n')
	}

	return t.chunks(db, org, func(out *bytes.Buffer) { line(out, header, sheet.RefusedColumns...) },
		func(ctx context.Context, tx *postgres.Tx, after int, out *bytes.Buffer) (int, error) {
			rows, err := tx.Query(ctx, `SELECT row, code, detail, cells FROM `+string(t)+`_error
				WHERE org_id = $1 AND import_id = $2 AND row > $3 ORDER BY row LIMIT $4`, org, file, after, rowsPerRead)
			if err != nil {
				return 0, err
			}

			var (
				row          int
				code, detail string
				record       []byte
			)
			_, err = pgx.ForEachRow(rows, []any{&row, &code, &detail, &record}, func() error {
				after = row
				sent, err := storedRecord(record, delimiter, row)
				if err != nil {
					return fmt.Errorf("row %d: %w", row, err)
				}
				line(out, sent, strconv.Itoa(row), code, sheet.Cell(detail))
				return nil
			})

			return after, err
		})
}

// storedRecord returns the text of a refused row that is stored in the present or in the former form.
func storedRecord(b []byte, delimiter string, row int) (string, error) {
	if all, err := sheet.Records(b, delimiter); err == nil && len(all) == 1 && all[0].Row == row {
		return all[0].Text, nil
	}
	all, err := sheet.FormerRecords(b, row)
	if err != nil || len(all) != 1 {
		return "", fmt.Errorf("decode: %w", err)
	}
	return all[0].Text, nil
}

// chunks returns a function that reads a file in chunks, each in its own transaction, and ends with io.EOF. begin
// writes the header, and read writes what follows the row after, and returns the last row.
func (t Tables) chunks(db *postgres.DB, org id.ID, begin func(*bytes.Buffer),
	read func(ctx context.Context, tx *postgres.Tx, after int, out *bytes.Buffer) (int, error),
) func(context.Context) ([]byte, error) {
	after := 0
	begun := false

	return func(ctx context.Context) ([]byte, error) {
		var out bytes.Buffer
		if !begun {
			begun = true
			begin(&out)
		}
		err := db.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
			after, err = read(ctx, tx, after, &out)
			return err
		})
		if err == nil && out.Len() == 0 {
			err = io.EOF
		}

		return out.Bytes(), err
	}
}
