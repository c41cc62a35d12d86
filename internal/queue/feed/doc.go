// Package feed assigns slots to the jobs that wait for one (T2). The doc of package queue defines slots.
//
// The feeder gives each slot to the org that holds the fewest slots for its weight, within that org to the key that
// holds the fewest, and within that key to the job that was due first. Ties go to the one that has waited longest. The
// feeder needs no state from earlier rounds because the held slots carry it. An org with long jobs gets as many slots
// as the others, not as many jobs. Orgs share the feeder's capacity in proportion to their weights.
//
// The feeder finds waiting jobs by stepping from group to group (org, key, kind) in one index. An open circuit, an org
// at its limit or a paused kind costs one probe, however many rows wait in it. A round steps over at most a thousand
// groups, and the next one continues behind them. While more groups wait, a round takes as many orgs as it has slots,
// in the order of the index, so that each org gets its turn even if all jobs of others are older. Jobs that are not due
// yet are in another index; one small write moves each of them when it becomes due. An advisory lock allows one feeder
// per lane at a time, so that the counts of a round still hold when the round assigns slots. The single probe of an
// open circuit and the rate limits depend on this.
//
// # Layout
//
// feed.go has a round from its start to its end. round.go reads the waiting groups and gives them slots. allocate.go
// decides which group gets the next slot, and pace.go limits the rate of a concurrency key. waiting.go finds the lanes
// with waiting jobs.
package feed
