package webhooks

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// orgLoads holds the deliveries that LoadAll loads of one org.
type orgLoads struct {
	org          id.ID
	asked        map[id.ID][]*Load
	found        []*loaded
	withoutEvent map[id.ID][]*loaded // by the id of the event, which loadAllSQL did not find
}

// groupByOrg returns the loads by org, sorted, so that transactions take orgs in one order.
func groupByOrg(all []*Load) []*orgLoads {
	byOrg := map[id.ID]*orgLoads{}
	for _, one := range all {
		o := byOrg[one.Org]
		if o == nil {
			o = &orgLoads{org: one.Org, asked: map[id.ID][]*Load{}, withoutEvent: map[id.ID][]*loaded{}}
			byOrg[one.Org] = o
		}
		o.asked[one.Delivery] = append(o.asked[one.Delivery], one)
	}
	return slices.SortedFunc(maps.Values(byOrg), func(a, b *orgLoads) int { return id.Compare(a.org, b.org) })
}

// queueDeliveries queues the read of the deliveries, with the events that got their ids at about the same time.
func (o *orgLoads) queueDeliveries(tx *postgres.Tx) {
	ids := slices.SortedFunc(maps.Keys(o.asked), id.Compare)
	first, last := ids[0], ids[len(ids)-1]
	firstEvent, lastEvent := id.Floor(first.Time().Add(-eventSlack)), id.Floor(last.Time().Add(eventSlack))

	tx.Queue(loadAllSQL, o.org, ids, first, last, firstEvent, lastEvent).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var l loaded
			if err := rows.Scan(l.columns()...); err != nil {
				return fmt.Errorf("read deliveries: %w", err)
			}
			o.found = append(o.found, &l)
			if l.body == nil && l.seq == nil {
				o.withoutEvent[l.EventID] = append(o.withoutEvent[l.EventID], &l)
			}
		}
		return rows.Err()
	})
}

// queueEvents queues the read of the events that queueDeliveries did not find.
func (o *orgLoads) queueEvents(tx *postgres.Tx) {
	ids := slices.SortedFunc(maps.Keys(o.withoutEvent), id.Compare)
	tx.Queue(eventsSQL, o.org, ids, ids[0], ids[len(ids)-1]).Query(func(rows pgx.Rows) error {
		var (
			event id.ID
			e     loadedEvent
		)
		_, err := pgx.ForEachRow(rows, append([]any{&event}, e.columns()...), func() error {
			for _, one := range o.withoutEvent[event] {
				one.loadedEvent = e
			}
			e = loadedEvent{}
			return nil
		})
		return err
	})
}
