package exports

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// partRows is the number of contacts per step.
const partRows = 2000

var errEnd = io.EOF

// Work holds the dependencies of a step.
type Work struct {
	Base string // URL prefix of the links in events; without it events have no links
	// Read calls fn with a transaction that reads rows as new as those that tx would read, perhaps on another server.
	// Nil: with tx.
	Read func(ctx context.Context, tx *postgres.Tx, fn func(*postgres.Tx) error) error
}

// Step appends the next part to an export's file, or completes it. more reports whether another step is needed. An
// export that has ended or does not exist needs none.
func (w Work) Step(ctx context.Context, tx *postgres.Tx, which id.ID) (more bool, err error) {
	e, err := readExport(ctx, tx, which, " FOR UPDATE")
	switch {
	case fault.Is(err, fault.NotFound), err == nil && e.Status != "queued" && e.Status != "running":
		return false, nil
	case err != nil:
		return false, err
	}

	ctx = events.WithOrigin(ctx, e.actor)
	isFirst := e.Status == "queued"
	if isFirst {
		if err := e.begin(ctx, tx); err != nil {
			return false, err
		}
	}
	f, err := e.parseSelection(ctx, tx)
	if err != nil {
		return false, err
	}

	var after *contacts.Position
	if e.afterID != nil {
		after = &contacts.Position{Key: strconv.FormatInt(e.afterAt.UnixMicro(), 10), ID: *e.afterID}
	}
	rows, err := w.readRows(ctx, tx, f, after)
	if err != nil {
		return false, err
	}
	// The file omits contacts created after the request; otherwise the export of a busy org would never end.
	for len(rows) > 0 && rows[len(rows)-1].CreatedAt.After(e.CreatedAt.Time) {
		rows = rows[:len(rows)-1]
	}

	more = len(rows) == partRows
	var out bytes.Buffer
	if err := e.writePart(&out, rows, isFirst, !more); err != nil {
		if errors.Is(err, errFull) {
			return false, w.Fail(ctx, tx, which)
		}
		return false, err
	}
	if out.Len() > 0 {
		tx.Queue(`INSERT INTO contact_export_part (org_id, export_id, part, data) VALUES ($1, $2, $3, $4)`, tx.Org(),
			which, e.parts, out.Bytes())
		e.parts++
		e.Bytes += int64(out.Len())
	}
	if e.Rows += len(rows); len(rows) > 0 {
		last := &rows[len(rows)-1]
		e.afterAt = &last.CreatedAt
		e.afterID = &last.ID
	}
	if !more {
		if err := w.announceEnd(ctx, tx, &e, "completed", nil); err != nil {
			return false, err
		}
	}
	e.saveProgress(tx)
	return more, tx.Flush(ctx)
}

// readRows reads the contacts of the next part.
func (w Work) readRows(ctx context.Context, tx *postgres.Tx, f *contacts.Filter, after *contacts.Position) (
	rows []contacts.Row, err error,
) {
	read := func(tx *postgres.Tx) (err error) {
		rows, err = contacts.List(ctx, tx, f, contacts.Oldest, after, partRows)
		return err
	}
	if w.Read == nil {
		err = read(tx)
	} else {
		err = w.Read(ctx, tx, read)
	}
	return rows, err
}

// Fail ends an export after its steps have failed repeatedly.
func (w Work) Fail(ctx context.Context, tx *postgres.Tx, which id.ID) error {
	e, err := readExport(ctx, tx, which, " FOR UPDATE")
	if err != nil || e.Status != "queued" && e.Status != "running" {
		return err
	}
	why := "The export could not go on. Ask for it again."
	if e.Format == XLSX && e.Rows+partRows >= sheet.MaxSheetRows {
		why = "A workbook has at most 1,048,576 rows. Ask for a csv, or for fewer contacts by a filter."
	}
	if err := w.announceEnd(events.WithOrigin(ctx, e.actor), tx, &e, "failed", &why); err != nil {
		return err
	}
	tx.Queue(`DELETE FROM contact_export_part WHERE org_id = $1 AND export_id = $2`, tx.Org(), which)
	e.saveProgress(tx)
	return nil
}

// begin determines the columns.
func (e *Export) begin(ctx context.Context, tx *postgres.Tx) error {
	now := wire.Now()
	e.Status = "running"
	e.StartedAt = &now
	if len(e.Fields) > 0 {
		return nil
	}

	e.Fields = append([]string{}, usual...)
	if e.Format == NDJSON {
		e.Fields = append(e.Fields, externalid.Member, "attributes")
		return nil
	}
	systems, err := externalid.Systems(ctx, tx, externalid.Contact)
	if err != nil {
		return err
	}
	for _, system := range systems {
		e.Fields = append(e.Fields, external+system)
	}
	for after := ""; ; {
		defined, err := contacts.Fields(ctx, tx, after, 200)
		if err != nil {
			return err
		}
		for _, f := range defined {
			e.Fields = append(e.Fields, attribute+f.Key)
			after = f.Key
		}
		if len(defined) < 200 {
			return nil
		}
	}
}

// announceEnd announces that the export has ended.
func (w Work) announceEnd(ctx context.Context, tx *postgres.Tx, e *Export, status string, why *string) error {
	now := wire.Now()
	e.Status = status
	e.Error = why
	e.CompletedAt = &now
	if w.Base != "" {
		e.Show(w.Base, tx.Org(), now.Time)
	}
	return events.Announce(ctx, tx,
		events.ExportCompleted{Export: events.Export{
			ID: e.ID, Status: status, Rows: e.Rows,
			DownloadURL: e.DownloadURL,
		}})
}

// saveProgress queues the update of the fields that a step changes.
func (e *Export) saveProgress(tx *postgres.Tx) {
	tx.Queue(`UPDATE contact_export SET status = $3, fields = $4, rows = $5, bytes = $6, parts = $7, after_at =
		$8, after_id = $9, error = $10, started_at = $11, sheet = $13,
		completed_at = $12, computed = computed + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), e.ID, e.Status, e.Fields, e.Rows, e.Bytes, e.parts, e.afterAt, e.afterID, e.Error, e.StartedAt,
		e.CompletedAt, e.workbookState())
}
