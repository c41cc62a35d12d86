package imports

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

// A block ends at 1,000 records or at this size.
const (
	blockRows  = 1000
	blockBytes = 4 << 20
)

// Staged is an uploaded file.
type Staged struct {
	ID       id.ID
	FileName string
	columns  []Column
	blocks   int
	rows     int
}

// Stage reads an uploaded file and stores its records. It holds one block in memory, whatever the file's size. A file
// that cannot be read, because it is empty, its header is invalid or a record is too long, is a validation fault. An
// error of from is returned unchanged. After any error the stored blocks are deleted, at the latest by the retention
// within hours.
func Stage(ctx context.Context, db *postgres.DB, org id.ID, from io.Reader) (s *Staged, err error) {
	in, err := sheet.NewReader(from)
	if err != nil {
		return nil, err
	}
	names, err := in.Header()
	if err != nil {
		return nil, sheet.Unreadable(err)
	}
	s = &Staged{ID: id.New()}
	if s.columns, err = header(names); err != nil {
		return nil, err
	}
	if err := db.Tx(ctx, org, func(tx *postgres.Tx) error {
		begin(ctx, tx, s.ID)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("begin import: %w", err)
	}
	if err := s.take(ctx, db, org, in); err != nil {
		s.Drop(ctx, db, org)
		return nil, err
	}
	return s, nil
}

// take stores the records below the header.
func (s *Staged) take(ctx context.Context, db *postgres.DB, org id.ID, in *sheet.Reader) error {
	types := make([]guessed, len(s.columns))
	var data []byte
	inBlock := 0
	for {
		cells, wrong, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return sheet.Unreadable(err)
		}
		data = sheet.AppendRecord(data, wrong, cells)
		s.rows++
		if wrong == "" {
			for i, c := range cells {
				types[i].see(c)
			}
		}
		if inBlock++; inBlock == blockRows || len(data) >= blockBytes {
			if err := s.keep(ctx, db, org, data); err != nil {
				return err
			}
			data, inBlock = data[:0], 0
		}
	}
	for i := range s.columns {
		s.columns[i].Type = types[i].fits()
	}
	if inBlock == 0 {
		return nil
	}
	return s.keep(ctx, db, org, data)
}

func (s *Staged) keep(ctx context.Context, db *postgres.DB, org id.ID, data []byte) error {
	err := db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO contact_import_block (org_id, import_id, block, data) VALUES ($1, $2, $3, $4)`, org,
			s.ID, s.blocks, data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("store block: %w", err)
	}
	s.blocks++
	return nil
}

// Drop deletes a staged file. It uses its own timeout, because the caller's context may be done. If it fails, retention
// deletes the file.
func (s *Staged) Drop(ctx context.Context, db *postgres.DB, org id.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM contact_import_block WHERE org_id = $1 AND import_id = $2
			AND EXISTS (SELECT FROM contact_import WHERE org_id = $1 AND id = $2 AND status = 'uploading')`, org, s.ID)
		tx.Queue(`DELETE FROM contact_import WHERE org_id = $1 AND id = $2 AND status = 'uploading'`, org, s.ID)
		return nil
	})
}
