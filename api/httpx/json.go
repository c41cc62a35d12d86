package httpx

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Appended is a frequent response body that encodes itself, to the same bytes as json.Marshal.
type Appended interface {
	AppendJSON(to []byte) []byte
}

// Marshal is json.Marshal without escaping <, > and &, since no response is embedded in a page.
func Marshal(w io.Writer, v any) error {
	if a, ok := v.(Appended); ok {
		_, err := w.Write(append(a.AppendJSON(make([]byte, 0, 2<<10)), '\n'))
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Unmarshal is json.Unmarshal, but its type errors name the member's path and no Go types.
func Unmarshal(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	if forValidation, ok := v.(*any); ok {
		canonicalTimes(*forValidation)
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s%s:%s", Misfit, t.Type.Kind(), membersOf(t.Field))
	}
	return err
}

// membersOf returns the path of a field as encoding/json reports it, without the names of embedded Go types, which are
// the only capitalized elements.
func membersOf(path string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(path, "."), func(name string) bool {
		return name != "" && name[0] >= 'A' && name[0] <= 'Z'
	}), ".")
}
