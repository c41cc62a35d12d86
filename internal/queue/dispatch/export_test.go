package dispatch

// Payload returns the payload of a task.
func Payload(t Task) []byte { return t.encodePayload() }
