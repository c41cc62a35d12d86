package queue

// Lane is an asynq queue. Jobs of one lane share workers; lanes are weighted against each other.
type Lane string

// The lanes, in order of decreasing weight.
const (
	Critical Lane = "critical" // money and tokens
	Default  Lane = "default"
	Webhooks Lane = "webhooks"
	Remote   Lane = "remote" // calls of servers that customers name, which may take minutes
	Bulk     Lane = "bulk"
)

// Lanes returns all lanes.
func Lanes() []Lane { return []Lane{Critical, Default, Webhooks, Remote, Bulk} }

// LaneNames returns the names of all lanes.
func LaneNames() []string {
	var names []string
	for _, lane := range Lanes() {
		names = append(names, string(lane))
	}
	return names
}

// Limits of slots; doc.go describes them. job_wake in the migrations must match.
const (
	// MaxInFlight is how many jobs without a concurrency key, of one org and lane, may be in Redis or running, times
	// the org's weight.
	MaxInFlight = 50
	Lines       = 100 // the same for all keys of an org and lane together
	RemoteLines = 25  // Lines in the lane Remote
	Slots       = 10  // the same for one concurrency key
)

// LinesOf returns Lines in a lane.
func LinesOf(lane Lane) int {
	if lane == Remote {
		return RemoteLines
	}
	return Lines
}
