// Package plans knows what an org may use, and how much of it it does.
//
// catalogue.yaml lists the plans. Effective is a pure function of the catalogue, an org's subscription, its add-ons,
// overrides and its agency's rights, and of the moment; everything else here carries its answer to where it is needed:
//
//	Set, Begin  write the subscription, which is the only door to it, and settle
//	Override, Extend and their opposites write an operator's decisions about one org, and settle
//	Settle      writes what has to be exact under races, or is asked at every request, to where it is looked up:
//	            the limits that rows count against (table quota), and the org's rate and last day of writing
//	Service.Of  answers an org's rights, from memory while the org's entitlement_version stands
//
// Whatever changes the answer moves the subscription's entitlement_version in the same transaction; the clock changes
// it at a moment that is known in advance (Rights.Until), for which Settle leaves a job. That job asks Elapse, which
// says once that a plan has ceased to count.
//
// # Counting
//
// A limit on rows is held by triggers at the commit (migrations/0014_plans.sql), whichever code wrote the rows: a
// migration says `CALL counts('table', 'feature', 'gone_at')`, and from then on the feature's limit holds and its use
// is known. A transaction that finds no room fails with what Refused recognises. An org without the limit has no counter
// and pays for looking only. Whoever wants to know in advance asks Room.
package plans
