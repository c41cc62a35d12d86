// Package sync keeps the stored state equal to Stripe's, by events and by comparison. It also publishes the catalogue's
// prices at Stripe and sets the quantity of client orgs.
//
// # Events
//
// An event is only a notification that something changed; its data is not used. Intake stores the event, and Work reads
// the subscription from Stripe and applies it. Package billing detects concurrent readings by the customer's version.
// As a result, the order, duplication and loss of events do not matter, and ReconcileAll, which reads without an event,
// leads to the same state.
//
// # Layout
//
//	sales.go      continues sales and fetches the missed events of selling accounts
//	fetch.go      missed events
//	reconcile.go  the comparison of all customers, and of those whose period has ended
//	work.go       processes an event
//	intake.go     verifies an incoming event
//	store.go      stores an event and finds its org
//	owners.go     the cache of customers' orgs
//	position.go   where an interrupted sync resumes
//	overage.go    the quantity of client orgs
//	publish.go    creates Stripe's prices from the catalogue
package sync
