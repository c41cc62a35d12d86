// Package bulk changes all contacts that a filter selects. It stores the requested change and executes it in steps.
//
// # Each contact once
//
// The set of contacts is fixed when the change starts: one statement stores the ids of all matching contacts, a few
// hundred per row. An action may therefore change fields that its own filter reads. Each step is one transaction that
// removes one row of ids, changes those contacts and counts them. If a worker is killed, the whole step is rolled back.
//
// A contact that starts to match the filter later is not changed. A contact that stops matching is changed: each
// contact is processed in its state at that time. Contacts that were archived or purged in the meantime count as
// unchanged.
//
// # Dry runs
//
// A dry run processes the same set in the same steps and counts what would change. It writes nothing else.
//
// # One at a time
//
// The bulk changes of an org run one after another, in the order of the requests, one step at a time. Nothing waits for
// a dry run. A step locks the
// row of its change, so that concurrent runs of one job are serialized.
package bulk
