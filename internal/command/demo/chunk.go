package demo

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// chunk is the actions of one step with the events that they cause.
type chunk struct {
	*filler
	tx   *postgres.Tx
	by   map[plan.Kind][]numbered
	past []events.Past
}

// numbered is an action with its index in the plan.
type numbered struct {
	plan.Action
	number int
}

// writeChunk writes the actions of the current step. Objects of different kinds are written in the order in which they
// refer to each other.
func (f *filler) writeChunk(ctx context.Context, tx *postgres.Tx) error {
	if err := f.readPipelines(ctx, tx); err != nil {
		return err
	}

	first := (f.Step - 1) * perStep
	f.recallTags(first)
	c := &chunk{filler: f, tx: tx, by: map[plan.Kind][]numbered{}}
	for i, a := range f.plan.Actions[first:min(first+perStep, len(f.plan.Actions))] {
		kind := a.Kind
		if kind == plan.MoveDeal || kind == plan.CloseDeal { // in one batch, in their order
			kind = plan.CreateDeal
		}
		c.by[kind] = append(c.by[kind], numbered{a, first + i})
	}

	for _, write := range []func(context.Context) error{
		c.createCompanies, c.createContacts, c.changeDeals, c.moveContacts, c.writeNotes, c.createTasks,
		c.completeTasks,
	} {
		if err := write(ctx); err != nil {
			return err
		}
	}

	slices.SortStableFunc(c.past, func(a, b events.Past) int { return a.At.Compare(b.At.Time) })
	if err := events.RecordPast(tx, c.past); err != nil {
		return err
	}

	return c.writeDeliveries()
}

// addEvents adds the events of an action of the user who owns the object, in order.
func (c *chunk) addEvents(a numbered, by events.Origin, all []events.Event) {
	for i, e := range all {
		at := wire.At(a.At.Add(time.Duration(i) * time.Millisecond))
		c.past = append(c.past, events.Past{
			Event: e, ID: c.rowID(eventRow, a.number, i, at.Time), At: at, By: by,
		})
	}
}

// userOrigin is the origin of what the n'th member does.
func (c *chunk) userOrigin(n int) events.Origin {
	return events.Origin{ActorType: "user", ActorID: c.ownerID(n).String()}
}

// recallTags restores the tags of contacts before the action with that index.
func (f *filler) recallTags(before int) {
	f.tags = map[int][]string{}
	for i := range f.plan.Actions[:before] {
		if a := &f.plan.Actions[i]; a.Kind == plan.MoveContact {
			f.addTag(a)
		}
	}
}

// addTag adds the tag of a MoveContact to the contact, and returns the contact's tags.
func (f *filler) addTag(a *plan.Action) []string {
	now, changed := f.tags[a.Of]
	if !changed {
		now = f.plan.Contacts[a.Of].Tags
	}
	if a.Tag != "" && !slices.Contains(now, a.Tag) {
		now = append(slices.Clone(now), a.Tag)
	}

	f.tags[a.Of] = now

	return now
}

// readPipelines finds the pipelines: the default one, and the one that prepare has created.
func (f *filler) readPipelines(ctx context.Context, tx *postgres.Tx) error {
	if f.sales != nil {
		return nil
	}

	rows, err := deals.ListPipelines(ctx, tx, false, nil, 100)
	if err != nil {
		return err
	}

	sales := make([]*deals.Pipeline, 2)
	for i := range rows {
		p := &rows[i].Value
		if p.Default {
			sales[0], sales[1] = p, cmp.Or(sales[1], p)
		} else if p.Name == renewals {
			sales[1] = p
		}
	}

	f.sales = sales

	return nil
}
