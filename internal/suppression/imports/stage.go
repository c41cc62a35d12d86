package imports

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/uploads"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// tables hold the files of imports.
const tables uploads.Tables = "suppression_import"

// Staged is an uploaded file.
type Staged struct {
	ID       id.ID
	FileName string
	source   uploads.Source
	columns  []column
	blocks   int
	rows     int
}

// Stage reads an uploaded file as the options say and stores its records. It holds one block in memory, whatever the
// file's size. by says who uploads it: "user/<id>". A file that cannot be read is a validation fault; an error of from
// is returned unchanged. After any error the stored blocks are deleted, at the latest by the retention within hours.
func Stage(ctx context.Context, db *postgres.DB, org id.ID, by string, from io.Reader, o sheet.Options) (
	*Staged, error,
) {
	o.Known = knownName
	in, err := sheet.NewReader(from, o)
	if err != nil {
		return nil, err
	}
	defer in.Close()

	names, err := sheet.Names(in.Header)
	if err != nil {
		return nil, err
	}
	s := &Staged{ID: id.New(), source: uploads.SourceOf(in)}
	if s.columns, err = mapColumns(names); err != nil {
		return nil, err
	}
	if err := db.Tx(ctx, org, func(tx *postgres.Tx) error {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		tx.Queue(`INSERT INTO suppression_import (org_id, id, status, created_by, link_key, created_at)
			VALUES ($1, $2, 'uploading', $3, $4, $5)`, org, s.ID, by, key, wire.Now())
		return nil
	}); err != nil {
		return nil, fmt.Errorf("begin import: %w", err)
	}
	if err := s.storeRecords(ctx, db, org, in); err != nil {
		s.Drop(ctx, db, org)
		return nil, err
	}

	return s, nil
}

// storeRecords stores the records below the header.
func (s *Staged) storeRecords(ctx context.Context, db *postgres.DB, org id.ID, in *sheet.Reader) error {
	stored, err := tables.Store(ctx, db, org, s.ID, in, func(r *sheet.Record) {
		for i := range s.columns {
			if c := &s.columns[i]; !c.Filled {
				c.Filled = strings.TrimSpace(r.Cell(i)) != ""
			}
		}
	})
	s.blocks, s.rows = stored.Blocks, stored.Rows
	return err
}

// Reread reads a staged file again with options that were sent behind it, unless it was read in this way. It returns
// the file to use, which is the receiver or replaces it.
func (s *Staged) Reread(ctx context.Context, db *postgres.DB, org id.ID, by string, o sheet.Options) (*Staged, error) {
	must, err := s.source.MustReread(o)
	if err != nil || !must {
		return s, err
	}

	again, err := Stage(ctx, db, org, by, tables.Reread(ctx, db, org, s.ID, s.source, s.blocks), o)
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

// Choices holds the parameters of an import besides its file. They apply to lines without their own.
type Choices struct {
	Purpose, Reason string
	Strict          bool // a cell that is not understood costs its row
}

// Check sets the defaults and records what is invalid.
func (c *Choices) Check(f *form.Form) {
	n := suppression.New{Domain: "example.com", Purpose: c.Purpose, Reason: c.Reason}
	n.Check(f)
	c.Purpose = n.Purpose
	c.Reason = n.Reason
}

// Queue creates an import from a staged file. The caller must enqueue its job, and must call Drop if Queue returns an
// error. The caller has checked c.
func Queue(ctx context.Context, tx *postgres.Tx, s *Staged, c Choices) (Import, error) {
	names, err := json.Marshal(s.columns)
	if err != nil {
		return Import{}, fmt.Errorf("encode columns: %w", err)
	}
	source, err := json.Marshal(s.source)
	if err != nil {
		return Import{}, fmt.Errorf("encode source: %w", err)
	}
	n, err := tx.Exec(ctx, `UPDATE suppression_import SET status = 'queued', file_name = nullif($3, ''), columns = $4,
			purpose = $5, reason = $6, blocks = $7, rows_total = $8, strict = $9, source = $10
		WHERE org_id = $1 AND id = $2 AND status = 'uploading'`, tx.Org(), s.ID, s.FileName, names, c.Purpose, c.Reason,
		s.blocks, s.rows, c.Strict, source)
	if err != nil {
		return Import{}, fmt.Errorf("queue import: %w", err)
	}
	if n == 0 {
		return Import{}, fault.New(fault.Conflict, "The upload took too long and was aborted.")
	}

	return readImport(ctx, tx, s.ID, "")
}
