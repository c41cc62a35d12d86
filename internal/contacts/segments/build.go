package segments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// buildSegments continues the segments with status building, oldest first, until the time is up or all are ready.
func (r *run) buildSegments(ctx context.Context, until time.Time) error {
	if !slices.ContainsFunc(r.all, func(s *kept) bool { return s.building }) {
		return nil
	}
	if ok, err := r.writersEnded(ctx); err != nil || !ok {
		return err
	}

	for _, s := range r.all {
		for s.building && r.left > 0 && time.Now().Before(until) {
			began := time.Now()
			switch err := r.buildPiece(ctx, s); {
			case errors.Is(err, errBusy): // left to the next run
				return nil
			case err != nil:
				return fmt.Errorf("build: %w", err)
			}
			s.size = r.pace.nextSize(s.size, time.Since(began))
		}
	}

	return nil
}

// nextSize returns the size of the next piece. Fast pieces double the size, so that a filter with few matches takes
// large steps; slow pieces halve it.
func (p Pace) nextSize(size int, took time.Duration) int {
	switch {
	case took < p.For/10:
		return min(2*size, 64*p.Piece)
	case took > p.For/3:
		return max(size/2, p.Piece)
	}
	return size
}

// writersEnded reports whether every transaction that writes contacts knows that the org is watched. Transactions that
// hold a writer's lock when the first run checks may have begun earlier. The build waits for them to end; each is
// identified by its virtual transaction id. The lock does not show which org they write to.
func (r *run) writersEnded(ctx context.Context) (bool, error) {
	w := &waits{}
	err := r.tx.QueryRow(ctx, `SELECT waits_for, epoch, CASE WHEN waits_for = '{}' THEN waits_for ELSE ARRAY(
			SELECT DISTINCT virtualtransaction FROM pg_locks
			WHERE locktype = 'relation' AND database = (SELECT oid FROM pg_database
			WHERE datname = current_database()) AND relation IN ('contact'::regclass, 'contact_score'::regclass)
				AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid() AND (waits_for IS NULL
				OR virtualtransaction = ANY (waits_for))) END
		FROM segment_watch WHERE org_id = $1`, []any{r.tx.Org()}, &w.was, &w.epoch, &w.now)
	if err != nil {
		return false, fmt.Errorf("read concurrent writers: %w", err)
	}
	if w.was == nil || len(w.was) > 0 {
		r.waits = w
	}

	return len(w.now) == 0, nil
}

// waits holds the old and the new value of segment_watch.waits_for. epoch changes whenever the waiting starts over.
type waits struct {
	was, now []string
	epoch    int
}

// place is the position of a contact in the order of creation.
type place struct {
	at time.Time
	id id.ID
}

func (p place) compare(q place) int {
	if c := p.at.Compare(q.at); c != 0 {
		return c
	}
	return id.Compare(p.id, q.id)
}

// buildPiece processes the next contacts of s on one side, live or archived.
func (r *run) buildPiece(ctx context.Context, s *kept) error {
	from := place{at: time.Unix(0, 0).AddDate(-1000, 0, 0)}
	if s.at != nil {
		from = place{*s.at, *s.after}
	}
	to, last, err := r.pieceEnd(ctx, s, from)
	if err != nil {
		return err
	}
	if s.fresh {
		err = r.fillPiece(ctx, s, from, to)
	} else {
		to, last, err = r.correctPiece(ctx, s, from, to, last)
	}
	if err != nil {
		return err
	}

	s.moved = true
	switch {
	case !last:
		s.at = &to.at
		s.after = &to.id
	case !s.shelf:
		s.shelf = true
		s.at = nil
		s.after = nil
	default:
		s.building = false
		s.quiet = false
	}

	return nil
}

// lastPlace returns a position after every contact.
func lastPlace() place { return place{at: time.Unix(0, 0).AddDate(5000, 0, 0)} }

// pieceEnd returns the position of the last contact of the piece that starts after from.
func (r *run) pieceEnd(ctx context.Context, s *kept, from place) (to place, last bool, err error) {
	side := "IS NULL"
	if s.shelf {
		side = "IS NOT NULL"
	}
	err = r.tx.QueryRow(ctx,
		`SELECT created_at, id FROM contact WHERE org_id = $1 AND archived_at `+side+
			` AND (created_at, id) > ($2, $3) ORDER BY created_at, id OFFSET $4 LIMIT 1`,
		[]any{r.tx.Org(), from.at, from.id, s.size - 1}, &to.at, &to.id)
	if postgres.None(err) {
		return lastPlace(), true, nil
	}
	return to, false, err
}

// selectPiece returns a statement that selects the contacts of a piece which match the filter. $2 to $5 are the bounds
// of the piece; more arguments start at $6.
func (k *kept) selectPiece(org id.ID, from, to place, more ...any) (sql string, args []any) {
	return contacts.SelectingPiece(org, &contacts.Filter{Where: k.filter, Archived: k.shelf},
		append([]any{from.at, from.id, to.at, to.id}, more...)...)
}

// fillPiece inserts the matching contacts of a piece, except those that a mark has already inserted.
func (r *run) fillPiece(ctx context.Context, s *kept, from, to place) error {
	sql, args := s.selectPiece(r.tx.Org(), from, to, s.id, s.shelf)
	r.tx.Queue(`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
		SELECT $1, $6::uuid, $7::boolean, hit.created_at, hit.id FROM (`+sql+`) AS hit
		WHERE NOT EXISTS (SELECT FROM (SELECT segment_id FROM segment_member
			WHERE org_id = $1 AND contact_id = hit.id OFFSET 0) AS m WHERE m.segment_id = $6)`, args...)
	r.epoch = true
	return r.tx.Flush(ctx)
}

// correctPiece applies the differences within a piece, up to the remaining number of changes. It returns the position
// that it reached.
func (r *run) correctPiece(ctx context.Context, s *kept, from, to place, last bool) (place, bool, error) {
	sql, args := s.selectPiece(r.tx.Org(), from, to)
	hits, err := r.readPlaces(ctx, sql, args)
	if err != nil {
		return to, last, err
	}

	members, err := r.readPlaces(ctx, `SELECT contact_id, created_at FROM segment_member
		WHERE org_id = $1 AND segment_id = $2 AND archived = $3 AND (created_at, contact_id) > ($4, $5)
		AND (created_at, contact_id) <= ($6, $7)`,
		[]any{r.tx.Org(), s.id, s.shelf, from.at, from.id, to.at, to.id})
	if err != nil {
		return to, last, err
	}

	was := map[id.ID]bool{}
	should := map[id.ID]bool{}
	for _, m := range members {
		was[m.id] = true
	}

	var come []place
	for _, h := range hits {
		if should[h.id] = true; !was[h.id] {
			come = append(come, h)
		}
	}

	elsewhere, err := r.onOtherSide(ctx, s, come)
	if err != nil {
		return to, last, err
	}

	type step struct {
		place
		does act
	}
	var steps []step
	for _, h := range come {
		does := enters
		if elsewhere[h.id] {
			does = moves
		}
		steps = append(steps, step{h, does})
	}

	for _, m := range members {
		if !should[m.id] {
			steps = append(steps, step{m, leaves})
		}
	}

	slices.SortFunc(steps, func(a, b step) int { return a.compare(b.place) })
	if len(steps) > r.left {
		steps = steps[:r.left]
		to = steps[len(steps)-1].place
		last = false
	}
	changes := make([]change, len(steps))
	for i, d := range steps {
		changes[i] = change{seg: s, contact: d.id, created: d.at, does: d.does, archived: s.shelf}
	}

	return to, last, r.applyChanges(ctx, changes)
}

// onOtherSide returns the contacts with a membership row on the other side: the contact was archived or restored,
// possibly while the segment was archived.
func (r *run) onOtherSide(ctx context.Context, s *kept, come []place) (map[id.ID]bool, error) {
	if len(come) == 0 {
		return nil, nil
	}

	ids := make([]id.ID, len(come))
	for i, c := range come {
		ids[i] = c.id
	}

	rows, err := r.tx.Query(ctx,
		`SELECT contact_id FROM segment_member WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])
			AND segment_id = $3`, r.tx.Org(), ids, s.id)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}

	out := map[id.ID]bool{}
	var i id.ID
	_, err = pgx.ForEachRow(rows, []any{&i}, func() error {
		out[i] = true
		return nil
	})
	return out, err
}

func (r *run) readPlaces(ctx context.Context, sql string, args []any) ([]place, error) {
	rows, err := r.tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p place, err error) {
		err = row.Scan(&p.id, &p.at)
		return p, err
	})
}
