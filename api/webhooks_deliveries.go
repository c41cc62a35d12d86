package api

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// DeliveryQuery has the filters of the lists of deliveries.
type DeliveryQuery struct {
	httpx.Page
	Status        string    `query:"status" enum:"pending,delivered,failed,exhausted,discarded" doc:"Only this status"`
	EventType     string    `query:"event_type" maxLength:"100" doc:"Only this event type"`
	CreatedAfter  time.Time `query:"created_after" doc:"Only deliveries created after this time"`
	CreatedBefore time.Time `query:"created_before" doc:"Only deliveries created before this time"`
	Count         string    `query:"count" enum:"estimate,exact" doc:"Add total; both values count exactly"`
}

func (q *DeliveryQuery) filter() (webhooks.Filter, error) {
	if _, ok := events.Lookup(q.EventType); !ok && q.EventType != "" {
		return webhooks.Filter{}, fault.Parameter("event_type", "unknown_event_type", events.Unknown(q.EventType))
	}
	return webhooks.Filter{
		Status: webhooks.Status(q.Status), EventType: q.EventType, CreatedAfter: q.CreatedAfter,
		CreatedBefore: q.CreatedBefore,
	}, nil
}

type deliveryList struct {
	Body httpx.List[webhooks.Delivery]
}

// deliveries returns one page of the list that rows reads and total counts.
func (a *App) deliveries(ctx context.Context, q *DeliveryQuery,
	rows func(tx *postgres.Tx, f webhooks.Filter, before id.ID, limit int) ([]webhooks.Delivery, error),
	total func(tx *postgres.Tx, f webhooks.Filter) (*int64, error),
) (*deliveryList, error) {
	filter, err := q.filter()
	if err != nil {
		return nil, err
	}
	before, err := httpx.After[id.ID](ctx, a.Server, q.Page)
	if err != nil {
		return nil, err
	}
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*deliveryList, error) {
		found, err := rows(tx, filter, orZero(before), q.Limit+1)
		if err != nil {
			return nil, err
		}
		l, err := httpx.NewList(ctx, a.Server, q.Page, found,
			func(d webhooks.Delivery) webhooks.Delivery { return d }, func(d webhooks.Delivery) id.ID { return d.ID })
		if err == nil && q.Count != "" {
			l.Total, err = total(tx, filter)
		}
		return &deliveryList{l}, err
	})
}

type listDeliveriesIn struct {
	HookID
	DeliveryQuery
}

func (a *App) listDeliveries(ctx context.Context, in *listDeliveriesIn) (*deliveryList, error) {
	return a.deliveries(ctx, &in.DeliveryQuery,
		func(tx *postgres.Tx, f webhooks.Filter, before id.ID, limit int) ([]webhooks.Delivery, error) {
			return a.Hooks.ListDeliveries(ctx, tx, in.ID, f, before, limit)
		}, func(tx *postgres.Tx, f webhooks.Filter) (*int64, error) {
			return a.Hooks.CountDeliveries(ctx, tx, in.ID, f)
		})
}

type listAllDeliveriesIn struct {
	DeliveryQuery
	WebhookID string `query:"webhook_id" format:"uuid" doc:"Only deliveries to this webhook"`
}

func (a *App) listAllDeliveries(ctx context.Context, in *listAllDeliveriesIn) (*deliveryList, error) {
	hook, err := uuidParameter("webhook_id", in.WebhookID)
	if err != nil {
		return nil, err
	}
	return a.deliveries(ctx, &in.DeliveryQuery,
		func(tx *postgres.Tx, f webhooks.Filter, before id.ID, limit int) ([]webhooks.Delivery, error) {
			return a.Hooks.ListAllDeliveries(ctx, tx, hook, f, before, limit)
		}, func(tx *postgres.Tx, f webhooks.Filter) (*int64, error) {
			return a.Hooks.CountAllDeliveries(ctx, tx, hook, f)
		})
}
