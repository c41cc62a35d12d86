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
	Count         string    `query:"count" enum:"estimate,exact" doc:"Add total; estimate: exact up to 1000, then near"`
}

func (q *DeliveryQuery) toFilter() (webhooks.Filter, error) {
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

// deliveryPage returns one page of the list that rows reads, of all webhooks or of one.
func (a *App) deliveryPage(ctx context.Context, q *DeliveryQuery,
	rows func(tx *postgres.Tx, f webhooks.Filter, before id.ID, limit int) (webhooks.DeliveryPage, error),
	hook *id.ID,
) (*deliveryList, error) {
	filter, err := q.toFilter()
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

		l, err := httpx.NewList(ctx, a.Server, q.Page, found.Deliveries,
			func(d webhooks.Delivery) webhooks.Delivery { return d }, func(d webhooks.Delivery) id.ID { return d.ID })
		if err == nil && !l.HasMore && found.Next != nil {
			l.HasMore = true
			l.NextCursor, err = httpx.Cursor(ctx, a.Server, *found.Next)
		}
		if err == nil && q.Count != "" {
			l.Total, err = a.Hooks.CountDeliveries(ctx, tx, hook, filter, q.Count == "estimate")
		}

		return &deliveryList{l}, err
	})
}

type listDeliveriesIn struct {
	HookID
	DeliveryQuery
}

func (a *App) listDeliveries(ctx context.Context, in *listDeliveriesIn) (*deliveryList, error) {
	return a.deliveryPage(ctx, &in.DeliveryQuery,
		func(tx *postgres.Tx, f webhooks.Filter, before id.ID, limit int) (webhooks.DeliveryPage, error) {
			return a.Hooks.ListDeliveries(ctx, tx, in.ID, f, before, limit)
		}, &in.ID)
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
	return a.deliveryPage(ctx, &in.DeliveryQuery,
		func(tx *postgres.Tx, f webhooks.Filter, before id.ID, limit int) (webhooks.DeliveryPage, error) {
			return a.Hooks.ListAllDeliveries(ctx, tx, hook, f, before, limit)
		}, hook)
}
