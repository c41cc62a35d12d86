package ops

import (
	"net/http"
	"strings"
)

// reason is why an operator acts, for the audit log. If it is given, it says something.
type reason string

var errBlank = &requestError{http.StatusUnprocessableEntity, "reason: it is empty; say why"}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *reason) UnmarshalText(text []byte) error {
	*r = reason(strings.TrimSpace(string(text)))
	if *r == "" {
		return errBlank
	}
	return nil
}
