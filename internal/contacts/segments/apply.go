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

// fewEvents is the maximum number of events that are announced one by one, so that their deliveries start at once.
const fewEvents = 20

type act int

const (
	enters act = iota // insert a row
	leaves            // delete a row
	moves             // move a row to the other side, after its contact was archived or restored
)

// change is a membership change to be written.
type change struct {
	seg      *kept
	contact  id.ID
	created  time.Time // created_at of the contact; only for enters
	does     act
	archived bool // for enters and moves the row's new side, for leaves its old one
}

// membershipEvent returns the event of c, or nil if it has none: only changes of live members are announced.
func (c *change) membershipEvent() events.Event {
	m := events.Membership{SegmentID: c.seg.id, Segment: c.seg.key, ContactID: c.contact}
	switch {
	case c.seg.quiet, c.archived && c.does != moves:
		return nil
	case c.does == leaves, c.does == moves && c.archived:
		return events.SegmentLeft{Membership: m}
	}
	return events.SegmentEntered{Membership: m}
}

// applyChanges writes the changes, increments the ETags of their contacts and announces the events. It skips changes of
// purged contacts. It returns errBusy as touchContacts does.
func (r *run) applyChanges(ctx context.Context, changes []change) error {
	if len(changes) == 0 {
		return nil
	}

	slices.SortStableFunc(changes, func(a, b change) int { return id.Compare(a.contact, b.contact) })
	there, err := r.touchContacts(ctx, changes)
	if err != nil {
		return err
	}

	var come, left, move, entered rows
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
		e := c.membershipEvent()
		if e != nil {
			tell = append(tell, e)
		}
		if _, ok := e.(events.SegmentEntered); ok {
			entered.add(c)
		}
	}

	if len(come.segs) > 0 {
		r.tx.Queue(`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
			SELECT $1, s, a, t, c FROM unnest($2::uuid[], $3::uuid[], $4::boolean[], $5::timestamptz[]) AS come
			(s, c, a, t)`, r.tx.Org(), come.segs, come.contacts, come.archived, come.created)
	}
	if len(left.segs) > 0 {
		r.tx.Queue(`DELETE FROM segment_member m USING unnest($2::uuid[], $3::uuid[]) AS gone (s, c)
			WHERE m.org_id = $1 AND m.contact_id = gone.c AND m.segment_id = gone.s`, r.tx.Org(), left.segs,
			left.contacts)
	}
	if len(move.segs) > 0 {
		r.tx.Queue(`UPDATE segment_member m SET archived = moved.a
			FROM unnest($2::uuid[], $3::uuid[], $4::boolean[]) AS moved (s, c, a)
			WHERE m.org_id = $1 AND m.contact_id = moved.c AND m.segment_id = moved.s`, r.tx.Org(), move.segs,
			move.contacts, move.archived)
	}
	if len(entered.segs) > 0 { // package enrolments enrols them
		r.tx.Queue(`INSERT INTO segment_entry (org_id, id, sequence_id, segment_id, contact_id, due_at, created_at)
			SELECT $1, uuidv7_at(clock_timestamp()), q.id, e.s, e.c, clock_timestamp(), clock_timestamp()
			FROM unnest($2::uuid[], $3::uuid[]) AS e (s, c)
				JOIN sequence q ON q.org_id = $1 AND q.enroll_segment = e.s AND q.status IN ('active', 'paused')
				AND q.archived_at IS NULL`, r.tx.Org(), entered.segs, entered.contacts)
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

// errBusy means that other transactions, which may be waiting for this run, hold locks on the contacts.
var errBusy = errors.New("contacts are locked by other transactions")

// touchContacts increments the second part of the ETags of the contacts and returns the contacts that exist. The first
// call in a run waits for the locks in the order of ids, as every transaction with several locks does. Later calls
// cannot keep that order, so they do not wait: if another transaction has locked one of the contacts, touchContacts
// returns errBusy and changes nothing.
func (r *run) touchContacts(ctx context.Context, changes []change) (map[id.ID]bool, error) {
	ids := make([]id.ID, len(changes))
	for i := range changes {
		ids[i] = changes[i].contact
	}

	ids = slices.Compact(ids)
	wait := ""
	if r.holds {
		wait = " SKIP LOCKED"
	}
	held, err := r.selectIDs(ctx,
		`SELECT contact_id FROM contact_score WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])
			ORDER BY contact_id FOR UPDATE`+wait, ids)
	if err != nil {
		return nil, fmt.Errorf("lock contacts: %w", err)
	}
	if r.holds && len(held) < len(ids) { // some are locked by others, or purged
		there, err := r.selectIDs(ctx,
			`SELECT contact_id FROM contact_score WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`, ids)
		if err != nil {
			return nil, fmt.Errorf("lock contacts: %w", err)
		}
		if len(there) > len(held) {
			return nil, errBusy
		}
	}
	r.holds = true
	r.tx.Queue(`UPDATE contact_score SET computed = computed + 1 WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`,
		r.tx.Org(), held)
	there := make(map[id.ID]bool, len(held))
	for _, i := range held {
		there[i] = true
	}

	return there, nil
}

// selectIDs returns the ids that the statement selects from of.
func (r *run) selectIDs(ctx context.Context, sql string, of []id.ID) ([]id.ID, error) {
	rows, err := r.tx.Query(ctx, sql, r.tx.Org(), of)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

// rows holds changes as parallel columns.
type rows struct {
	segs, contacts []id.ID
	archived       []bool
	created        []time.Time
}

func (r *rows) add(c *change) {
	r.segs, r.contacts = append(r.segs, c.seg.id), append(r.contacts, c.contact)
	r.archived, r.created = append(r.archived, c.archived), append(r.created, c.created)
}
