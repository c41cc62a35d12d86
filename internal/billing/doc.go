// Package billing changes plans through Stripe and keeps a mirror of Stripe's state.
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
// uses the preview's proration date. Rights follow the subscription's items. Stripe swaps the items of an upgrade when
// its invoice is paid (pending_if_incomplete), so nothing is granted before the payment. A declined change is taken
// back at once: its invoice is voided, so nothing of it can be charged later.
//
// An org has at most one live subscription, one waiting change and one scheduled change. Unique indexes enforce this.
//
// # Events
//
// An event is only a notification that something changed; its data is not used. Intake stores the event, and Work reads
// the subscription from Stripe and applies it. No transaction may be open during the read, so concurrent readers of one
// subscription may write in the wrong order. Each reader therefore reads the customer's version before the read, and
// writes only if the version is unchanged. As a result, the order, duplication and loss of events do not matter, and
// Sync, which reads without an event, leads to the same state.
//
// # Connected accounts
//
// A reseller bills its clients through its own Stripe account. The account has type standard: the reseller is the
// merchant, has its own dashboard and agreement with Stripe, provides the information that Stripe requires, and is
// liable for refunds, disputes and a negative balance. We may charge a fee and have no liability. With an express or
// custom account, those losses would be ours. We set no country, capabilities or address at creation: the owner enters
// them at Stripe, and they could neither be changed later nor differ between two attempts with one key.
//
// The account is created like a change: intent and key, request to Stripe, response. An org has at most one account at
// a time. The account's state is a pure function of Stripe's data (Facts.State). It is read again for every event, on
// the browser's return, and by the sync every 15 minutes. Look-ups of the state read the row.
//
// A sale is a client's subscription on that account, invoiced by Stripe, with the platform's percentage. The check that
// the account may sell holds its row lock, in the transaction that records the sale. The percentage is the plan's
// (connect_fee_pct); the sync applies a changed percentage to the active subscriptions. The percentage is also in their
// metadata, which Stripe copies to each invoice, so every invoice records its own. After a disconnect the target is 0,
// but Stripe refuses the change: we cannot change a subscription of an account that has revoked our access, so it
// charges the fee until its owner ends it. To let a reseller go, lower the percentage first.
//
// connect_fee records the distribution of each invoice as Stripe computed it, in the payment's balance transaction.
// Each event of a payment, of its refunds and of the fee updates the row. The sync fetches missed events of each
// selling account every 15 minutes.
//
// # Layout
//
//	change.go           the flow of a change, and TX1 (recordIntent)
//	execute.go          the requests to Stripe
//	interpret.go        the outcome of those requests
//	apply.go            TX2
//	mirror.go           the subscription as read
//	preview.go          the price of a change
//	intake.go, work.go  incoming events
//	sync.go             the sync of all customers
//	overage.go          the quantity of client orgs
//	publish.go          creates Stripe's prices from the catalogue
//	stripe.go           the client of Stripe and the classification of its errors
//	connect.go          the state of a connected account
//	connect_account.go  its creation
//	connect_sync.go     its sync
//	connect_sell.go     the sales through it
//	connect_rate.go     the percentage
//	connect_fee.go      the distribution of each invoice
package billing
