package comparisons

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// every is the time between two checks of a step.
const every = time.Hour

// Begin queues the first check of the steps of a version that was activated.
func Begin(tx *postgres.Tx, sequence id.ID, list []steps.Step) {
	var keys []string
	for i := range list {
		if e := list[i].Email; e != nil && e.Auto {
			keys = append(keys, list[i].Key)
		}
	}
	if len(keys) == 0 {
		return
	}
	tx.Queue(`INSERT INTO variant_comparison (org_id, sequence_id, step, check_at)
		SELECT $1, $2, u.key, clock_timestamp() + $4 FROM unnest($3::text[]) AS u (key) ORDER BY u.key
		ON CONFLICT (org_id, sequence_id, step) DO UPDATE SET check_at = excluded.check_at`, tx.Org(), sequence, keys,
		every)
}

// Stops has the stopped variants of a sequence and when they were stopped, by the key of the step.
type Stops map[string]map[string]wire.Time

// Of returns the keys of the stopped variants of a step.
func (s Stops) Of(step string) []string { return slices.Sorted(maps.Keys(s[step])) }

// At returns when a variant of a step was stopped; nil: it was not. A nil variant is none.
func (s Stops) At(step string, variant *string) *wire.Time {
	if variant == nil {
		return nil
	}
	at, ok := s[step][*variant]
	if !ok {
		return nil
	}
	return &at
}

// Shown returns the steps with the times at which their variants were stopped. It does not change the list.
func (s Stops) Shown(list []steps.Step) []steps.Step {
	out := slices.Clone(list)
	for i := range out {
		step := &out[i]
		if step.Email == nil || !step.Email.Auto || len(s[step.Key]) == 0 {
			continue
		}
		mail := *step.Email
		mail.Variants = slices.Clone(mail.Variants)
		for n := range mail.Variants {
			mail.Variants[n].StoppedAt = s.At(step.Key, &mail.Variants[n].Key)
		}
		step.Email = &mail
	}
	return out
}

// Read returns the stopped variants of each of the sequences.
func Read(ctx context.Context, tx *postgres.Tx, all ...id.ID) (map[id.ID]Stops, error) {
	rows, err := tx.Query(ctx, `SELECT sequence_id, step, stopped FROM variant_comparison WHERE org_id = $1
		AND sequence_id = ANY ($2::uuid[]) AND stopped <> '{}'`, tx.Org(), all)
	if err != nil {
		return nil, fmt.Errorf("read stopped variants: %w", err)
	}

	var (
		sequence id.ID
		step     string
		stopped  map[string]wire.Time
		out      = map[id.ID]Stops{}
	)
	if _, err := pgx.ForEachRow(rows, []any{&sequence, &step, &stopped}, func() error {
		if out[sequence] == nil {
			out[sequence] = Stops{}
		}
		out[sequence][step] = stopped
		stopped = nil // the next row is decoded into a map of its own
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read stopped variants: %w", err)
	}

	return out, nil
}
