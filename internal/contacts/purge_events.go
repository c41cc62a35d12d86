package contacts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// eventsOf returns the ids of the events about a contact, in order. An event about a contact is on its timeline, which
// outlives the events: some of these may be gone.
func eventsOf(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]id.ID, error) {
	rows, err := tx.Query(ctx, `SELECT id FROM timeline WHERE org_id = $1 AND contact_id = $2
		AND id >= uuid_floor(now() - (SELECT keep_days + 7 FROM partitioned WHERE name = 'event') * interval '1 day')
		ORDER BY id`, tx.Org(), contact)
	if err != nil {
		return nil, fmt.Errorf("find events: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("find events: %w", err)
	}
	return all, nil
}

// fewDays splits ids in order into parts that lie within a few days: a statement locks the partition of each day.
func fewDays(all []id.ID, days int) (parts [][]id.ID) {
	for len(all) > 0 {
		end := all[0].Time().AddDate(0, 0, days)
		n := 1
		for n < len(all) && all[n].Time().Before(end) {
			n++
		}
		parts, all = append(parts, all[:n]), all[n:]
	}
	return parts
}

// readEvents returns the stored events about a contact, oldest first.
func readEvents(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]ExportedEvent, error) {
	ids, err := eventsOf(ctx, tx, contact)
	if err != nil {
		return nil, err
	}

	all := []ExportedEvent{}
	for _, part := range fewDays(ids, 14) {
		tx.Queue(postgres.PlanByDay)
		rows, err := tx.Query(ctx, `SELECT e.id, e.type, e.created_at, e.data FROM unnest($2::uuid[]) AS k (id)
			CROSS JOIN LATERAL (SELECT * FROM event WHERE org_id = $1 AND id = k.id AND id BETWEEN $3 AND $4 LIMIT 1) e
			ORDER BY e.seq`, tx.Org(), part, part[0], part[len(part)-1])
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		some, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ExportedEvent])
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		all = append(all, some...)
	}

	return all, nil
}

// eraseEvents deletes the events about a contact, their deliveries and the attempts of these.
func eraseEvents(ctx context.Context, tx *postgres.Tx, contact id.ID) error {
	ids, err := eventsOf(ctx, tx, contact)
	if err != nil || len(ids) == 0 {
		return err
	}

	sent, err := firstDeliveries(ctx, tx, ids)
	if err != nil {
		return err
	}

	again, err := laterDeliveries(ctx, tx, ids)
	if err != nil {
		return err
	}

	sent = append(sent, again...)
	tx.Queue(postgres.PlanByDay)
	if len(sent) > 0 {
		tx.Queue(`DELETE FROM webhook_attempt WHERE org_id = $1 AND delivery_id = ANY ($2::uuid[]) AND id >= $3`,
			tx.Org(), sent, id.Floor(ids[0].Time().Add(-apart)))
		tx.Queue(`DELETE FROM webhook_delivery WHERE org_id = $1 AND id = ANY ($2::uuid[])`, tx.Org(), sent)
	}
	tx.Queue(`DELETE FROM event WHERE org_id = $1 AND id = ANY ($2::uuid[])`, tx.Org(), ids)
	return nil
}

// apart is how far the time in a delivery's id may be from that in its event's, since they are of different clocks. A
// clock that is wrong by hours must not keep what a person wants to have erased.
const apart = 24 * time.Hour

// firstDeliveries returns the deliveries that were made together with events. No index has a delivery's event, so it
// reads the deliveries of about the same time.
func firstDeliveries(ctx context.Context, tx *postgres.Tx, events []id.ID) (all []id.ID, err error) {
	for len(events) > 0 {
		n := 0
		until := events[0].Time().Add(apart)
		for n < len(events) && n < 1000 && !events[n].Time().After(until) {
			until = events[n].Time().Add(apart)
			n++
		}
		from := events[0].Time().Add(-apart)
		tx.Queue(postgres.PlanByDay)
		rows, err := tx.Query(ctx, `SELECT id FROM webhook_delivery WHERE org_id = $1 AND id >= $2 AND id < $3
			AND event_id = ANY ($4::uuid[])`, tx.Org(), id.Floor(from), id.Floor(until), events[:n])
		if err != nil {
			return nil, fmt.Errorf("find deliveries: %w", err)
		}
		some, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		if err != nil {
			return nil, fmt.Errorf("find deliveries: %w", err)
		}
		all, events = append(all, some...), events[n:]
	}

	return all, nil
}

// laterDeliveries returns the deliveries that repeat events, which may have been made at any time since.
func laterDeliveries(ctx context.Context, tx *postgres.Tx, events []id.ID) (all []id.ID, err error) {
	now := time.Now().Add(apart)
	for from := events[0].Time().Add(-apart); from.Before(now); from = from.AddDate(0, 0, 4) {
		tx.Queue(postgres.PlanByDay)
		rows, err := tx.Query(ctx, `SELECT d.id FROM webhook_endpoint w CROSS JOIN unnest($4::uuid[]) AS e (id)
			CROSS JOIN LATERAL (SELECT id FROM webhook_delivery WHERE org_id = $1 AND endpoint_id = w.id
				AND event_id = e.id AND trigger IN ('redelivery', 'replay') AND id >= $2 AND id < $3 OFFSET 0) AS d
			WHERE w.org_id = $1`, tx.Org(), id.Floor(from), id.Floor(from.AddDate(0, 0, 4)), events)
		if err != nil {
			return nil, fmt.Errorf("find repeated deliveries: %w", err)
		}
		some, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		if err != nil {
			return nil, fmt.Errorf("find repeated deliveries: %w", err)
		}
		all = append(all, some...)
	}

	return all, nil
}
