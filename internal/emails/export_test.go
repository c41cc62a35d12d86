package emails

import "time"

// CountsAsHard is countsAsHard for tests.
func CountsAsHard(bounced, delivered []time.Time) bool { return countsAsHard(bounced, delivered) }

// ServerID is serverID for tests.
func ServerID(text string) string { return serverID(text) }
