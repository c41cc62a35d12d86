// Package billing keeps a mirror of Stripe's state: each org's customer, subscriptions and changes of plan.
//
// It is the ground of three packages. Each has a Service on top of a Service of this package, and their callers compose
// them:
//
//	change   previews and changes plans, and recovers a change that its process left in flight
//	connect  the connected accounts of resellers, their sales and the platform's fees
//	sync     takes Stripe's events, repairs differences, and publishes the prices
//
// Package sync imports connect, because an event or a sync may concern a connected account. Package change imports
// neither, and this package imports none of the three. Most tests are in this directory, because they drive the four
// packages together, on one database and one Stripe sandbox.
//
// # Readings
//
// A reading of Stripe becomes rows only in WriteState: the mirror, the rights, the outcome of open changes and the
// event plan.changed, in one transaction. No transaction may be open during a read, so concurrent readers of one
// subscription may write in the wrong order. Each reader therefore reads the customer's version before the read, and
// writes only if the version is unchanged. Otherwise it gets ErrMoved and reads again.
//
// Rights follow the subscription's items. An org has at most one live subscription, one waiting change and one
// scheduled change. Unique indexes enforce this.
//
// # Layout
//
//	refresh.go        reads Stripe's state of an org and applies it
//	apply.go          the one place where a reading becomes rows (WriteState)
//	rights.go         the rights that follow from the subscription
//	read.go           an org's billing as stored
//	customer.go       creates the customer
//	account_state.go  the rows of an org at one version
//	mirror.go         the rows of subscriptions
//	record.go         the rows of changes and their timeline
//	event.go          the rows of Stripe's events
//	subscription.go   the subscription as read
//	tariff.go         the known prices
//	pace.go           the request rate of a sync, and its report
//	billing.go        the options, the metrics and the service
//	stripe.go         the client of Stripe
//	errors.go         the classes of Stripe's errors, and how long an idempotency key may be used
package billing
