package keyring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

const (
	beat = 2 * time.Second // between two looks at the keyset's file
	// tellEach is how many beats pass between two writes of the row of a process whose keys do not change.
	tellEach = 5
	// Gone is the silence after which a process no longer counts as running.
	Gone = time.Minute
)

// Presence registers this process among the running ones.
type Presence struct {
	System  *postgres.DB
	Box     *secret.Sealer
	Columns []Column // what is sealed, for the first process of a database
	Role    string
	Log     *slog.Logger

	id id.ID
}

// Enter registers the process; it must be called before the process reads or seals anything. It returns ErrLacking if
// the keyset lacks a promoted key. The first process of a database promotes its own primary key.
func (p *Presence) Enter(ctx context.Context) error {
	p.id = id.New()
	r := Resealer{System: p.System, Box: p.Box, Columns: p.Columns}
	if err := p.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error { return r.claimDatabase(ctx, tx) }); err != nil {
		return fmt.Errorf("register process: %w", err)
	}
	if err := p.recordPresence(ctx); err != nil {
		return fmt.Errorf("register process: %w", err)
	}
	return nil
}

// Run keeps the process registered until ctx ends, and reloads the keyset's file meanwhile. Leave must follow. Run
// returns ErrLacking if the keyset is a setting that has become outdated.
func (p *Presence) Run(ctx context.Context) error {
	failing := false
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(beat):
		}

		if !p.Box.Reload() && n%tellEach != 0 && !failing {
			continue
		}

		writing, cancel := context.WithTimeout(ctx, beat)
		err := p.recordPresence(writing)
		cancel()

		switch {
		case errors.Is(err, ErrLacking):
			return err
		case err == nil:
			failing = false
		case !failing && ctx.Err() == nil:
			failing = true
			p.Log.WarnContext(ctx, "process row not written", "error", err)
		}
	}
}

// recordPresence writes the process's row and then reads which keys a process must hold. A promotion locks the table,
// so either the promotion sees the row or recordPresence sees the promotion. A refused process leaves no row.
func (p *Presence) recordPresence(ctx context.Context) error {
	host, _ := os.Hostname()
	for again := true; ; again = false {
		ring := p.Box.Ring()
		err := p.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(tellSQL, p.id, p.Role, host, widenIDs(ring.Keys), int64(ring.Primary))
			promoted, err := promotedKeys(ctx, tx)
			if err != nil {
				return err
			}

			return checkHeld(ring, promoted)
		})
		if !again || !errors.Is(err, ErrLacking) || !p.Box.Reload() {
			return err
		}
	}
}

const tellSQL = `
INSERT INTO process (id, role, host, keys, primary_key) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (id) DO UPDATE SET keys = excluded.keys, primary_key = excluded.primary_key, seen_at = now(),
	changed_at = CASE WHEN process.primary_key = excluded.primary_key THEN process.changed_at ELSE now() END,
	former_key = CASE WHEN process.primary_key = excluded.primary_key THEN process.former_key
	ELSE process.primary_key END`

// Leave deletes the row of a process that no longer seals, so that rotations do not wait for it. If the deletion fails,
// Leave logs it, and the row stops counting a minute later.
func (p *Presence) Leave(ctx context.Context) {
	writing, cancel := context.WithTimeout(ctx, beat)
	defer cancel()

	err := p.System.Tx(writing, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM process WHERE id = $1 OR seen_at < now() - interval '1 day'`, p.id)
		return nil
	})
	if err != nil {
		p.Log.WarnContext(ctx, "process row not deleted", "error", err)
	}
}

func widenIDs(keys []uint32) []int64 {
	out := make([]int64, len(keys))
	for i, k := range keys {
		out[i] = int64(k)
	}
	return out
}
