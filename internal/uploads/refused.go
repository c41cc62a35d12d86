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

// refusedRows is the number of refused rows per read.
const refusedRows = 500

// Refused returns a function that reads an import's refused rows as CSV: row, code, detail and the columns as sent. It
// reads in chunks, each in its own transaction, and ends with io.EOF. A row with too many or too few cells has as many
// as there are columns.
func (t Tables) Refused(db *postgres.DB, org, file id.ID, columns []string) func(context.Context) ([]byte, error) {
	after, begun := 0, false
	return func(ctx context.Context) ([]byte, error) {
		var out bytes.Buffer
		w := sheet.NewWriter(&out)
		if !begun {
			begun = true
			_ = w.Write(append([]string{"row", "code", "detail"}, columns...)) // writes to a buffer never fail
		}
		n := 0
		err := db.ReadTx(ctx, org, func(tx *postgres.Tx) error {
			rows, err := tx.Query(ctx, `SELECT row, code, detail, cells FROM `+string(t)+`_error
				WHERE org_id = $1 AND import_id = $2 AND row > $3 ORDER BY row LIMIT $4`, org, file, after, refusedRows)
			if err != nil {
				return err
			}
			var (
				row          int
				code, detail string
				cells        []byte
			)
			_, err = pgx.ForEachRow(rows, []any{&row, &code, &detail, &cells}, func() error {
				n++
				after = row
				sent, err := sheet.Records(cells)
				if err != nil || len(sent) != 1 {
					return fmt.Errorf("row %d: %w", row, err)
				}
				line := make([]string, 3, 3+len(columns))
				line[0], line[1], line[2] = strconv.Itoa(row), code, detail
				for c := range columns {
					cell := ""
					if c < len(sent[0].Cells) {
						cell = sheet.Text(sent[0].Cells[c])
					}
					line = append(line, cell)
				}
				return w.Write(line)
			})
			return err
		})
		_ = w.Flush() // writes to a buffer never fail
		if err == nil && n == 0 && out.Len() == 0 {
			err = io.EOF
		}
		return out.Bytes(), err
	}
}
