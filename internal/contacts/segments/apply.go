package segments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
)

// fewEvents are told one by one, so that their deliveries set out at once.
const fewEvents = 20

type act int

const (
	enters act = iota // a row comes
	leaves            // it goes
	moves             // it changes its side, as its contact was archived or restored
)

// change is one membership that has to be written.
type change struct {
	seg      *kept
	contact  id.ID
	created  time.Time // the contact's; of one that enters
	does     act
	archived bool // the side of the row: that it comes to, or that it goes from
}

// told is the event of c, nil where there is none: the live members are what is told of.
func (c *change) told() events.Event {
	m := events.Membership{SegmentID: c.seg.id, Segment: c.seg.key, ContactID: c.contact}
	switch {
	case c.seg.quiet, c.archived && c.does != moves:
		return nil
	case c.does == leaves, c.does == moves && c.archived:
		return events.SegmentLeft{Membership: m}
	}
	return events.SegmentEntered{Membership: m}
}

// apply writes the changes, moves the ETags of their contacts and tells. A contact that was purged meanwhile has no
// changes. errBusy is as touch's.
func (r *run) apply(ctx context.Context, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	slices.SortStableFunc(changes, func(a, b change) int { return compare(a.contact, b.contact) })
	there, err := r.touch(ctx, changes)
	if err != nil {
		return err
	}
	var come, left, move rows
	var tell []events.Event
	for i := range changes {
		c := &changes[i]
		if !there[c.contact] {
			continue
		}
		switch c.does {
		case enters:
			come.add(c)
		case leaves:
			left.add(c)
		case moves:
			move.add(c)
		}
		if e := c.told(); e != nil {
			tell = append(tell, e)
		}
	}
	if len(come.segs) > 0 {
		r.tx.Queue(`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
			SELECT $1, s, a, t, c FROM unnest($2::uuid[], $3::uuid[], $4::boolean[], $5::timestamptz[]) AS come (s, c, a, t)`, r.tx.Org(), come.segs, come.contacts, come.archived, come.created)
	}
	if len(left.segs) > 0 {
		r.tx.Queue(`DELETE FROM segment_member m USING unnest($2::uuid[], $3::uuid[]) AS gone (s, c)
			WHERE m.org_id = $1 AND m.contact_id = gone.c AND m.segment_id = gone.s`, r.tx.Org(), left.segs, left.contacts)
	}
	if len(move.segs) > 0 {
		r.tx.Queue(`UPDATE segment_member m SET archived = moved.a FROM unnest($2::uuid[], $3::uuid[], $4::boolean[]) AS moved (s, c, a)
			WHERE m.org_id = $1 AND m.contact_id = moved.c AND m.segment_id = moved.s`, r.tx.Org(), move.segs, move.contacts, move.archived)
	}
	r.left -= len(changes)
	if len(tell) > fewEvents {
		return events.AnnounceAll(ctx, r.tx, tell)
	}
	for _, e := range tell {
		if err := events.Announce(ctx, r.tx, e); err != nil {
			return err
		}
	}
	return nil
}

// errBusy is that contacts are held by others, who may wait for this run.
var errBusy = errors.New("contacts are held by others")

// touch moves the second part of the ETags of the contacts, and answers those that are there. The first time it waits for
// them in the order of their ids, as everybody does who holds several. What a run holds later cannot keep that order, so
// it waits for nobody then: errBusy, and nothing is done, where somebody has one of them.
func (r *run) touch(ctx context.Context, changes []change) (map[id.ID]bool, error) {
	ids := make([]id.ID, len(changes))
	for i := range changes {
		ids[i] = changes[i].contact
	}
	ids = slices.Compact(ids)
	wait := ""
	if r.holds {
		wait = " SKIP LOCKED"
	}
	held, err := r.ids(ctx, `SELECT contact_id FROM contact_score WHERE org_id = $1 AND contact_id = ANY ($2::uuid[]) ORDER BY contact_id FOR UPDATE`+wait, ids)
	if err != nil {
		return nil, fmt.Errorf("hold contacts: %w", err)
	}
	if r.holds && len(held) < len(ids) { // those that are held by others, or gone
		there, err := r.ids(ctx, `SELECT contact_id FROM contact_score WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`, ids)
		if err != nil {
			return nil, fmt.Errorf("hold contacts: %w", err)
		}
		if len(there) > len(held) {
			return nil, errBusy
		}
	}
	r.holds = true
	r.tx.Queue(`UPDATE contact_score SET computed = computed + 1 WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`, r.tx.Org(), held)
	there := make(map[id.ID]bool, len(held))
	for _, i := range held {
		there[i] = true
	}
	return there, nil
}

// ids are those that the statement answers of some.
func (r *run) ids(ctx context.Context, sql string, of []id.ID) ([]id.ID, error) {
	rows, err := r.tx.Query(ctx, sql, r.tx.Org(), of)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

// rows are changes as parallel columns.
type rows struct {
	segs, contacts []id.ID
	archived       []bool
	created        []time.Time
}

func (r *rows) add(c *change) {
	r.segs, r.contacts = append(r.segs, c.seg.id), append(r.contacts, c.contact)
	r.archived, r.created = append(r.archived, c.archived), append(r.created, c.created)
}
