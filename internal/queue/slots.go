package queue

// Limits of slots; doc.go describes them. job_wake in the migrations must match.
const (
	// MaxInFlight is how many jobs without a concurrency key, of one org and lane, may be in Redis or running, times
	// the org's weight.
	MaxInFlight = 50
	Lines       = 100 // the same for all keys of an org and lane together
	Slots       = 10  // the same for one concurrency key
)
