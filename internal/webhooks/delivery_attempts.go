package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// attemptsSQL reads the rows of webhook_attempt and the attempts that are kept in their deliveries' rows. The bounds on
// id prune partitions, $4 and $5 when the statement is planned, and those of each delivery when it is executed: an
// attempt is created between its delivery's creation and last update, plus clock skew. The order by delivery is that of
// the index of deliveries alone, see order.
const attemptsSQL = `
	SELECT delivery_id, id, number, trigger, started_at, status, error_class, error, dns_us, connect_us, tls_us,
	first_byte_us, total_us,
		request_headers, CASE WHEN $3 THEN answer ELSE '' END, answer_cut, location
	FROM unnest($2::uuid[], $6::uuid[], $7::uuid[]) AS one (key, first, last) CROSS JOIN LATERAL (
		SELECT * FROM webhook_attempt
		WHERE org_id = $1 AND delivery_id >= one.key AND delivery_id <= one.key AND id >= $4 AND id < $5
		AND id >= one.first AND id < one.last ORDER BY delivery_id, id) AS a
	UNION ALL
	SELECT id, attempt_id, attempts, trigger, started_at, last_status, '', '', dns_us, connect_us, tls_us,
	first_byte_us, total_us,
		request_headers, CASE WHEN $3 THEN answer ELSE '' END, answer_cut, ''
	FROM unnest($2::uuid[]) AS one (key) CROSS JOIN LATERAL (
		SELECT * FROM webhook_delivery
		WHERE org_id = $1 AND id = one.key AND id >= $4 AND id < $5 AND attempt_id IS NOT NULL LIMIT 1) AS d
	ORDER BY 2`

// attachAttempts reads the attempts of all deliveries, those of a few days in one query.
func attachAttempts(ctx context.Context, tx *postgres.Tx, all []Delivery, bodies bool) error {
	for len(all) > 0 {
		n := withinDays(all)
		if err := attachSome(ctx, tx, all[:n], bodies); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// withinDays returns how many of the first deliveries were created and last updated within a few days; at least one.
func withinDays(all []Delivery) int {
	from, to := all[0].CreatedAt.Time, all[0].UpdatedAt.Time
	for n := 1; n < len(all); n++ {
		if d := &all[n]; d.CreatedAt.Before(from) {
			from = d.CreatedAt.Time
		}
		if d := &all[n]; d.UpdatedAt.After(to) {
			to = d.UpdatedAt.Time
		}
		if to.Sub(from) > (daysOfSpan-2)*24*time.Hour {
			return n
		}
	}
	return len(all)
}

func attachSome(ctx context.Context, tx *postgres.Tx, all []Delivery, bodies bool) error {
	at, ids := map[id.ID]*Delivery{}, make([]id.ID, 0, len(all))
	firsts, ends := make([]id.ID, len(all)), make([]id.ID, len(all))
	from, to := all[0].CreatedAt.Time, all[0].UpdatedAt.Time
	for i := range all {
		at[all[i].ID] = &all[i]
		ids = append(ids, all[i].ID)
		firsts[i] = id.Floor(all[i].CreatedAt.Add(-skew))
		ends[i] = id.Floor(all[i].UpdatedAt.Add(skew))
		if all[i].CreatedAt.Before(from) {
			from = all[i].CreatedAt.Time
		}
		if all[i].UpdatedAt.After(to) {
			to = all[i].UpdatedAt.Time
		}
	}
	tx.Queue(postgres.PlanByDay)
	rows, err := tx.Query(ctx, attemptsSQL, tx.Org(), ids, bodies, id.Floor(from.Add(-skew)), id.Floor(to.Add(skew)),
		firsts, ends)
	if err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		delivery, a, err := scanAttempt(rows, bodies)
		if err != nil {
			return fmt.Errorf("read attempts: %w", err)
		}
		if d := at[delivery]; d != nil {
			d.Attempts = append(d.Attempts, a)
		}
	}
	rows.Close()
	return rows.Err()
}

func scanAttempt(r pgx.Row, bodies bool) (delivery id.ID, a DeliveryAttempt, err error) {
	var (
		class, text, location        string
		headers                      json.RawMessage
		answer                       []byte
		dns, connect, tls, byte1, us int64
	)
	err = r.Scan(&delivery, &a.ID, &a.Number, &a.Trigger, &a.StartedAt, &a.StatusCode, &class, &text, &dns, &connect,
		&tls, &byte1, &us,
		&headers, &answer, &a.ResponseCut, &location)
	if err != nil {
		return delivery, a, err
	}
	a.ErrorClass, a.Error, a.Location = orNil(class), orNil(text), orNil(location)
	a.Timings = AttemptTimings{DNS: ms(dns), Connect: ms(connect), TLS: ms(tls), FirstByte: ms(byte1), Total: ms(us)}
	if bodies && a.StatusCode != nil {
		body := strings.ToValidUTF8(string(answer), "�")
		a.ResponseBody = &body
	}
	return delivery, a, json.Unmarshal(headers, &a.RequestHeaders)
}

func ms(us int64) float64 { return float64(us) / 1000 }
