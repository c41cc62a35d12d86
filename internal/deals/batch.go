package deals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Upsert is one row of a batch. It matches the deal ID if one is given; otherwise it creates a deal.
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
	err = record.Again(ctx, tx, func(err error) bool { return errors.Is(err, errMoved) }, func() error {
		out, changed = make([]record.Outcome, len(in)), nil
		known, g, err := lockBatch(ctx, tx, in)
		if err != nil {
			return err
		}
		var order []*entry
		for i := range in {
			e, ch, err := applyRow(&in[i], known, g, "deals/"+strconv.Itoa(i)+"/")
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

// lockBatch reads and locks the deals that the rows name, and reads the data that their changes need.
func lockBatch(ctx context.Context, tx *postgres.Tx, in []Upsert) (map[id.ID]*entry, *ground, error) {
	ids, patches := []id.ID{}, make([]*Patch, len(in))
	for i := range in {
		patches[i] = &in[i].Patch
		if given, err := id.Parse(in[i].ID.Value); err == nil {
			ids = append(ids, given)
		}
	}
	found, err := table.LockAll(ctx, tx, "SELECT unnest($2::uuid[]) AS key", ids)
	if err != nil {
		return nil, nil, err
	}
	known, at := map[id.ID]*entry{}, []id.ID{}
	for _, r := range found {
		known[r.Value.ID] = &entry{Was: r, Now: r}
		at = append(at, r.Value.PipelineID)
	}
	g, err := readGround(ctx, tx, patches, at, true)
	return known, g, err
}

// applyRow applies one row in memory.
func applyRow(u *Upsert, known map[id.ID]*entry, g *ground, path string) (*entry, Change, error) {
	if u.Wrong != nil {
		return nil, Change{}, u.Wrong
	}
	if !u.ID.Set || u.ID.Null {
		d, err := u.Patch.newDeal(path, wire.Now(), g)
		if err != nil {
			return nil, Change{}, err
		}
		if !u.NewID.IsZero() {
			d.ID = u.NewID
		}
		e := &entry{Now: Row{Value: d, Edit: 1}, New: true}
		known[d.ID] = e
		return e, Change{Row: e.Now}, nil
	}
	given, err := id.Parse(u.ID.Value)
	if err != nil {
		return nil, Change{}, fault.Invalid(path+"id", "invalid_uuid", "This is not a UUID.")
	}
	e := known[given]
	if e == nil {
		return nil, Change{}, table.NotFound()
	}
	p := u.Patch
	if p.CreatedAt.Set { // only new deals take history; it is read-only for existing ones
		p.Refuse("created_at", json.RawMessage(strconv.Quote(p.CreatedAt.Value)))
	}
	ch, err := table.Next(e.Now, func(was, now *Deal) error { return p.apply(was, now, path, g) })
	if err != nil || !ch.Changed() {
		return e, ch, err
	}
	e.Take(&table, ch)
	return e, ch, nil
}
