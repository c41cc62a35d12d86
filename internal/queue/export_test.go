package queue

import "github.com/funnelwork/funnelwork/internal/id"

// OverlappingChecks lets n positive slot checks overlap, uses the credit after each, and returns how many jobs skipped
// a check.
func OverlappingChecks(n int) (skipped int) {
	c, of := slotCache{all: map[slotKey]*credit{}}, slotKey{org: id.New(), lane: Default}
	c.recordCheck(of, c.beginCheck(of, "test.many"), true) // the first one gives no credit
	checks := make([]slotCheck, n)
	for i := range checks {
		checks[i] = c.beginCheck(of, "test.many")
	}
	for _, check := range checks {
		for c.recordCheck(of, check, true); c.useCredit(of, "test.many"); {
			skipped++
		}
	}
	return skipped
}

// CreditJobs is creditJobs, for tests.
const CreditJobs = creditJobs
