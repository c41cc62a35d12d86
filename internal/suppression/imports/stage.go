package imports

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"

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
	columns  []column
	blocks   int
	rows     int
}

// Stage reads an uploaded file and stores its records. It holds one block in memory, whatever the file's size. by says
// who uploads it: "user/<id>". A file that cannot be read is a validation fault; an error of from is returned
// unchanged. After any error the stored blocks are deleted, at the latest by the retention within hours.
func Stage(ctx context.Context, db *postgres.DB, org id.ID, by string, from io.Reader) (*Staged, error) {
	in, err := sheet.NewReader(from)
	if err != nil {
		return nil, err
	}
	first, err := in.Header()
	if err != nil {
		return nil, sheet.Unreadable(err)
	}
	names, err := sheet.Names(first)
	if err != nil {
		return nil, err
	}
	s := &Staged{ID: id.New()}
	if s.columns, err = mapped(names); err != nil {
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
	if err := s.take(ctx, db, org, in); err != nil {
		s.Drop(ctx, db, org)
		return nil, err
	}
	return s, nil
}

// take stores the records below the header.
func (s *Staged) take(ctx context.Context, db *postgres.DB, org id.ID, in *sheet.Reader) error {
	stored, err := tables.Store(ctx, db, org, s.ID, in, nil)
	s.blocks, s.rows = stored.Blocks, stored.Rows
	return err
}

// Drop deletes a staged file. It uses its own timeout, because the caller's context may be done. If it fails, retention
// deletes the file.
func (s *Staged) Drop(ctx context.Context, db *postgres.DB, org id.ID) {
	tables.Drop(ctx, db, org, s.ID)
}

// Choices holds the parameters of an import besides its file. They apply to lines without their own.
type Choices struct{ Purpose, Reason string }

// Check sets the defaults and records what is invalid.
func (c *Choices) Check(f *form.Form) {
	n := suppression.New{Domain: "example.com", Purpose: c.Purpose, Reason: c.Reason}
	n.Check(f)
	c.Purpose, c.Reason = n.Purpose, n.Reason
}

// Queue creates an import from a staged file. The caller must enqueue its job, and must call Drop if Queue returns an
// error. The caller has checked c.
func Queue(ctx context.Context, tx *postgres.Tx, s *Staged, c Choices) (Import, error) {
	names, err := json.Marshal(s.columns)
	if err != nil {
		return Import{}, fmt.Errorf("encode columns: %w", err)
	}
	n, err := tx.Exec(ctx, `UPDATE suppression_import SET status = 'queued', file_name = nullif($3, ''), columns = $4,
			purpose = $5, reason = $6, blocks = $7, rows_total = $8
		WHERE org_id = $1 AND id = $2 AND status = 'uploading'`, tx.Org(), s.ID, s.FileName, names, c.Purpose, c.Reason,
		s.blocks, s.rows)
	if err != nil {
		return Import{}, fmt.Errorf("queue import: %w", err)
	}
	if n == 0 {
		return Import{}, fault.New(fault.Conflict, "The upload took too long and was aborted.")
	}
	return one(ctx, tx, s.ID, "")
}
