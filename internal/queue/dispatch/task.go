package dispatch

import (
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

// encodePayload returns t as JSON.
func (t Task) encodePayload() []byte {
	out, _ := json.Marshal(t) // two ids can always be encoded
	return out
}

// ReadTask decodes the payload of a delivery.
func ReadTask(payload []byte) (t Task, err error) {
	if err := json.Unmarshal(payload, &t); err != nil {
		return t, fmt.Errorf("decode task: %w", err)
	}
	if t.ID.IsZero() {
		return t, errors.New("decode task: no id")
	}
	return t, nil
}
