package keyring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Keyset edits the keyset in its storage: a file, or the operator's own store of settings.
type Keyset interface {
	// Edit replaces the keyset's text with the result of change. Both texts have the form that secret.Parse takes.
	Edit(change func(text string) (string, error)) error
	// Reaches reports whether running processes pick up an edit without a restart.
	Reaches() bool
}

// File is the keyset at a path.
type File string

// Edit calls secret.Edit.
func (f File) Edit(change func(string) (string, error)) error { return secret.Edit(string(f), change) }

// Reaches returns true: processes follow the file.
func (File) Reaches() bool { return true }

// Setting is a keyset that the operator keeps among the settings; its next text is printed for the operator.
type Setting struct {
	Text string
	Out  io.Writer
}

// Edit prints the next text.
func (s Setting) Edit(change func(string) (string, error)) error {
	next, err := change(s.Text)
	if err == nil && next != s.Text {
		_, err = fmt.Fprintln(s.Out, next)
	}
	return err
}

// Reaches returns false: processes have to be restarted with the printed text.
func (Setting) Reaches() bool { return false }

// ErrWaits means that a rotation cannot continue until every process holds the new key. The next call resumes the
// rotation where it stopped.
var ErrWaits = errors.New("not every process holds the new key yet")

// Rotation makes a new key the primary one.
type Rotation struct {
	System   *postgres.DB
	Keyset   Keyset
	Patience time.Duration // how long to wait for processes to load the new key; unused with a Setting
	// Promoted enqueues, in the transaction that promotes the key, the job that reseals what older keys sealed.
	Promoted func(ctx context.Context, tx *postgres.Tx) error
}

// Rotate adds a key, waits until all running processes hold it, and promotes it. It completes an unfinished rotation
// instead of adding another key. With a Setting one call does one of the two steps; promoted reports whether it was the
// promotion.
func (r Rotation) Rotate(ctx context.Context) (key uint32, promoted bool, err error) {
	added := false
	err = r.Keyset.Edit(func(text string) (string, error) {
		box, err := secret.Parse(text)
		if err != nil {
			return "", err
		}
		if ring := box.Ring(); ring.Newest() != ring.Primary {
			key = ring.Newest()
			return text, nil
		}

		added = true
		text, key, err = secret.Add(text)

		return text, err
	})
	if err != nil {
		return 0, false, err
	}
	if added {
		err = r.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(`INSERT INTO sealing_key (id) VALUES ($1) ON CONFLICT DO NOTHING`, int64(key))
			return nil
		})
		if err != nil || !r.Keyset.Reaches() {
			return key, false, err
		}
	}
	if err := r.awaitHolders(ctx, key); err != nil {
		return key, false, err
	}

	err = r.Keyset.Edit(func(text string) (string, error) { return secret.Promote(text, key) })

	return key, err == nil, err
}

// awaitHolders waits until every process holds the key, which promoteIfHeld then promotes.
func (r Rotation) awaitHolders(ctx context.Context, key uint32) error {
	deadline := time.Now().Add(r.Patience)
	for {
		without, err := r.promoteIfHeld(ctx, key)
		if err != nil || len(without) == 0 {
			return err
		}
		if !r.Keyset.Reaches() || time.Now().After(deadline) {
			return fmt.Errorf("%w: %s", ErrWaits, strings.Join(without, ", "))
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(beat / 4):
		}
	}
}

// promoteIfHeld returns the processes that lack the key; if there are none, it promotes the key in the same
// transaction. The table lock keeps processes from entering between the check and the promotion: a process that enters
// later sees the promotion.
func (r Rotation) promoteIfHeld(ctx context.Context, key uint32) (without []string, err error) {
	err = r.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`LOCK TABLE process IN SHARE MODE`)
		rows, err := tx.Query(ctx, `
			SELECT format('%s on %s, last seen %s', role, host, to_char(seen_at AT TIME ZONE 'UTC', 'HH24:MI:SS'))
			FROM process
			WHERE seen_at > clock_timestamp() - $2::interval AND NOT keys @> ARRAY[$1::bigint] ORDER BY 1`,
			int64(key), Gone)
		if err != nil {
			return err
		}
		if without, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(without) > 0 {
			return err
		}

		promoteKey(tx, key)
		if r.Promoted == nil {
			return nil
		}

		return r.Promoted(ctx, tx)
	})
	return without, err
}
