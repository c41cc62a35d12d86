package imports

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

// failedRows is the number of failed rows per read.
const failedRows = 500

// Failed returns a function that reads an import's failed rows as CSV: row, code, detail and the columns as sent. It
// reads in chunks, each in its own transaction.
func Failed(i *Import, db *postgres.DB, org id.ID) func(context.Context) ([]byte, error) {
	after, begun := 0, false
	return func(ctx context.Context) ([]byte, error) {
		var out bytes.Buffer
		w := sheet.NewWriter(&out)
		if !begun {
			names := []string{"row", "code", "detail"}
			for _, c := range i.columns {
				names = append(names, c.Name)
			}
			begun = true
			_ = w.Write(names) // writes to a buffer never fail
		}
		n := 0
		err := db.ReadTx(ctx, org, func(tx *postgres.Tx) error {
			rows, err := tx.Query(ctx,
				`SELECT row, code, detail, cells FROM contact_import_error WHERE org_id = $1 AND import_id = $2
					AND row > $3 ORDER BY row LIMIT $4`,
				org, i.ID, after, failedRows)
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
				line := []string{strconv.Itoa(row), code, detail}
				sent, err := sheet.Records(cells)
				if err != nil || len(sent) != 1 {
					return fmt.Errorf("row %d: %w", row, err)
				}
				for _, c := range sent[0].Cells {
					line = append(line, sheet.Text(c))
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
