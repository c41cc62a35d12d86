package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// kept refuses members of a patch that nobody may change, unless they say what is so anyway: a caller may send
// back the whole object that it read.
func kept(current any, sent map[string]optional[string]) error {
	b, err := json.Marshal(current)
	if err != nil {
		return fmt.Errorf("encode current state: %w", err)
	}
	var now map[string]any
	if err := json.Unmarshal(b, &now); err != nil {
		return fmt.Errorf("decode current state: %w", err)
	}
	var wrong []fault.Field
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		v := sent[name]
		if !v.Set || v.Null && now[name] == nil || !v.Null && now[name] == any(v.Value) {
			continue
		}
		wrong = append(wrong, fault.Field{Pointer: "#/" + name, Code: "read_only", Detail: "This field cannot be changed here."})
	}
	if wrong != nil {
		return &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields.", Fields: wrong}
	}
	return nil
}
