// Package plans computes what an org may use, and counts what it uses.
//
// catalogue.yaml lists the plans. Effective is a pure function of the catalogue, an org's subscription, its add-ons and
// overrides, its agency's rights, and the time. The rest of the package applies its result:
//
//	Set, Begin  write the subscription; Set is the only way to change it, and settles the org
//	Override, Extend, Revoke, Reduce  write an operator's decisions about one org, and settle it
//	Settle      writes the results that must be exact under concurrency, or that every request reads:
//	            the limits on row counts (table quota), and the org's rate and last day of writing
//	Service.Of  returns an org's rights, from a cache as long as the org's entitlement_version is unchanged
//
// Everything that changes the rights increments the subscription's entitlement_version in the same transaction. The
// clock changes the rights at a time known in advance (Rights.Until), for which Settle enqueues a job. The job calls
// Elapse, which reports once that a plan has lapsed.
//
// # Counting
//
// Triggers enforce a limit on row counts at commit (migrations/0014_plans.sql), regardless of the code that wrote the
// rows. A migration declares `CALL counts('table', 'feature', 'gone_at')`; from then on the feature's limit is enforced
// and its use is counted. A transaction that exceeds a limit fails with the error that Refused recognises. An org
// without the limit has no counter and pays only for the look-up. To check the remaining room in advance, call Room.
package plans
