// Package stripe stands in for Stripe where no key is set, and in tests: the HTTP API of version 2023-10-16 as
// stripe-go v76 speaks it, with a memory. It is a sandbox and says so.
//
// It takes the requests that our billing makes, and refuses any parameter that it gives no meaning to, so that
// nothing is silently ignored. It keeps customers with test cards, products, prices, subscriptions and their
// schedules, invoices, payments, connected accounts, events and webhook endpoints; a clock renews, retries and
// expires them; every movement of money is in a ledger.
//
// # How it is put together
//
//   - serve.go: who asks, which version, idempotency keys, faults; routes.go is the list of calls.
//   - tx.go: one piece of work on the state, alone in the world. It reads and writes objects of the Store, which is
//     Memory or Postgres, and undoes everything when it is refused.
//   - render.go: what an object looks like outside. shapes.json has every key of each kind of object, with the
//     value that it has where the sandbox gives it no meaning; a test holds it against stripe-mock.
//   - money.go, change.go: the arithmetic of proration, once, for previews and charges alike. No floats.
//   - clock.go: what happens by itself, each thing at the moment that it is due at.
//   - delivery.go: signed webhooks, with knobs to lose, double, delay and shuffle them.
//   - operate.go, page.go: what customers, banks and operators do outside of the API.
//
// # Where it is stricter than, or decides for, the original
//
// An update with pending_if_incomplete is refused while a schedule manages the subscription; a pending update that
// is dropped gives the invoice items that its invoice had taken along back to the next one; phases of a schedule
// keep a subscription item's id only where the price stays. A preview with always_invoice is the invoice that would
// be made at once. Rounding is half away from zero, for each line.
package stripe
