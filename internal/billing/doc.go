// Package billing changes plans through Stripe, and keeps what we know of Stripe true.
//
// # How a change flows
//
//	Change  -> TX1: the change, its Idempotency-Key and its parameters are written, and a job that will look after it
//	        -> Stripe: one swap of the subscription's item (or a subscription, a schedule, a cancellation)
//	        -> TX2: what Stripe now holds is mirrored, the rights follow, plan.changed is announced, the change is closed
//
// No transaction is open while Stripe is asked. A process that dies between the two leaves a change in flight; the job
// written in TX1 asks Stripe the same thing under the same key, which Stripe answers without acting twice, and closes
// it. A key older than 23 hours is never used again, because Stripe forgets keys after 24: from then on the change is
// only compared with what Stripe holds.
//
// # What may be relied on
//
// Stripe owns every amount: a preview is Stripe's own, it is compared once more before the change, and the change
// carries the preview's proration date. Rights follow the subscription's items, and Stripe swaps those of an upgrade
// when its invoice is paid (pending_if_incomplete), so that nothing is granted before the money. A change that is
// declined is taken back at once: its invoice is voided, and nothing of it can be charged later.
//
// An org has one live subscription, one change that waits and one that is scheduled; unique indexes hold that.
//
// # Events
//
// An event says that something happened, never what is: Intake stores it, Work reads the subscription anew and applies
// it. Two readers of one subscription may be overtaken by each other between the read and the write, and no transaction
// may be open during the read; so each takes the customer's version before it reads, and writes only if it still stands.
// Order, doubles and losses of events therefore do not matter, and Sync, which asks without having been told, leads to
// the same state.
//
// # Connected accounts
//
// A reseller bills its clients through an account of its own at Stripe. It is of type standard: the reseller is the
// merchant, has a dashboard and an agreement of its own with Stripe, gives Stripe what Stripe asks for, and bears
// refunds, disputes and a negative balance; we may charge a fee and bear nothing. An express or custom account would make
// those losses ours. No country, capabilities or address are given with it: its owner says at Stripe where it is, and what
// is given once can never be changed, nor differ between two tries under one key.
//
// The account is made like a change: intent and key, Stripe, answer; at most one per org at a time. Its state is a pure
// function of what Stripe says of it (Facts.State), read anew for every event, on the browser's return, and by the sync
// every 15 minutes. Whoever asks what state it is in is answered from the row.
//
// A sale is a subscription of a client on that account, invoiced by Stripe, with the platform's percentage on it. Whether
// the account may sell is looked at under its row's lock, in the transaction that writes the sale down. The percentage is
// the plan's (connect_fee_pct); the sync carries another one to the running subscriptions. It stands in their metadata as
// well, which Stripe keeps with each invoice as they were, so that every invoice tells its own. After a disconnect it is to
// be 0, and Stripe refuses: a subscription of an account that has taken our access away is not ours to change, and goes on
// charging the fee until its owner ends it. Whoever means to let a reseller go lowers the percentage first.
//
// connect_fee is who got what of each invoice, by Stripe's own reckoning: the payment's balance transaction. Each event of
// a payment, of its refunds and of the fee has the row written anew; the events that never came are fetched, of each
// selling account, every 15 minutes.
//
// # Layout
//
// change.go is the story, begin.go TX1, drive.go what Stripe is asked, apply.go TX2. mirror.go is the subscription as
// read, preview.go the price of a change. intake.go and work.go are the events' way in; sync.go walks everything,
// overage.go keeps the quantity of client orgs, publish.go makes Stripe's prices from the catalogue. stripe.go is the one
// way out to Stripe and the meaning of its errors. connect.go is the state of a connected account, connect_account.go its
// making, connect_sync.go its keeping true, connect_sell.go what is sold through it, connect_rate.go the percentage, and
// connect_fee.go the ledger.
package billing
