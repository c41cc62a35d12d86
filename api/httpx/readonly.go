package httpx

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// CheckUnchanged returns an error for read-only members of a patch, unless they equal the current values. A caller may
// therefore send back the whole object that it read.
func CheckUnchanged(current any, sent map[string]Optional[string]) error {
	b, err := json.Marshal(current)
	if err != nil {
		return fmt.Errorf("encode current state: %w", err)
	}

	var now map[string]any
	if err := json.Unmarshal(b, &now); err != nil {
		return fmt.Errorf("decode current state: %w", err)
	}

	var wrong []string
	for name, v := range sent {
		if v.Set && (v.Null && now[name] != nil || !v.Null && now[name] != any(v.Value)) {
			wrong = append(wrong, name)
		}
	}

	return readOnly(wrong)
}

// CheckUnchangedJSON is CheckUnchanged for members of any type, compared as JSON.
func CheckUnchangedJSON(current any, sent map[string]RawJSON) error {
	b, err := json.Marshal(current)
	if err != nil {
		return fmt.Errorf("encode current state: %w", err)
	}

	var now map[string]any
	if err := json.Unmarshal(b, &now); err != nil {
		return fmt.Errorf("decode current state: %w", err)
	}

	var wrong []string
	for name, v := range sent {
		var is any
		if v != nil && (json.Unmarshal(v, &is) != nil || !reflect.DeepEqual(is, now[name])) {
			wrong = append(wrong, name)
		}
	}

	return readOnly(wrong)
}

// readOnly returns the 422 for these members, or nil if there are none.
func readOnly(names []string) error {
	if len(names) == 0 {
		return nil
	}
	f := &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields."}
	for _, name := range slices.Sorted(slices.Values(names)) {
		f.Fields = append(f.Fields,
			fault.FieldError{Pointer: "#/" + name, Code: "read_only", Detail: "This field cannot be changed here."})
	}
	return f
}
