package imports

import (
	"context"
	"fmt"
	"io"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/uploads"
)

// tables hold the files of imports.
const tables uploads.Tables = "contact_import"

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

// take stores the records below the header and guesses the types of the columns.
func (s *Staged) take(ctx context.Context, db *postgres.DB, org id.ID, in *sheet.Reader) error {
	types := make([]guessed, len(s.columns))
	stored, err := tables.Store(ctx, db, org, s.ID, in, func(cells []string) {
		for i, c := range cells {
			types[i].see(c)
		}
	})
	for i := range s.columns {
		s.columns[i].Type = types[i].fits()
	}
	s.blocks, s.rows = stored.Blocks, stored.Rows
	return err
}

// Drop deletes a staged file. It uses its own timeout, because the caller's context may be done. If it fails, retention
// deletes the file.
func (s *Staged) Drop(ctx context.Context, db *postgres.DB, org id.ID) {
	tables.Drop(ctx, db, org, s.ID)
}
