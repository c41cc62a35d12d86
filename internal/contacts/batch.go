package contacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// MaxBatch is the maximum number of rows of a batch.
const MaxBatch = 1000

// UpsertWithin is Batch.Upsert with a scorer and a limit on new contacts; a nil room means no limit.
func UpsertWithin(ctx context.Context, tx *postgres.Tx, in []Upsert, rate Scorer, room *Room) (out []Outcome,
	made, changed []Change, err error,
) {
	return Batch{Rate: rate, Room: room}.Upsert(ctx, tx, in)
}

// Batch configures how rows are upserted.
type Batch struct {
	Rate Scorer
	Room *Room // limits new contacts; nil: no limit
	// Types are the types for undefined custom fields of which a row has a value. A field without an entry gets the
	// type of its first value.
	Types map[string]Type
	// Plain makes faults point into their own row, instead of to its position in the contacts array.
	Plain bool
	// Dry computes the outcomes and writes nothing. As holds contacts with a state in this run that differs from the
	// stored one.
	Dry bool
	As  []Row
	// Repair, if not nil, is called with a row that is refused for invalid fields. It removes them from the row, which
	// is then tried again, or returns false. It may be called again for the same row when the batch is retried.
	Repair func(i int, u *Upsert, f *fault.Fault) bool
}

// Upsert applies the rows in order. It returns one outcome for each row, in the same order, and one Change for every
// contact that was created or changed: several rows for one contact make one change. A failed row changes nothing and
// does not stop the others.
//
// It reads everything at once, works in memory and writes everything at once. A conflicting concurrent transaction
// shows up as a violation; the batch is then retried, up to five attempts in all.
func (how Batch) Upsert(ctx context.Context, tx *postgres.Tx, in []Upsert) (out []Outcome, made, changed []Change,
	err error,
) {
	for range 5 {
		var b *batch
		err = tx.Savepoint(ctx, func() error {
			if b, err = lockBatch(ctx, tx, in, how); err != nil {
				return err
			}
			for i := range in {
				u := in[i]
				b.spelling.respell(&u.Patch)
				b.outcomes[i] = b.applyRepaired(i, &u, how.Repair)
			}
			if how.Dry {
				return nil
			}
			if err := b.queueWrites(); err != nil {
				return err
			}
			return tx.Flush(ctx)
		})
		if err == nil {
			made, changed = b.splitChanges()
			return b.outcomes, made, changed, nil
		}
		_, spelled := errors.AsType[*SpellingError](err)
		if !isTaken(err) && !spelled && !errors.Is(err, errRaced) {
			return nil, nil, nil, fmt.Errorf("batch: %w", err)
		}
	}

	return nil, nil, nil,
		fault.New(fault.Conflict, "Other requests keep changing the same contacts. Send the batch again.").Because(err)
}

// lockBatch reads and locks the contacts that the rows may change. It locks them in the order of their ids, so that
// concurrent batches cannot deadlock.
func lockBatch(ctx context.Context, tx *postgres.Tx, in []Upsert, how Batch) (*batch, error) {
	b := newBatch(tx, how.Rate)
	b.outcomes = make([]Outcome, len(in))
	b.hints = how.Types
	b.plain = how.Plain
	if how.Room != nil {
		left := *how.Room
		b.room = &left
	}
	ids := []id.ID{}
	emails := []string{}
	keys := []externalid.Key{}
	segments := map[string]bool{}
	attributes := false
	sent := make([]*Patch, len(in))
	for i := range in {
		sent[i] = &in[i].Patch
		if given, err := id.Parse(in[i].ID.Value); err == nil {
			ids = append(ids, given)
		}
		if in[i].Email.Set {
			emails = append(emails, compare.Address(in[i].Email.Value))
		}
		keys = append(keys, externalid.Sent(in[i].ExternalIDs)...)
		for _, s := range in[i].Segment.Value {
			segments[s] = true
		}
		attributes = attributes || in[i].Attributes.Set
	}

	externalid.LockKeys(tx, externalid.Contact, keys)
	known, err := externalid.Live(ctx, tx, externalid.Contact, keys) // asked first: one more UNION below misleads plans
	if err != nil {
		return nil, err
	}
	for _, holder := range known {
		ids = append(ids, holder)
	}

	ByKeys(tx)
	b.queueReads(attributes, len(segments) > 0)
	b.spelling = queueSpeller(tx, sentNames(sent...))
	rows, err := tx.Query(ctx,
		`SELECT `+rowColumns+` `+both+` WHERE c.org_id = $1 AND s.org_id = $1 AND c.archived_at IS NULL AND c.id IN (
			SELECT unnest($2::uuid[]) UNION SELECT h.id FROM unnest($3::text[]) AS a (email) CROSS JOIN LATERAL (
				SELECT id FROM contact WHERE org_id = $1 AND archived_at IS NULL AND email_folded = a.email LIMIT 1) h)
		ORDER BY c.id FOR UPDATE OF c, s`, tx.Org(), ids, emails)
	if err != nil {
		return nil, err
	}

	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, err
	}
	if err := rereadAllSegments(ctx, tx, found); err != nil {
		return nil, err
	}

	for _, r := range found {
		b.addStored(r)
	}

	for _, r := range how.As {
		if old := b.byID[r.ID]; old != nil {
			b.removeKeys(old)
		}
		b.addStored(r)
	}

	return b, nil
}
