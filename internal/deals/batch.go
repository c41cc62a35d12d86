package deals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Upsert is one row of a batch. It matches the deal ID if one is given, else the live deal with one of the patch's
// external ids; otherwise it creates a deal.
type Upsert struct {
	ID wire.Field[string]
	Patch
	Wrong *fault.Fault // an error found before the batch; becomes the row's outcome
	NewID id.ID        // the ID of the deal if the row creates one; zero: generated
}

type entry = record.Entry[Deal]

// UpsertAll applies the rows in order. It returns one outcome for each row, in the same order, and the Changes of every
// created or changed deal: one per row, because a deal that is won, reopened and won again has been won twice. A failed
// row changes nothing and does not stop the others.
func UpsertAll(ctx context.Context, tx *postgres.Tx, in []Upsert) (out []record.Outcome, changed []Change, err error) {
	err = record.Again(ctx, tx, isRaced, func() error {
		out, changed = make([]record.Outcome, len(in)), nil
		b, err := lockBatch(ctx, tx, in)
		if err != nil {
			return err
		}
		var order []*entry
		for i := range in {
			e, ch, err := b.applyRow(&in[i], "deals/"+strconv.Itoa(i)+"/")
			switch {
			case err != nil:
				out[i] = record.Wrong(err)
				continue
			case ch.Before.ID.IsZero():
				out[i] = record.Outcome{Result: record.Created, ID: ch.Value.ID}
			case !ch.Changed():
				out[i] = record.Outcome{Result: record.Unchanged, ID: ch.Value.ID}
				continue
			default:
				out[i] = record.Outcome{Result: record.Updated, ID: ch.Value.ID}
			}
			changed = append(changed, ch)
			if !slices.Contains(order, e) {
				order = append(order, e)
			}
		}
		record.ReleaseExternalIDs(tx, externalid.Deal, order, func(d *Deal) (id.ID, externalid.IDs) {
			return d.ID, d.ExternalIDs
		})
		for _, e := range order {
			if e.New {
				queueInsert(tx, &e.Now.Value)
			} else {
				queueUpdate(tx, &e.Was.Value, &e.Now.Value)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("batch: %w", err)
	}
	return out, changed, nil
}

// isRaced reports whether err is a conflict with a concurrent transaction, after which a batch is tried again.
func isRaced(err error) bool { return errors.Is(err, errMoved) || externalid.Taken(err) }

type batch struct {
	ground *ground
	byID   map[id.ID]*entry
	byKey  map[externalid.Key]*entry
}

func (b *batch) addToIndex(e *entry) {
	b.byID[e.Now.Value.ID] = e
	for _, k := range e.Now.Value.ExternalIDs.Keys() {
		b.byKey[k] = e
	}
}

// lockBatch reads and locks the deals that the rows name, and reads the data that their changes need.
func lockBatch(ctx context.Context, tx *postgres.Tx, in []Upsert) (*batch, error) {
	ids, patches := []id.ID{}, make([]*Patch, len(in))
	var keys []externalid.Key
	for i := range in {
		patches[i] = &in[i].Patch
		keys = append(keys, externalid.Sent(in[i].ExternalIDs)...)
		if given, err := id.Parse(in[i].ID.Value); err == nil {
			ids = append(ids, given)
		}
	}
	externalid.LockKeys(tx, externalid.Deal, keys)
	systems, values := externalid.Args(keys)
	found, err := table.LockAll(ctx, tx, "SELECT unnest($2::uuid[]) AS key UNION ALL "+
		externalid.LiveSQL(externalid.Deal, "$3", "$4"), ids, systems, values)
	if err != nil {
		return nil, err
	}
	b := &batch{byID: map[id.ID]*entry{}, byKey: map[externalid.Key]*entry{}}
	at := []id.ID{}
	for _, r := range found {
		b.addToIndex(&entry{Was: r, Now: r})
		at = append(at, r.Value.PipelineID)
	}
	b.ground, err = readGround(ctx, tx, patches, at, true)
	return b, err
}

// applyRow applies one row in memory.
func (b *batch) applyRow(u *Upsert, path string) (*entry, Change, error) {
	if u.Wrong != nil {
		return nil, Change{}, u.Wrong
	}
	e, err := b.findMatch(u, path)
	if err != nil {
		return nil, Change{}, err
	}
	if e == nil {
		d, err := u.Patch.newDeal(path, wire.Now(), b.ground)
		if err != nil {
			return nil, Change{}, err
		}
		if !u.NewID.IsZero() {
			d.ID = u.NewID
		}
		e := &entry{Now: Row{Value: d, Edit: 1}, New: true}
		b.addToIndex(e)
		return e, Change{Row: e.Now}, nil
	}
	p := u.Patch
	if p.CreatedAt.Set { // only new deals take history; it is read-only for existing ones
		p.Refuse("created_at", json.RawMessage(strconv.Quote(p.CreatedAt.Value)))
	}
	ch, err := table.Next(e.Now, func(was, now *Deal) error { return p.apply(was, now, path, b.ground) })
	if err != nil || !ch.Changed() {
		return e, ch, err
	}
	for _, k := range ch.Value.ExternalIDs.Keys() {
		if holder := b.byKey[k]; holder != nil && holder != e {
			return nil, Change{}, externalid.Exists(externalid.Deal, k, holder.Now.Value.ID)
		}
	}
	for _, k := range e.Now.Value.ExternalIDs.Keys() {
		delete(b.byKey, k)
	}
	e.Take(&table, ch)
	b.addToIndex(e)
	return e, ch, nil
}

// findMatch returns the deal that a row matches, or nil for a new deal.
func (b *batch) findMatch(u *Upsert, path string) (*entry, error) {
	if !u.ID.Set || u.ID.Null {
		return record.ByExternalIDs(b.byKey, externalid.Sent(u.ExternalIDs), externalid.Deal)
	}
	given, err := id.Parse(u.ID.Value)
	if err != nil {
		return nil, fault.Invalid(path+"id", "invalid_uuid", "This is not a UUID.")
	}
	if e := b.byID[given]; e != nil {
		return e, nil
	}
	return nil, table.NotFound()
}
