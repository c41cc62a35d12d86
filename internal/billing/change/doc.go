// Package change previews and changes plans through Stripe.
//
// # How a change flows
//
//	Change  -> TX1: write the change, its Idempotency-Key and its parameters; enqueue the job that recovers it
//	        -> Stripe: one swap of the subscription's item (or a subscription, a schedule, a cancellation)
//	        -> TX2: mirror Stripe's state, update the rights, announce plan.changed, close the change
//
// No transaction is open during a request to Stripe. If the process dies between the two transactions, the change stays
// in flight. The job enqueued in TX1 then repeats the request with the same key, which Stripe answers without executing
// it twice, and closes the change. A key older than 23 hours is never used again, because Stripe forgets keys after 24
// hours. From then on the change is only compared with Stripe's state.
//
// # Guarantees
//
// Stripe computes every amount. A preview is Stripe's own; it is compared once more before the change, and the change
// uses the preview's proration date. Stripe swaps the items of an upgrade when its invoice is paid
// (pending_if_incomplete), so nothing is granted before the payment. A declined change is taken back at once: its
// invoice is voided, so nothing of it can be charged later.
//
// # Layout
//
//	change.go     the flow of a change
//	cancel.go     the cancellation, and its reversal
//	recover.go    completes a change that its process left in flight
//	execute.go    makes the requests to Stripe and closes the change
//	intent.go     TX1 (recordIntent)
//	undo.go       takes back a change that has not taken effect
//	recall.go     the answer to a repeated request
//	compare.go    the outcome of a change that must not be requested again
//	conclude.go   TX2
//	preview.go    the price of a change
//	interpret.go  the outcome of Stripe's response
//	schedule.go   the swap at the end of the period
//	request.go    the requested plan, its timing and its items
//	outcome.go    the outcome, and the requests that follow from it
//	portal.go     Stripe's billing portal
//	answer.go     the caller's idempotency key, the answer and the faults
package change
