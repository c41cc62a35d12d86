package segments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Pace bounds one run of Sync, which holds the locks on its writes until the transaction ends.
type Pace struct {
	Marks   int           // marks to read
	Changes int           // maximum of changed memberships, exceeded only within one contact
	Piece   int           // contacts in the first piece of a build; next adapts the size
	For     time.Duration // no new piece starts after this time
}

// Usual returns limits that keep a run below one second.
func Usual() Pace {
	return Pace{Marks: 2000, Changes: 1500, Piece: 5000, For: 500 * time.Millisecond}
}

// kept is a live dynamic segment within a run.
type kept struct {
	id         id.ID
	key        string
	filter     *filter.Filter
	building   bool
	generation int
	quiet      bool // without events
	fresh      bool // no members from an earlier filter
	shelf      bool // build cursor: the archived side has been reached
	at         *time.Time
	after      *id.ID // the last contact processed
	moved      bool   // by this run
	size       int    // of the next piece
}

// run is one run of Sync.
type run struct {
	tx    *postgres.Tx
	pace  Pace
	all   []*kept
	left  int  // what remains of pace.Changes
	holds bool // the run has locked contacts
	epoch bool // thousands of members were added
	waits *waits
}

// planning holds the planner settings of a run. Every table holds the rows of all orgs, and a run needs only a few of
// them, so a sequential scan is never right, whatever the statistics say.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('random_page_cost', '1.1', true),
	set_config('plan_cache_mode', 'force_custom_plan', true)`

// Sync updates the memberships of the org's dynamic segments to match their filters. It first processes contacts with
// marks, and then, piece by piece, all contacts for segments that are building. Waiting finds the work that remains. At
// most one run per org may be active at a time.
func Sync(ctx context.Context, tx *postgres.Tx, p Pace) error {
	began := time.Now()
	r := &run{tx: tx, pace: p, left: p.Changes}
	tx.Queue(planning)
	if err := r.loadSegments(ctx); err != nil {
		return err
	}
	if err := r.syncMarks(ctx); err != nil {
		return err
	}
	if err := r.buildSegments(ctx, began.Add(p.For)); err != nil {
		return err
	}
	r.storeProgress()
	return nil
}

// loadSegments reads the segments and parses their filters. A filter that no longer fits the org's custom fields makes
// the run fail; the checks on both sides prevent that.
func (r *run) loadSegments(ctx context.Context) error {
	rows, err := r.tx.Query(ctx,
		`SELECT id, key, filter, status = 'building', generation, quiet, fresh, built_shelf, built_at, built_id
		FROM segment WHERE org_id = $1 AND kind = 'dynamic' AND archived_at IS NULL ORDER BY id`, r.tx.Org())
	if err != nil {
		return fmt.Errorf("read segments: %w", err)
	}

	var filters [][]byte
	r.all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*kept, error) {
		var (
			s   = kept{size: r.pace.Piece}
			raw []byte
		)
		err := row.Scan(&s.id, &s.key, &raw, &s.building, &s.generation, &s.quiet, &s.fresh, &s.shelf, &s.at, &s.after)
		filters = append(filters, raw)
		return &s, err
	})
	if err != nil {
		return fmt.Errorf("read segments: %w", err)
	}

	parse := contacts.Parser(ctx, r.tx)
	for i, s := range r.all {
		if s.filter, err = parse(filters[i]); err != nil {
			return fmt.Errorf("segment %s: %w", s.id, err)
		}
	}

	return nil
}

// syncMarks reads marks and processes their contacts in the order of ids.
func (r *run) syncMarks(ctx context.Context) error {
	rows, err := r.tx.Query(ctx, `SELECT contact_id, id FROM segment_mark WHERE org_id = $1 ORDER BY id LIMIT $2`,
		r.tx.Org(), r.pace.Marks)
	if err != nil {
		return fmt.Errorf("read marks: %w", err)
	}

	var (
		contact id.ID
		mark    int64
		of      = map[id.ID][]int64{}
		ids     []id.ID
	)
	if _, err := pgx.ForEachRow(rows, []any{&contact, &mark}, func() error {
		if of[contact] == nil {
			ids = append(ids, contact)
		}
		of[contact] = append(of[contact], mark)
		return nil
	}); err != nil {
		return fmt.Errorf("read marks: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}

	slices.SortFunc(ids, id.Compare)
	changes, settled, err := r.findDifferences(ctx, ids)
	if err != nil {
		return err
	}
	if err := r.applyChanges(ctx, changes); err != nil {
		return err
	}

	var done []int64
	for _, c := range settled {
		done = append(done, of[c]...)
	}

	r.tx.Queue(`DELETE FROM segment_mark WHERE org_id = $1 AND id = ANY ($2::bigint[])`, r.tx.Org(), done)
	return nil
}

// findDifferences returns the differences between the memberships of the contacts and the filters, for as many contacts
// as r.left allows. The memberships of purged contacts are deleted without events.
func (r *run) findDifferences(ctx context.Context, ids []id.ID) (changes []change, settled []id.ID, err error) {
	if len(r.all) == 0 {
		return nil, ids, nil
	}

	known, err := contacts.Bare(ctx, r.tx, ids)
	if err != nil {
		return nil, nil, err
	}

	members, err := r.readMembers(ctx, ids)
	if err != nil {
		return nil, nil, err
	}

	var gone []id.ID
	for _, i := range ids {
		if len(changes) >= r.left {
			break
		}
		settled = append(settled, i)
		if len(known) == 0 || known[0].ID != i { // both are sorted by id
			gone = append(gone, i)
			continue
		}
		c := &known[0]
		known = known[1:]
		for _, s := range r.all {
			archived, in := members[membership{i, s.id}]
			now := c.ArchivedAt != nil
			switch should := s.filter.Match(contacts.RecordOf(&c.Contact)); {
			case should && !in:
				changes = append(changes,
					change{seg: s, contact: i, created: c.CreatedAt.Time, does: enters, archived: now})
			case in && !should:
				changes = append(changes, change{seg: s, contact: i, does: leaves, archived: archived})
			case in && archived != now:
				changes = append(changes, change{seg: s, contact: i, does: moves, archived: now})
			}
		}
	}

	if len(gone) > 0 {
		r.tx.Queue(`DELETE FROM segment_member WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`, r.tx.Org(), gone)
	}

	return changes, settled, nil
}

type membership struct{ contact, segment id.ID }

// readMembers returns the memberships of the contacts in the run's segments. The value is true on the archived side.
func (r *run) readMembers(ctx context.Context, ids []id.ID) (map[membership]bool, error) {
	segs := make([]id.ID, len(r.all))
	for i, s := range r.all {
		segs[i] = s.id
	}

	rows, err := r.tx.Query(ctx,
		`SELECT contact_id, segment_id, archived FROM segment_member WHERE org_id = $1
			AND contact_id = ANY ($2::uuid[])`, r.tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}

	var (
		m        membership
		archived bool
		out      = map[membership]bool{}
	)
	if _, err := pgx.ForEachRow(rows, []any{&m.contact, &m.segment, &archived}, func() error {
		if slices.Contains(segs, m.segment) {
			out[m] = archived
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}

	return out, nil
}

// storeProgress stores the progress of builds, adds up tallies and increments the epoch, in the order of locks.
func (r *run) storeProgress() {
	for _, s := range r.all {
		if !s.moved {
			continue
		}
		status := Building
		if !s.building {
			status = Ready
		}
		r.tx.Queue(`UPDATE segment SET built_shelf = $4, built_at = $5, built_id = $6, status = $7, quiet = $8,
			computed = computed + (CASE WHEN status = $7 THEN 0 ELSE 1 END)
			WHERE org_id = $1 AND id = $2 AND generation = $3 AND archived_at IS NULL`, r.tx.Org(), s.id,
			s.generation, s.shelf, s.at, s.after, status, s.quiet)
	}

	r.tx.Queue(`WITH gone AS (DELETE FROM segment_tally WHERE org_id = $1 RETURNING segment_id, step),
		sums AS (SELECT segment_id, sum(step) AS steps, count(*) AS n FROM gone GROUP BY segment_id)
		UPDATE segment g SET counted = g.counted + s.steps, computed = g.computed + s.n FROM sums s
		WHERE g.org_id = $1 AND g.id = s.segment_id`, r.tx.Org())
	if w := r.waits; w != nil {
		r.tx.Queue(`UPDATE segment_watch SET waits_for = $2 WHERE org_id = $1 AND waits_for IS NOT DISTINCT
			FROM $3 AND epoch = $4`, r.tx.Org(), w.now, w.was, w.epoch)
	}
	if r.epoch {
		r.tx.Queue(`UPDATE segment_watch SET epoch = epoch + 1 WHERE org_id = $1`, r.tx.Org())
	}
}
