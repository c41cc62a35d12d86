package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// byKey is postgres.PlanByDay that also forces index look-ups for the join. A plan for few rows would otherwise scan a
// table that it believes small.
const byKey = `SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true),
	set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
	set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`

// loadAllSQL reads deliveries $2 of org $1, whose ids are from $3 to $4, with the events whose ids are from $5 to $6.
//
// Each join repeats $1 instead of a column, because the planner multiplies two conditions on an org. LIMIT 1 keeps each
// delivery's look-up apart from the join, so that it uses the key whatever the statistics say of the org.
const loadAllSQL = `
SELECT d.id, d.endpoint_id, d.event_id, d.event_type, d.trigger, d.body, d.status, d.attempts, d.created_at,
	e.url, e.secret, e.previous_secret, e.previous_until, e.enabled, e.archived_at IS NOT NULL,
	ev.seq, ev.actor_type, ev.actor_id, ev.request_id, ev.data, ev.created_at,
	h.opened_at IS NOT NULL, coalesce(j.losses, 0)
FROM unnest($2::uuid[]) AS m (id)
CROSS JOIN LATERAL (
	SELECT * FROM webhook_delivery WHERE org_id = $1 AND id = m.id AND id BETWEEN $3 AND $4 LIMIT 1
) d
JOIN webhook_endpoint e ON e.org_id = $1 AND e.id = d.endpoint_id
LEFT JOIN LATERAL (
	SELECT opened_at FROM webhook_health WHERE org_id = $1 AND endpoint_id = d.endpoint_id LIMIT 1
) h ON true
LEFT JOIN LATERAL (SELECT losses FROM job WHERE org_id = $1 AND id = d.id LIMIT 1) j ON true
LEFT JOIN LATERAL (
	SELECT * FROM event
	WHERE org_id = $1 AND id = d.event_id AND id BETWEEN $5 AND $6 AND d.body IS NULL LIMIT 1
) ev ON true`

// eventsSQL reads the events $2 of org $1, whose ids are from $3 to $4: those that loadAllSQL did not find.
const eventsSQL = `
SELECT ev.id, ev.seq, ev.actor_type, ev.actor_id, ev.request_id, ev.data, ev.created_at
FROM unnest($2::uuid[]) AS m (id)
CROSS JOIN LATERAL (SELECT * FROM event WHERE org_id = $1 AND id = m.id AND id BETWEEN $3 AND $4 LIMIT 1) ev`

// eventSlack is how much earlier or later than its delivery an event may have got its id, for loadAllSQL to find it.
// The ids are of different clocks. A delivery that repeats an older event is found by eventsSQL.
const eventSlack = 10 * time.Minute

// loaded is a row of the load queries.
type loaded struct {
	DeliveryRequest
	sealed, previous  []byte
	previousUntil     *time.Time
	enabled, archived bool
	body              json.RawMessage
	made              wire.Time
	loadedEvent
}

// loadedEvent holds the columns of an event; they are nil if it was not found.
type loadedEvent struct {
	seq                 *int64
	actor, actorID, req *string
	data                json.RawMessage
	at                  *wire.Time
}

func (e *loadedEvent) columns() []any {
	return []any{&e.seq, &e.actor, &e.actorID, &e.req, &e.data, &e.at}
}

func (l *loaded) columns() []any {
	all := []any{
		&l.Delivery, &l.Endpoint, &l.EventID, &l.EventType, &l.Trigger, &l.body, &l.Status, &l.Tries, &l.made,
		&l.URL, &l.sealed, &l.previous, &l.previousUntil, &l.enabled, &l.archived,
	}
	all = append(all, l.loadedEvent.columns()...)
	return append(all, &l.Held, &l.Lost)
}

// Load reads a delivery with its endpoint and its event. The error satisfies postgres.None if there is no such
// delivery.
func (s *Service) Load(ctx context.Context, tx *postgres.Tx, delivery id.ID) (*DeliveryRequest, error) {
	one := Load{Org: tx.Org(), Delivery: delivery}
	if err := s.loadAll(ctx, tx, []*Load{&one}); err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	if one.Request == nil && one.Err == nil {
		return nil, fmt.Errorf("read delivery: %w", pgx.ErrNoRows)
	}
	return one.Request, one.Err
}

// Load is one delivery for LoadAll to load, and its result. Request and Err are nil if there is no such delivery.
type Load struct {
	Org, Delivery id.ID
	Request       *DeliveryRequest
	Err           error
}

// LoadAll loads many deliveries, of any orgs, in one round trip, with one statement per org. Deliveries of older events
// take a second one. If it returns an error, no result is valid.
func (s *Service) LoadAll(ctx context.Context, db *postgres.DB, all []*Load) error {
	if len(all) == 0 {
		return nil
	}
	return db.ReadTx(ctx, all[0].Org, func(tx *postgres.Tx) error { return s.loadAll(ctx, tx, all) })
}

func (s *Service) loadAll(ctx context.Context, tx *postgres.Tx, all []*Load) error {
	orgs := groupByOrg(all)
	tx.Queue(byKey)
	for _, o := range orgs {
		tx.Turn(o.org)
		o.queueDeliveries(tx)
	}
	if err := tx.Flush(ctx); err != nil {
		return err
	}

	tx.Queue(byKey)
	missing := false
	for _, o := range orgs {
		if len(o.withoutEvent) > 0 {
			missing = true
			tx.Turn(o.org)
			o.queueEvents(tx)
		}
	}
	if missing {
		if err := tx.Flush(ctx); err != nil {
			return err
		}
	}

	for _, o := range orgs {
		for _, l := range o.found {
			p, err := s.deliveryRequest(o.org, l)
			for _, one := range o.asked[l.Delivery] {
				one.Request, one.Err = p, err
			}
		}
	}
	return nil
}

// deliveryRequest completes a row for sending, if the delivery is wanted.
func (s *Service) deliveryRequest(org id.ID, l *loaded) (*DeliveryRequest, error) {
	p := &l.DeliveryRequest
	p.Made, p.Body = l.made.Time, l.body
	if p.Body == nil && l.seq != nil {
		stored := events.Stored{
			OrgID: org, ID: p.EventID, Seq: *l.seq, Type: p.EventType, ActorType: *l.actor,
			ActorID: *l.actorID, RequestID: *l.req, Data: l.data, CreatedAt: *l.at,
		}
		p.Body = stored.Bytes()
	}
	if p.Wanted = p.Body != nil && !l.archived && (l.enabled || p.Asked()); !p.Wanted {
		return p, nil
	}
	current, err := s.Box.Open(l.sealed, secretContext(org, p.Endpoint))
	if err != nil {
		return nil, fmt.Errorf("open secret: %w", err)
	}
	old, err := s.openOldSecrets(org, p.Endpoint, l.previous, l.previousUntil, time.Now())
	if err != nil {
		return nil, err
	}
	p.Secrets = append(p.Secrets, string(current))
	for _, one := range old {
		p.Secrets = append(p.Secrets, one.Secret)
	}
	return p, nil
}
