package enrolments

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// inserts is the enrolments to insert, as parallel columns.
type inserts struct {
	ids, contacts, mailboxes []id.ID
	dues                     []time.Time
	groups                   []int64
	zones                    []string
	due                      map[int64]time.Time // the first of each group
}

// add adds an enrolment of a contact. The delay of its first step begins at start.
func (in *inserts) add(e *enroller, c *candidate, start time.Time) error {
	i := id.New()
	box := e.plan.chooseMailbox(i)
	zone := e.plan.chooseZone(c.zone, box)
	location := e.plan.loadLocation(zone)
	if location == nil {
		return fmt.Errorf("zone of contact: there is no %s", zone)
	}
	first := &e.version.Steps[0]
	at := first.Delay.After(start, e.plan.windows, location)
	group := e.plan.addGroup(first, box.id, zone)
	in.ids, in.contacts, in.mailboxes = append(in.ids, i), append(in.contacts, c.id), append(in.mailboxes, box.id)
	in.dues, in.groups, in.zones = append(in.dues, at), append(in.groups, group), append(in.zones, zone)
	if in.due == nil {
		in.due = map[int64]time.Time{}
	}
	if first, ok := in.due[group]; !ok || at.Before(first) {
		in.due[group] = at
	}

	return nil
}

// insertSQL inserts enrolments. first_state and first_step are the beginning of their history.
const insertSQL = `
INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, due_at, grp, mailbox_id,
	zone, stop_reply, stop_company, stop_deal, batch_id, created_by, created_at, state_at, exclusive, first_state,
	first_step)
SELECT $1, u.id, $2, $3, u.contact, $4, $5, u.due, u.grp, u.mailbox, u.zone, $6, $7, $8, $9, $10, $11, $11, $18, $4, $5
FROM unnest($12::uuid[], $13::uuid[], $14::timestamptz[], $15::bigint[], $16::uuid[], $17::text[])
	AS u (id, contact, due, grp, mailbox, zone)%s
RETURNING id`

// insertAll inserts the enrolments and returns them in the order of their contacts. It leaves out a contact that a
// concurrent transaction has enrolled in this sequence, or in another one if both leave out the contacts of others.
//
// For each row, ON CONFLICT looks into the unique indexes before it inserts, and writes a confirmation. So a batch,
// whose contacts are hardly ever enrolled meanwhile, does without it until there is a conflict.
func (in *inserts) insertAll(ctx context.Context, tx *postgres.Tx, e *enroller, batch *id.ID, now wire.Time,
) (all []Enrolment, err error) {
	if batch != nil {
		err = tx.Savepoint(ctx, func() error {
			all, err = in.execInsert(ctx, tx, e, batch, now, "")
			return err
		})
		if postgres.Code(err) != uniqueViolation {
			return all, err
		}
	}
	return in.execInsert(ctx, tx, e, batch, now, " ON CONFLICT DO NOTHING")
}

// uniqueViolation is the SQLSTATE of a row that a unique index has already.
const uniqueViolation = "23505"

func (in *inserts) execInsert(ctx context.Context, tx *postgres.Tx, e *enroller, batch *id.ID, now wire.Time,
	conflict string,
) ([]Enrolment, error) {
	stop := e.version.StopOn
	rows, err := tx.Query(ctx, fmt.Sprintf(insertSQL, conflict), tx.Org(), e.Sequence, e.version.Number, e.state,
		e.version.Steps[0].Key, stop.Reply, stop.CompanyReply, stop.DealWon, batch, e.By, now, in.ids, in.contacts,
		in.dues, in.groups, in.mailboxes, in.zones, e.version.Exclusive)
	if err != nil {
		return nil, fmt.Errorf("insert enrolments: %w", err)
	}
	inserted := make(map[id.ID]bool, len(in.ids))
	var one id.ID
	if _, err := pgx.ForEachRow(rows, []any{&one}, func() error {
		inserted[one] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("insert enrolments: %w", err)
	}

	all := make([]Enrolment, 0, len(inserted))
	for i := range in.ids {
		if inserted[in.ids[i]] {
			all = append(all, in.enrolment(i, e, now))
		}
	}

	return all, nil
}

// enrolment returns the enrolment at i as its row has it.
func (in *inserts) enrolment(i int, e *enroller, now wire.Time) Enrolment {
	return Enrolment{
		ID: in.ids[i], SequenceID: e.Sequence, Version: e.version.Number, ContactID: in.contacts[i],
		MailboxID: in.mailboxes[i], State: e.state, Step: e.version.Steps[0].Key, TimeZone: in.zones[i],
		DueAt: new(wire.At(in.dues[i])), CreatedAt: now, StateAt: now, Number: 1, By: e.By, Edit: 1,
		Group: in.groups[i],
	}
}
