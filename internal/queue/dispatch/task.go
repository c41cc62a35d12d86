package dispatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Task is the payload of a delivery: check this job of this org.
type Task struct {
	ID  id.ID `json:"id"`
	Org id.ID `json:"org"`
}

// The payload as written by payload: two ids at fixed positions.
const (
	payloadID  = `{"id":"`
	payloadOrg = `","org":"`
	payloadEnd = `"}`
	idLength   = 36
)

// payload returns t as JSON.
func (t Task) payload() []byte {
	out := make([]byte, 0, len(payloadID)+idLength+len(payloadOrg)+idLength+len(payloadEnd))
	out = append(append(out, payloadID...), t.ID.String()...)
	out = append(append(out, payloadOrg...), t.Org.String()...)
	return append(out, payloadEnd...)
}

// ReadTask decodes the payload of a delivery. It has a fast path for what payload writes, because each run starts here
// in a new goroutine and encoding/json would grow its stack.
func ReadTask(payload []byte) (t Task, err error) {
	rest, ours := bytes.CutPrefix(payload, []byte(payloadID))
	if ours && len(rest) == idLength+len(payloadOrg)+idLength+len(payloadEnd) {
		job, between := rest[:idLength], rest[idLength:idLength+len(payloadOrg)]
		org, end := rest[idLength+len(payloadOrg):][:idLength], rest[len(rest)-len(payloadEnd):]
		if string(between) == payloadOrg && string(end) == payloadEnd && t.ID.UnmarshalText(job) == nil &&
			t.Org.UnmarshalText(org) == nil && !t.ID.IsZero() {
			return t, nil
		}
	}
	t = Task{}
	if err := json.Unmarshal(payload, &t); err != nil {
		return t, fmt.Errorf("decode task: %w", err)
	}
	if t.ID.IsZero() {
		return t, errors.New("decode task: no id")
	}
	return t, nil
}
