package webhooks

import (
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Success is a successful attempt at an endpoint with a closed circuit, the most common case. Its effects are uniform,
// so the Successes of one org are written as a batch: it is an item of Service.Write.
type Success struct {
	parcel  *DeliveryRequest
	outcome *Outcome
}

// AsSuccess returns the Success of an attempt, or false if the attempt needs Record.
func AsSuccess(p *DeliveryRequest, o *Outcome) (Success, bool) {
	return Success{p, o}, o.Status == Delivered && !o.Probe && !p.Held && p.Lost == 0
}

const (
	successesSQL = `
INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, status, answer, answer_cut,
	dns_us, connect_us, tls_us, first_byte_us, total_us, remote_addr, started_at)
SELECT $1, m.id, m.delivery, m.number, m.trigger, m.headers::json, m.status, m.answer, m.cut, m.dns, m.connect,
m.tls, m.first_byte, m.total, m.addr, m.started
FROM unnest($2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::int[], $8::bytea[], $9::bool[],
	$10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::timestamptz[])
	AS m (id, delivery, number, trigger, headers, status, answer, cut, dns, connect, tls, first_byte, total, addr,
	started)`
	deliveredSQL = `
UPDATE webhook_delivery d
SET status = 'delivered', attempts = m.tries, last_status = m.status, last_error = '', next_attempt_at = NULL,
updated_at = $5
FROM unnest($2::uuid[], $3::int[], $4::int[]) AS m (id, tries, status)
WHERE d.org_id = $1 AND d.id = m.id`
)

// Write writes Successes of tx's org: the attempts, the deliveries' status, and the reset of their endpoints' failures.
func (s *Service) Write(tx *postgres.Tx, items []any) error {
	var (
		ids, deliveries, endpoints           []id.ID
		tries, codes                         []int
		triggers, headers, addrs             []string
		answers                              [][]byte
		cut                                  []bool
		dns, connect, tls, firstByte, totals []int64
		started                              []wire.Time
		known                                = map[id.ID]bool{}
	)
	for _, item := range items {
		one, ok := item.(Success)
		if !ok {
			return fmt.Errorf("write successes: unexpected type %T", item)
		}
		p, o := one.parcel, one.outcome
		sent, err := o.sent()
		if err != nil {
			return err
		}
		answer, t := o.Answer.Body, o.Answer.Timings
		if answer == nil {
			answer = []byte{}
		}
		ids, deliveries = append(ids, id.New()), append(deliveries, p.Delivery)
		tries, codes = append(tries, p.Tries+1), append(codes, o.Answer.Status)
		triggers, headers, addrs = append(triggers, p.Trigger), append(headers, string(sent)),
			append(addrs, o.Answer.RemoteAddr)
		answers, cut = append(answers, answer), append(cut, o.Answer.Cut)
		dns, connect, tls = append(dns, t.DNS.Microseconds()), append(connect, t.Connect.Microseconds()),
			append(tls, t.TLS.Microseconds())
		firstByte, totals = append(firstByte, t.FirstByte.Microseconds()), append(totals, t.Total.Microseconds())
		started = append(started, wire.At(o.Started))
		if !known[p.Endpoint] {
			known[p.Endpoint], endpoints = true, append(endpoints, p.Endpoint)
		}
	}
	tx.Queue(planOnce)
	tx.Queue(successesSQL, tx.Org(), ids, deliveries, tries, triggers, headers, codes, answers, cut, dns, connect,
		tls, firstByte, totals, addrs, started)
	tx.Queue(deliveredSQL, tx.Org(), deliveries, tries, codes, wire.Now())
	tx.Queue(relieveSQL, tx.Org(), endpoints)
	return nil
}
