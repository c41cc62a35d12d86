package comparisons

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/sequences/significance"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// atOnce is how many steps a check compares.
const atOnce = 100

// comparison is a row of variant_comparison that is checked.
type comparison struct {
	sequence id.ID
	step     string
	stopped  map[string]wire.Time
	body     []byte // of the step in the active version; nil: the sequence is archived, or has no such step
}

// Check compares the variants of the steps of tx's org that are due, and stops those that lose. Steps that another
// transaction checks are left to it.
func Check(ctx context.Context, tx *postgres.Tx) error {
	rows, err := tx.Query(ctx, `
		SELECT c.sequence_id, c.step, c.stopped, s.body FROM variant_comparison c
			LEFT JOIN sequence q ON q.org_id = $1 AND q.id = c.sequence_id AND q.status <> 'archived'
			LEFT JOIN sequence_step s ON s.org_id = $1 AND s.sequence_id = c.sequence_id AND s.version = q.version
				AND s.key = c.step
		WHERE c.org_id = $1 AND c.check_at <= clock_timestamp() ORDER BY c.sequence_id, c.step LIMIT $2
		FOR UPDATE OF c SKIP LOCKED`, tx.Org(), atOnce)
	if err != nil {
		return fmt.Errorf("read comparisons: %w", err)
	}

	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c comparison, err error) {
		return c, row.Scan(&c.sequence, &c.step, &c.stopped, &c.body)
	})
	if err != nil {
		return fmt.Errorf("read comparisons: %w", err)
	}

	for i := range all {
		if err := all[i].checkVariants(ctx, tx); err != nil {
			return err
		}
	}

	return nil
}

// checkVariants compares the variants of one step, and queues the next check of it.
func (c *comparison) checkVariants(ctx context.Context, tx *postgres.Tx) error {
	open, err := c.openVariants()
	if err != nil {
		return err
	}
	if len(open) < 2 {
		c.storeNext(tx, nil)
		return nil
	}

	arms, age, err := c.readArms(ctx, tx, open)
	if err != nil {
		return err
	}

	now := wire.Now()
	if best, ok := significance.Winner(arms, age); ok {
		for i, key := range open {
			if i != best {
				c.stopped[key] = now
			}
		}
		c.storeNext(tx, nil)
		return nil
	}

	c.storeNext(tx, new(now.Add(every)))
	return nil
}

// openVariants returns the variants of the active version that are compared: none if the step does not ask for it.
func (c *comparison) openVariants() ([]string, error) {
	if c.body == nil {
		return nil, nil
	}

	var step steps.Step
	if err := json.Unmarshal(c.body, &step); err != nil {
		return nil, fmt.Errorf("decode step: %w", err)
	}
	if step.Email == nil || !step.Email.Auto {
		return nil, nil
	}

	var open []string
	for i := range step.Email.Variants {
		key := step.Email.Variants[i].Key
		if _, stopped := c.stopped[key]; !stopped {
			open = append(open, key)
		}
	}

	return open, nil
}

// readArms returns what became of the mails of each of the variants, and for how long the youngest one has been sent;
// 0: one of them was not sent.
func (c *comparison) readArms(ctx context.Context, tx *postgres.Tx, open []string) (arms []significance.Arm,
	age time.Duration, err error,
) {
	all, err := counts.Read(ctx, tx, c.sequence)
	if err != nil {
		return nil, 0, err
	}

	arms = make([]significance.Arm, len(open))
	var youngest time.Time
	counted := 0
	for _, e := range all[c.sequence].Emails {
		n := -1
		if e.Step == c.step && e.Variant != nil {
			n = slices.Index(open, *e.Variant)
		}
		if n < 0 || e.First == nil {
			continue
		}
		arms[n].Trials = e.Sent + e.Unknown + e.Transmitting
		arms[n].Successes = min(e.Replied, arms[n].Trials)
		if e.First.After(youngest) {
			youngest = *e.First
		}
		counted++
	}

	if counted < len(open) {
		return arms, 0, nil
	}

	return arms, time.Since(youngest), nil
}

// storeNext queues the stopped variants and the time of the next check; nil: there is none.
func (c *comparison) storeNext(tx *postgres.Tx, next *time.Time) {
	tx.Queue(`UPDATE variant_comparison SET stopped = $4, check_at = $5 WHERE org_id = $1 AND sequence_id = $2
		AND step = $3`, tx.Org(), c.sequence, c.step, c.stopped, next)
}

// Waiting returns the orgs that have work for Check and no open job with the given dedupe key. system must be a
// connection of the system role.
func Waiting(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	var found []id.ID
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`)
		rows, err := tx.Query(ctx, `SELECT DISTINCT c.org_id FROM variant_comparison c
			WHERE c.check_at <= now() -- no index is read up to clock_timestamp()
				AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = c.org_id AND j.dedupe_key = $1)
			LIMIT 1000`, dedupe)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find orgs with comparisons: %w", err)
	}

	return found, nil
}
