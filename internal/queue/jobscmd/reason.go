package jobscmd

import (
	"errors"
	"strings"
)

// Reason is why an operator acts, for the audit log. If the flag is given, it says something.
type Reason string

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Reason) UnmarshalText(text []byte) error {
	*r = Reason(strings.TrimSpace(string(text)))
	if *r == "" {
		return errors.New("it is empty; say why")
	}
	return nil
}
