package keyring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

const (
	beat = 2 * time.Second
	// Gone is the silence after which a process does not count as running.
	Gone = time.Minute
)

// ErrLacking is a keyset without a key that others seal with.
var ErrLacking = errors.New("the keyset lacks the key that others seal with: give this process the newest keyset")

// Presence is this process among those that run.
type Presence struct {
	System *postgres.DB
	Box    *secret.Box
	Role   string
	Log    *slog.Logger

	id id.ID
}

// Enter makes the process known, before it reads or seals anything. ErrLacking where it could not read everything.
func (p *Presence) Enter(ctx context.Context) error {
	p.id = id.New()
	if err := p.tell(ctx); err != nil {
		return fmt.Errorf("make the process known: %w", err)
	}
	return nil
}

// Run keeps the process known until ctx ends, when Leave must follow, and follows the keyset's file meanwhile.
// ErrLacking where the keyset is a setting that became too old.
func (p *Presence) Run(ctx context.Context) error {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(beat):
		}
		p.Box.Reload()
		writing, cancel := context.WithTimeout(ctx, beat)
		err := p.tell(writing)
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

// tell writes the row, and then reads which keys one must hold by now: a promotion locks the table, so that it either
// saw the row or is seen here. A process that is refused leaves no row.
func (p *Presence) tell(ctx context.Context) error {
	host, _ := os.Hostname()
	for again := true; ; again = false {
		ring := p.Box.Ring()
		err := p.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(tellSQL, p.id, p.Role, host, wide(ring.Keys), int64(ring.Primary))
			rows, err := tx.Query(ctx, `SELECT id FROM sealing_key WHERE promoted_at IS NOT NULL AND retired_at IS NULL`)
			if err != nil {
				return err
			}
			must, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if i := slices.IndexFunc(must, func(k int64) bool { return !ring.Holds(uint32(k)) }); err == nil && i >= 0 {
				return fmt.Errorf("%w (%d)", ErrLacking, must[i])
			}
			return err
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
	former_key = CASE WHEN process.primary_key = excluded.primary_key THEN process.former_key ELSE process.primary_key END`

// Leave takes the row away when the process seals no more, so that nobody need wait for it. Where that cannot be, the
// log says so, and the row stops counting a minute later.
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

func wide(keys []uint32) []int64 {
	out := make([]int64, len(keys))
	for i, k := range keys {
		out[i] = int64(k)
	}
	return out
}
