// Package webhookdeliver sends one event to one endpoint: sign, POST, record the attempt, choose the next one.
//
// # Why a call-out kind
//
// The POST cannot be undone, so it is made outside any transaction, and the attempt, the delivery's status and
// the end or the next time of the job are one transaction after it. A worker that dies in between leaves no
// trace: the job runs again and the receiver sees the same webhook-id. Delivery is at least once.
//
// Runs that begin together read their deliveries in one round trip (loads.go), and those that succeeded share the
// transaction that ends them (webhooks.Success).
//
// # The states of an endpoint
//
//	healthy --a failure--> failing --5 in a row within a minute, or Retry-After--> open
//	   ^                      |                                                     |  30 s
//	   |<------a success------+                                                     v
//	   |<----------------an answer to the probe-------------------------------- probing
//	   |                                                                            |
//	   |                                                    no answer, 429 or 5xx: open again
//	   |
//	   +--by hand-- disabled <--410, or 5 days of nothing but failures of at least 20 events-- any
//
// Failing: each failure spends one of the delivery's ten tries, at the plan's times. Only failures that speak of
// the endpoint, no answer, 429 and 5xx, count for the circuit; for the rule of five days all do.
//
// Open: what waits keeps its place and spends nothing. Each 30 s, and more rarely when the endpoint has been away
// for long, one delivery is sent as a probe. One that fails is in the log as such and is no try. Tests and
// redeliveries are sent all the same. A delivery that was kept back for longer than its whole plan is ended by its
// next probe, so that each comes to an end.
//
// Disabled: what waits is discarded when its turn comes. Whoever enables the endpoint, or gives it another URL,
// begins anew.
//
// The state is a row of webhook_health, judged by the database's clock; internal/webhooks/health.go has the rules,
// jobs/webhookhealth the one of five days, jobs/webhooktell the mails.
package webhookdeliver
