package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// planOnce precedes statements that find partitions by a key. By default Postgres plans such a statement on each
// execution, because a custom plan prunes to one partition and looks cheaper; planning the join below takes ten times
// as long as executing it.
const planOnce = `SET LOCAL plan_cache_mode = force_generic_plan`

// byKey also forces index look-ups for the join, because a plan with a sequential scan of a small table would be kept
// when the table has grown.
const byKey = `SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true),
	set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
	set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`

const (
	loadSQL    = parcelSQL + ` FROM webhook_delivery d` + withSQL + ` WHERE d.org_id = $1 AND d.id = $2`
	loadAllSQL = parcelSQL +
		` FROM unnest($2::uuid[]) AS m (id) JOIN webhook_delivery d ON d.org_id = $1 AND d.id = m.id` + withSQL

	parcelSQL = `
	SELECT d.id, d.endpoint_id, d.event_id, d.event_type, d.trigger, d.body, d.status, d.attempts, d.created_at,
		e.url, e.secret, e.previous_secret, e.previous_until, e.enabled, e.archived_at IS NOT NULL,
		ev.seq, ev.actor_type, ev.actor_id, ev.request_id, ev.data, ev.created_at,
		h.opened_at IS NOT NULL, coalesce(j.losses, 0)`
	withSQL = `
	JOIN webhook_endpoint e ON e.org_id = d.org_id AND e.id = d.endpoint_id
	LEFT JOIN webhook_health h ON h.org_id = d.org_id AND h.endpoint_id = d.endpoint_id
	LEFT JOIN job j ON j.org_id = d.org_id AND j.id = d.id
	LEFT JOIN event ev ON ev.org_id = d.org_id AND ev.id = d.event_id AND d.body IS NULL`
)

// loaded is a row of the load queries.
type loaded struct {
	DeliveryRequest
	sealed, previous    []byte
	previousUntil       *time.Time
	enabled, archived   bool
	body                json.RawMessage
	seq                 *int64
	actor, actorID, req *string
	data                json.RawMessage
	at                  *wire.Time
	made                wire.Time
}

func (l *loaded) columns() []any {
	return []any{
		&l.Delivery, &l.Endpoint, &l.EventID, &l.EventType, &l.Trigger, &l.body, &l.Status, &l.Tries, &l.made,
		&l.URL, &l.sealed, &l.previous, &l.previousUntil, &l.enabled, &l.archived,
		&l.seq, &l.actor, &l.actorID, &l.req, &l.data, &l.at, &l.Held, &l.Lost,
	}
}

// Load reads a delivery with its endpoint and its event in one round trip. The error satisfies postgres.None if there
// is no such delivery.
func (s *Service) Load(ctx context.Context, tx *postgres.Tx, delivery id.ID) (*DeliveryRequest, error) {
	var l loaded
	tx.Queue(planOnce)
	if err := tx.QueryRow(ctx, loadSQL, []any{tx.Org(), delivery}, l.columns()...); err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	return s.deliveryRequest(tx.Org(), &l)
}

// Load is one delivery for LoadAll to load, and its result. Parcel and Err are nil if there is no such delivery.
type Load struct {
	Org, Delivery id.ID
	Parcel        *DeliveryRequest
	Err           error
}

// LoadAll loads many deliveries, of any orgs, in one round trip, with one statement per org. If it returns an error, no
// result is valid.
func (s *Service) LoadAll(ctx context.Context, db *postgres.DB, all []*Load) error {
	if len(all) == 0 {
		return nil
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Load) int { return cmp.Or(bytes.Compare(a.Org[:], b.Org[:])) })
	return db.ReadTx(ctx, all[0].Org, func(tx *postgres.Tx) error {
		tx.Queue(byKey)
		for len(all) > 0 {
			org, n := all[0].Org, 0
			var ids []id.ID
			asked := map[id.ID][]*Load{}
			for ; n < len(all) && all[n].Org == org; n++ {
				if asked[all[n].Delivery] == nil {
					ids = append(ids, all[n].Delivery)
				}
				asked[all[n].Delivery] = append(asked[all[n].Delivery], all[n])
			}
			all = all[n:]
			tx.Turn(org)
			tx.Queue(loadAllSQL, org, ids).Query(func(rows pgx.Rows) error {
				defer rows.Close()
				for rows.Next() {
					var l loaded
					if err := rows.Scan(l.columns()...); err != nil {
						return fmt.Errorf("read deliveries: %w", err)
					}
					p, err := s.deliveryRequest(org, &l)
					for _, one := range asked[l.Delivery] {
						one.Parcel, one.Err = p, err
					}
				}
				return rows.Err()
			})
		}
		return nil
	})
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
	if l.previousUntil == nil || !l.previousUntil.After(time.Now()) {
		l.previous = nil
	}
	for _, one := range [][]byte{l.sealed, l.previous} {
		if one == nil {
			continue
		}
		plain, err := s.Box.Open(one, about(org, p.Endpoint))
		if err != nil {
			return nil, fmt.Errorf("open secret: %w", err)
		}
		p.Secrets = append(p.Secrets, string(plain))
	}
	return p, nil
}
