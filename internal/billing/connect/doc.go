// Package connect manages the connected accounts of resellers and the sales to their clients.
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
//	accounts.go  the sync of all accounts
//	events.go    processes an event of an account
//	payment.go   reads the distribution of a payment
//	fee.go       the rows of distributions
//	rate.go      the platform's percentage
//	sellers.go   the orgs that sell
//	sell.go      creates and continues a sale
//	sale.go      the rows of sales
//	onboard.go   creates an account
//	refresh.go   reads an account and applies the differences
//	account.go   the rows of accounts
//	facts.go     the state of an account, from Stripe's data
package connect
