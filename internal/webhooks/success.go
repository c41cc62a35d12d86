package webhooks

import (
	"fmt"
	"math"
	"time"

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

// deliveredSQL keeps the attempts in the rows of their deliveries, and resets their endpoints' failures. The list of
// ids is one of the conditions on the deliveries, so that the plan names the days of these ids alone and looks each of
// them up: a range of ids would be read whole where the statistics of a day are missing.
const deliveredSQL = `
WITH relieved AS (` + relieveSQL + `)
UPDATE webhook_delivery d
SET status = 'delivered', attempts = m.number, last_status = m.status, last_error = '', next_attempt_at = NULL,
	updated_at = $3, attempt_id = m.id, request_headers = m.headers::json, answer = m.answer, answer_cut = m.cut,
	dns_us = m.dns, connect_us = m.connect, tls_us = m.tls, first_byte_us = m.first_byte, total_us = m.total,
	remote_addr = m.addr, started_at = m.started
FROM unnest($4::uuid[], $5::uuid[], $6::int[], $7::text[], $8::int[], $9::bytea[], $10::bool[], $11::int[],
	$12::int[], $13::int[], $14::int[], $15::int[], $16::text[], $17::timestamptz[])
	AS m (id, delivery, number, headers, status, answer, cut, dns, connect, tls, first_byte, total, addr, started)
WHERE d.org_id = $1 AND d.id = m.delivery AND d.id = ANY ($5::uuid[])`

// Write writes Successes of tx's org: the attempts, the deliveries' status, and the reset of their endpoints' failures.
func (s *Service) Write(tx *postgres.Tx, items []any) error {
	var (
		ids, deliveries, endpoints           []id.ID
		tries, codes                         []int
		headers, addrs                       []string
		answers                              [][]byte
		cut                                  []bool
		dns, connect, tls, firstByte, totals []int32
		started                              []wire.Time
		known                                = map[id.ID]bool{}
	)
	for _, item := range items {
		one, ok := item.(Success)
		if !ok {
			return fmt.Errorf("write successes: unexpected type %T", item)
		}
		p, o := one.parcel, one.outcome
		sent, err := o.headerJSON()
		if err != nil {
			return err
		}
		answer, t := o.Answer.Body, o.Answer.Timings
		if answer == nil {
			answer = []byte{}
		}
		ids, deliveries = append(ids, id.New()), append(deliveries, p.Delivery)
		tries, codes = append(tries, p.Tries+1), append(codes, o.Answer.Status)
		headers, addrs = append(headers, string(sent)), append(addrs, o.Answer.RemoteAddr)
		answers, cut = append(answers, answer), append(cut, o.Answer.Cut)
		dns, connect, tls = append(dns, microseconds(t.DNS)), append(connect, microseconds(t.Connect)),
			append(tls, microseconds(t.TLS))
		firstByte, totals = append(firstByte, microseconds(t.FirstByte)), append(totals, microseconds(t.Total))
		started = append(started, wire.At(o.Started))
		if !known[p.Endpoint] {
			known[p.Endpoint], endpoints = true, append(endpoints, p.Endpoint)
		}
	}
	tx.Queue(byKey)
	tx.Queue(deliveredSQL, tx.Org(), endpoints, wire.Now(), ids, deliveries, tries, headers, codes, answers, cut, dns,
		connect, tls, firstByte, totals, addrs, started)
	return nil
}

// microseconds returns d for an int column, at most 35 minutes.
func microseconds(d time.Duration) int32 { return int32(min(d.Microseconds(), math.MaxInt32)) }
