// Package webhookdeliver sends one event to one endpoint: it signs, POSTs, records the attempt and schedules the next
// one.
//
// # Why a call-out kind
//
// The POST cannot be undone, so it is made outside any transaction. The attempt, the delivery's status and the
// completion or next run of the job are written in one transaction after it. If a worker dies in between, nothing is
// recorded: the job runs again, and the receiver gets the same webhook-id. Delivery is at least once.
//
// Runs that begin together read their deliveries in one round trip (loads.go). Runs that succeeded share the
// transaction that ends them (webhooks.Success).
//
// # The states of an endpoint
//
//	healthy --a failure--> failing --5 in a row within a minute, or Retry-After--> open
//	   ^                      |                                                     |  30 s
//	   |<------a success------+                                                     v
//	   |<----------------a response to the probe------------------------------- probing
//	   |                                                                            |
//	   |                                                  no response, 429 or 5xx: open again
//	   |
//	   +--manually-- disabled <--410, or 5 days of nothing but failures of at least 20 events-- any
//
// Failing: each failure spends one of the delivery's ten attempts, at the plan's times. Only failures of the endpoint
// itself (no response, 429 and 5xx) count for the circuit; all failures count for the five-day rule.
//
// Open: waiting deliveries keep their place and spend no attempt. Every 30 s, and less often after a long outage, one
// delivery is sent as a probe. A failed probe is logged as a probe and does not count as an attempt. Tests and manual
// redeliveries are sent anyway. A delivery that was held for longer than its whole plan ends with its next probe, so
// that every delivery ends.
//
// Disabled: waiting deliveries are discarded when they run. Enabling the endpoint, or changing its URL, resets its
// state.
//
// The state is a row of webhook_health, evaluated with the database's clock. internal/webhooks/health.go has the rules,
// jobs/webhookhealth the five-day rule, jobs/webhooktell the mails.
package webhookdeliver
