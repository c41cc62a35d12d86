package social

// The SQL statements of a sweep, for tests of their plans.
const (
	ClaimSQL = claimSQL
	PairsSQL = pairsSQL
)

// AtStep calls fn at the steps of an attempt: before call, after answer, after spool, after commit.
func (r *Refresher) AtStep(fn func(step string)) { r.step = fn }
