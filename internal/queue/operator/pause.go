package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Pause is a lane, a kind or an org with jobs that must not start.
type Pause struct {
	Scope    string    `json:"scope"` // lane, kind or org
	Name     string    `json:"name"`
	PausedAt time.Time `json:"paused_at"`
	// Suspended is true for an org whose jobs are held by its suspension, be they paused or not.
	Suspended bool `json:"suspended,omitempty"`
}

// ErrScope reports a pause of something that cannot be paused.
var ErrScope = errors.New("a pause needs a lane (critical, default, webhooks, remote, bulk), a kind by name, or an " +
	"org by id")

// storedNames returns the stored names of what is to be paused or resumed: a kind's name and its alias, or one name.
func (o *Operator) storedNames(scope, name string) ([]string, error) {
	name, err := checkScope(scope, name)
	if scope != "kind" || err != nil {
		return []string{name}, err
	}
	return o.store.Aliases.Names(name), nil
}

// checkScope returns the name in its stored form.
func checkScope(scope, name string) (string, error) {
	switch scope {
	case "lane":
		if slices.Contains(queue.Lanes(), queue.Lane(name)) {
			return name, nil
		}
	case "kind":
		if name != "" && len(name) <= 200 && !strings.ContainsAny(name, "\x00 \t\r\n") {
			return name, nil
		}
	case "org":
		if org, err := id.Parse(name); err == nil {
			return org.String(), nil
		}
	}
	return "", ErrScope
}

// Pause keeps jobs from starting until Resume. Runs that have started continue. It returns false if the pause already
// existed.
func (o *Operator) Pause(ctx context.Context, by By, scope, name string) (bool, error) {
	names, err := o.storedNames(scope, name)
	if err != nil {
		return false, err
	}
	by.Scope = scope + " " + names[0]
	n, err := o.execAudited(ctx, by, "pause",
		`INSERT INTO job_pause (scope, name) SELECT $6, unnest($7::text[]) 
			ON CONFLICT (scope, name) DO UPDATE SET by_hand = true WHERE NOT job_pause.by_hand`, scope, names)
	if err != nil {
		return false, err
	}
	if err := o.releaseSlots(ctx); err != nil {
		return n > 0, err
	}
	o.tellPause(ctx, scope, names[0], true)
	return n > 0, nil
}

// Resume ends a pause. It returns false if there was none.
func (o *Operator) Resume(ctx context.Context, by By, scope, name string) (bool, error) {
	names, err := o.storedNames(scope, name)
	if err != nil {
		return false, err
	}
	by.Scope = scope + " " + names[0]
	n, err := o.execAudited(ctx, by, "resume", `UPDATE job_pause SET by_hand = false
		WHERE scope = $6 AND name = ANY ($7::text[]) AND by_hand`, scope, names)
	if err != nil {
		return false, err
	}
	o.tellPause(ctx, scope, names[0], false)
	return n > 0, nil
}

func (o *Operator) tellPause(ctx context.Context, scope, lane string, paused bool) {
	if scope != "lane" || !o.mayNotify(ctx, 1) {
		return
	}
	// An error means that the queue already is in that state; otherwise the relay corrects it within a second.
	if paused {
		_ = o.inspect.PauseQueue(lane)
	} else {
		_ = o.inspect.UnpauseQueue(lane)
	}
}

// unslotSQL takes the slots of paused kinds and orgs back, so that other jobs can use them. The feeder assigns slots
// again after the pause.
const unslotSQL = `
UPDATE job SET wake_at = NULL, due = true FROM (
	SELECT j.org_id, j.id FROM job_pause p
	JOIN job j ON j.state = 'ready' AND j.wake_at IS NOT NULL AND j.owner IS NULL
		AND (p.scope = 'kind' AND j.kind = p.name OR p.scope = 'org' AND j.org_id::text = p.name)
	WHERE p.scope IN ('kind', 'org')
	FOR UPDATE OF j SKIP LOCKED
) AS held WHERE job.org_id = held.org_id AND job.id = held.id`

func (o *Operator) releaseSlots(ctx context.Context) error {
	err := o.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(unslotSQL)
		return nil
	})
	if err != nil {
		return fmt.Errorf("take back slots of paused jobs: %w", err)
	}
	return nil
}

// Pauses returns all pauses, lanes last. A kind is listed once, by its name.
func (o *Operator) Pauses(ctx context.Context) ([]Pause, error) {
	out, err := collectRows(ctx, o, "list pauses", func(row pgx.CollectableRow) (p Pause, err error) {
		err = row.Scan(&p.Scope, &p.Name, &p.PausedAt, &p.Suspended)
		if p.Scope == "kind" {
			p.Name = o.store.Aliases.Name(p.Name)
		}
		return p, err
	}, `SELECT scope, name, paused_at, suspended FROM job_pause ORDER BY scope DESC, name`)
	listed := make(map[Pause]bool) // without times
	return slices.DeleteFunc(out, func(p Pause) bool {
		p.PausedAt = time.Time{}
		again := listed[p]
		listed[p] = true
		return again
	}), err
}
