package archive

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Days moves days that have had their time from the database to the archive.
type Days struct {
	System  *postgres.DB
	Objects Objects
	Log     *slog.Logger
	Metrics *Metrics // may be nil
	// PartLines is how many rows a part has at most; 0: 50,000.
	PartLines int
}

// The bounds of a part: its rows, and about the bytes of its lines before they are compressed. A worker holds one part,
// compressed, and a page of rows in memory.
const (
	usualLines = 50_000
	usualBytes = 32 << 20
)

// day is a detached day.
type day struct{ Name, Folder string }

// Run detaches the days that have had their time, and archives and drops all that are detached. After most it begins no
// further part and returns nil: the next run continues. It may run in several processes at once.
func (d *Days) Run(ctx context.Context, most time.Duration) error {
	end := time.Now().Add(most)
	if err := d.detachExpired(ctx); err != nil {
		return fmt.Errorf("detach expired days: %w", err)
	}

	var days []day
	err := d.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT name, folder FROM archive_day ORDER BY detached_at, folder`)
		if err != nil {
			return err
		}
		days, err = pgx.CollectRows(rows, pgx.RowToStructByPos[day])
		return err
	})
	if err != nil {
		return fmt.Errorf("list detached days: %w", err)
	}

	for _, one := range days {
		done, err := d.archiveDay(ctx, one, end)
		if err != nil {
			d.Metrics.countFailed()
			return fmt.Errorf("archive %s: %w", one.Name, err)
		}
		if !done {
			d.Log.InfoContext(ctx, "the archive is continued by the next run", "day", one.Folder)
			return nil
		}
	}

	return nil
}

// detachExpired detaches the days that have had their time, each in a transaction of its own. Tables in use are left to
// the next run.
func (d *Days) detachExpired(ctx context.Context) error {
	for detached := 1; detached > 0; {
		done, err := d.System.RetryLocks(ctx, d.Log, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT detach_days()`, nil, &detached)
		})
		if err != nil {
			return err
		}
		if !done {
			d.Log.WarnContext(ctx, "expired days not detached, their tables are in use")
			return nil
		}
	}
	return nil
}

// archiveDay archives and drops one day. It returns false if the time is up.
func (d *Days) archiveDay(ctx context.Context, one day, end time.Time) (bool, error) {
	parts, err := d.readParts(ctx, one)
	if err != nil {
		return false, err
	}

	for {
		if time.Now().After(end) {
			return false, nil
		}
		p, err := d.writePart(ctx, one, parts)
		if err != nil {
			return false, err
		}
		if p == nil {
			break
		}
		parts = append(parts, *p)
	}

	if err := d.verifyParts(ctx, one, parts); err != nil {
		return false, err
	}
	if err := d.putManifest(ctx, one, parts); err != nil {
		return false, err
	}

	var dropped bool
	err = d.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT drop_archived($1)`, []any{one.Name}, &dropped)
	})
	if err != nil {
		return false, fmt.Errorf("drop: %w", err)
	}
	if dropped {
		d.Metrics.countArchived()
		lines, bytes := sumParts(parts)
		d.Log.InfoContext(ctx, "day archived and dropped", "day", one.Folder, "rows", lines, "parts", len(parts),
			"bytes", bytes)
	}

	return true, nil
}

func sumParts(parts []part) (lines, bytes int64) {
	for _, p := range parts {
		lines, bytes = lines+p.Lines, bytes+p.Bytes
	}
	return lines, bytes
}

// manifest is the object that completes a day.
type manifest struct {
	Table string         `json:"table"`
	Lines int64          `json:"lines"`
	Bytes int64          `json:"bytes"`
	Parts []manifestPart `json:"parts"`
}

type manifestPart struct {
	Name   string `json:"name"` // in the folder of the manifest
	Lines  int64  `json:"lines"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// putManifest stores the manifest of a day.
func (d *Days) putManifest(ctx context.Context, one day, parts []part) error {
	m := manifest{Table: path.Dir(one.Folder), Parts: make([]manifestPart, len(parts))}
	m.Lines, m.Bytes = sumParts(parts)
	for i, p := range parts {
		m.Parts[i] = manifestPart{partName(p.Part), p.Lines, p.Bytes, hex.EncodeToString(p.SHA256)}
	}
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	return d.Objects.Put(ctx, path.Join(one.Folder, "manifest.json"), append(body, '\n'))
}
