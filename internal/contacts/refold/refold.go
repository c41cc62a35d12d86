package refold

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Refolder refolds the rows of all orgs. It is safe for concurrent use.
type Refolder struct {
	System *postgres.DB // finds orgs; it sees no contact
	App    *postgres.DB
	Log    *slog.Logger
	// Retag enqueues the job of a bulk change.
	Retag func(ctx context.Context, tx *postgres.Tx, bulk id.ID) error
	Piece int // rows per step; 0: 500
}

// sweepFor is how long a sweep goes on. The next one continues it.
const sweepFor = 20 * time.Second

// parts are the steps in their order. Each returns the place to go on from, or nil at its end.
var parts = []struct {
	name string
	step func(r *Refolder, ctx context.Context, tx *postgres.Tx, at *place) error
}{
	{"definitions", (*Refolder).foldDefinitions},
	{"tags", (*Refolder).foldTags},
	{"stages", (*Refolder).foldStages},
	{"contacts", (*Refolder).foldContacts},
	{"companies", (*Refolder).foldCompanies},
	{"deals", (*Refolder).foldDeals},
	{"sequences", (*Refolder).foldSequences},
	{"templates", (*Refolder).foldTemplates},
}

// place is how far the work of an org has come, and what it has done.
type place struct {
	part               string
	after              *id.ID // nil: the beginning of the part
	ended              bool   // the part has no more rows
	rows               int64
	merged, collisions int
}

// Sweep refolds the orgs that are not at the current version, until its time is up or ctx ends; the next sweep goes
// on. It reads no org that is. With all set it also looks for orgs that an older version has added, by reading every
// org once. An org that cannot be refolded does not keep the others waiting: its error is returned at the end.
func (r *Refolder) Sweep(ctx context.Context, all bool) error {
	until := time.Now().Add(sweepFor)
	err := r.sweep(ctx, until, openSQL)
	if all {
		err = errors.Join(err, r.sweep(ctx, until, behindSQL, compare.Version))
	}
	return err
}

// The next org after the one given: whose work is open, and that is behind the current version or has no row.
const (
	openSQL   = `SELECT org_id FROM refolding WHERE ended_at IS NULL AND org_id > $1 ORDER BY org_id LIMIT 1`
	behindSQL = `SELECT o.id FROM org o WHERE o.id > $1 AND NOT EXISTS (
		SELECT FROM refolding r WHERE r.org_id = o.id AND r.version >= $2) ORDER BY o.id LIMIT 1`
)

// sweep refolds one org after the other that the statement finds.
func (r *Refolder) sweep(ctx context.Context, until time.Time, next string, args ...any) (failed error) {
	var org id.ID
	for ctx.Err() == nil && time.Now().Before(until) {
		err := r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, next, append([]any{org}, args...), &org)
		})
		if postgres.None(err) {
			return failed
		}
		if err != nil {
			return errors.Join(failed, fmt.Errorf("refold: find org: %w", err))
		}
		if err := r.refoldOrg(ctx, org, until); err != nil {
			failed = errors.Join(failed, fmt.Errorf("refold org %s: %w", org, err))
		}
	}
	return failed
}

// refoldOrg runs the steps of one org until it is at the current version or the time is up.
func (r *Refolder) refoldOrg(ctx context.Context, org id.ID, until time.Time) error {
	for ended := false; !ended && ctx.Err() == nil && time.Now().Before(until); {
		var at place
		err := r.App.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
			at, ended, err = r.step(ctx, tx)
			return err
		})
		if err != nil {
			return err
		}
		if ended && at.rows+int64(at.merged)+int64(at.collisions) > 0 {
			r.Log.InfoContext(ctx, "names refolded", "org_id", org.String(), "rows", at.rows, "merged", at.merged,
				"collisions", at.collisions)
		}
	}
	return nil
}

// step executes one step of the org of tx. ended reports whether the org is at the current version.
func (r *Refolder) step(ctx context.Context, tx *postgres.Tx) (at place, ended bool, err error) {
	version := 0
	tx.Queue(`INSERT INTO refolding (org_id) VALUES ($1) ON CONFLICT DO NOTHING`, tx.Org())
	err = tx.QueryRow(ctx, `SELECT version, part, after_id, rows, merged, collisions FROM refolding WHERE org_id = $1
		FOR UPDATE`, []any{tx.Org()}, &version, &at.part, &at.after, &at.rows, &at.merged, &at.collisions)
	if err != nil || version >= compare.Version {
		return at, err == nil, err
	}

	n := 0
	for n < len(parts) && at.part != "" && parts[n].name != at.part {
		n++
	}
	if n == len(parts) { // a part of another version
		n, at.after = 0, nil
	}
	if err := parts[n].step(r, ctx, tx, &at); err != nil {
		return at, false, fmt.Errorf("%s: %w", parts[n].name, err)
	}
	at.part = parts[n].name
	if at.ended {
		at.after = nil
		n++
		if n < len(parts) {
			at.part = parts[n].name
		} else {
			ended = true
			version = compare.Version
			at.part = ""
		}
	}

	tx.Queue(`UPDATE refolding SET version = $2, part = $3, after_id = $4, rows = $5, merged = $6, collisions = $7,
		ended_at = CASE WHEN $8 THEN clock_timestamp() END WHERE org_id = $1`, tx.Org(), version, at.part, at.after,
		at.rows, at.merged, at.collisions, ended)
	return at, ended, nil
}

func (r *Refolder) piece() int {
	if r.Piece > 0 {
		return r.Piece
	}
	return 500
}

// from returns the id that a step's rows come after.
func (p *place) from() id.ID {
	if p.after == nil {
		return id.ID{}
	}
	return *p.after
}

// moveOn records that a step has read rows up to last, of at most limit.
func (p *place) moveOn(last id.ID, read, limit int) {
	p.ended = read < limit
	p.after = &last
}
