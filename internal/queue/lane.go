package queue

// Lane is an asynq queue. Jobs of one lane share workers; lanes are weighted against each other.
type Lane string

// The lanes, in order of decreasing weight.
const (
	Critical Lane = "critical" // money and tokens
	Default  Lane = "default"
	Webhooks Lane = "webhooks"
	Bulk     Lane = "bulk"
)

// Lanes returns all lanes.
func Lanes() []Lane { return []Lane{Critical, Default, Webhooks, Bulk} }

// LaneNames returns the names of all lanes.
func LaneNames() []string {
	var names []string
	for _, lane := range Lanes() {
		names = append(names, string(lane))
	}
	return names
}
