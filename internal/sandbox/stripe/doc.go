// Package stripe is a sandbox for Stripe. It is used where no key is configured, and in tests. It implements the HTTP
// API of version 2023-10-16, as stripe-go v76 uses it, with persistent state. Its pages state that it is a sandbox.
//
// It accepts the requests that our billing makes, and refuses any parameter that it does not implement, so that nothing
// is silently ignored. It keeps customers with test cards, products, prices, subscriptions and their schedules,
// invoices, payments, connected accounts, events and webhook endpoints; a clock renews, retries and expires them; every
// movement of money is recorded in a ledger.
//
// # Structure
//
//   - serve.go: authentication, API version, idempotency keys, faults; routes.go lists the routes.
//   - tx.go: one unit of work with exclusive access to the state. It reads and writes objects of the Store, which is
//     Memory or Postgres, and undoes everything if it is refused.
//   - render.go: the JSON form of objects. shapes.json has every key of each kind of object, with its value where the
//     sandbox does not implement it; a test compares it with stripe-mock.
//   - money.go, change.go: the arithmetic of proration, shared by previews and charges. No floats.
//   - clock.go: everything that happens automatically, each at its due time.
//   - delivery.go: signed webhooks, with knobs to lose, duplicate, delay and reorder them.
//   - operate.go, page.go: the actions of customers, banks and operators outside of the API.
//
// # Where it is stricter than Stripe, or makes assumptions
//
// An update with pending_if_incomplete is refused while a schedule manages the subscription. When a pending update is
// dropped, the invoice items that its invoice had claimed become pending again. Phases of a schedule keep a
// subscription item's id only if the price stays. A preview with always_invoice is the invoice that would be made
// immediately. Rounding is half away from zero, for each line.
package stripe
