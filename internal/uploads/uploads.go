// Package uploads keeps the records of an uploaded file in blocks of a table until a job has imported them, and returns
// the rows that the import refused as a file.
//
// A kind of import has three tables with the same columns: NAME with one row for each import, NAME_block with its
// blocks, and NAME_error with its refused rows.
package uploads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// Tables is the NAME of a kind of import, a constant of the program.
type Tables string

// A block ends at 1,000 records or at this size.
const (
	blockRows  = 1000
	blockBytes = 4 << 20
)

// Stored is what Store has written.
type Stored struct{ Blocks, Rows int }

// Store writes the records below the header of a file. It holds one block in memory for a file of any size. see, if
// not nil, is called with the cells of every record that has as many as the header. A file that cannot be read is a
// validation fault.
func (t Tables) Store(ctx context.Context, db *postgres.DB, org, file id.ID, in *sheet.Reader, see func([]string)) (
	s Stored, err error,
) {
	var data []byte
	inBlock := 0
	for {
		cells, defect, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s, sheet.Unreadable(err)
		}
		data = sheet.AppendRecord(data, defect, cells)
		s.Rows++
		if defect == "" && see != nil {
			see(cells)
		}
		if inBlock++; inBlock == blockRows || len(data) >= blockBytes {
			if err := t.keep(ctx, db, org, file, s.Blocks, data); err != nil {
				return s, err
			}
			s.Blocks++
			data, inBlock = data[:0], 0
		}
	}
	if inBlock == 0 {
		return s, nil
	}
	err = t.keep(ctx, db, org, file, s.Blocks, data)
	s.Blocks++
	return s, err
}

func (t Tables) keep(ctx context.Context, db *postgres.DB, org, file id.ID, block int, data []byte) error {
	err := db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO `+string(t)+`_block (org_id, import_id, block, data) VALUES ($1, $2, $3, $4)`, org, file,
			block, data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("store block: %w", err)
	}
	return nil
}

// Drop deletes a file that no import has begun to read. It uses its own timeout, because the caller's context may be
// done. If it fails, retention deletes the file.
func (t Tables) Drop(ctx context.Context, db *postgres.DB, org, file id.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM `+string(t)+`_block WHERE org_id = $1 AND import_id = $2
			AND EXISTS (SELECT FROM `+string(t)+` WHERE org_id = $1 AND id = $2 AND status = 'uploading')`, org, file)
		tx.Queue(`DELETE FROM `+string(t)+` WHERE org_id = $1 AND id = $2 AND status = 'uploading'`, org, file)
		return nil
	})
}
