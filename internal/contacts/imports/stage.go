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
	source   uploads.Source
	columns  []Column
	blocks   int
	rows     int
}

// Stage reads an uploaded file as the options say and stores its records. It holds one block in memory, whatever the
// file's size. A file that cannot be read, because it is empty, of another kind, its header is invalid or a record is
// too long, is a validation fault. An error of from is returned unchanged. After any error the stored blocks are
// deleted, at the latest by the retention within hours.
func Stage(ctx context.Context, db *postgres.DB, org id.ID, from io.Reader, o sheet.Options) (
	s *Staged, err error,
) {
	o.Known = knownName
	in, err := sheet.NewReader(from, o)
	if err != nil {
		return nil, err
	}
	defer in.Close()

	s = &Staged{ID: id.New(), source: uploads.SourceOf(in)}
	if s.columns, err = columnsOf(in.Header); err != nil {
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
	stored, err := tables.Store(ctx, db, org, s.ID, in, func(r *sheet.Record) {
		for i := range min(len(r.Cells), len(types)) {
			types[i].see(r.Cells[i])
		}
	})
	for i := range s.columns {
		c := &s.columns[i]
		c.Type = types[i].fits()
		c.Filled = types[i].some
		c.Dates = types[i].dates()
	}
	s.blocks, s.rows = stored.Blocks, stored.Rows

	return err
}

// Reread reads a staged file again with options that were sent behind it, unless it was read in this way. It returns
// the file to use, which is the receiver or replaces it.
func (s *Staged) Reread(ctx context.Context, db *postgres.DB, org id.ID, o sheet.Options) (*Staged, error) {
	must, err := s.source.MustReread(o)
	if err != nil || !must {
		return s, err
	}

	again, err := Stage(ctx, db, org, tables.Reread(ctx, db, org, s.ID, s.source, s.blocks), o)
	if err != nil {
		return s, err
	}
	again.FileName = s.FileName
	s.Drop(ctx, db, org)

	return again, nil
}

// Drop deletes a staged file. It uses its own timeout, because the caller's context may be done. If it fails, retention
// deletes the file.
func (s *Staged) Drop(ctx context.Context, db *postgres.DB, org id.ID) {
	tables.Drop(ctx, db, org, s.ID)
}
