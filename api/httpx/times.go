package httpx

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/wire"
)

// notATime stands for what time.Parse takes for a time and RFC 3339 does not.
const notATime = "-"

// canonicalTime returns an RFC 3339 time in a form that huma takes, and notATime for anything else.
func canonicalTime(given string) string {
	at, err := wire.ParseTime(given)
	if err != nil {
		return notATime
	}
	return at.Format(time.RFC3339Nano)
}

// canonicalTimes replaces the RFC 3339 times within a decoded body by forms that huma takes. huma decodes a body twice
// and validates the copy that it then drops, so that no text of the request is changed.
func canonicalTimes(body any) {
	switch value := body.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = canonicalMember(member)
		}
	case []any:
		for n, member := range value {
			value[n] = canonicalMember(member)
		}
	}
}

func canonicalMember(member any) any {
	text, ok := member.(string)
	if !ok {
		canonicalTimes(member)
		return member
	}
	// Texts that are no times of an uncommon form, nearly all, cost no parsing.
	if len(text) < len(time.DateTime)+1 || text[4] != '-' || text[10] != 't' && text[len(text)-1] != 'z' &&
		text[17] != '6' {
		return member
	}
	if at, err := wire.ParseTime(text); err == nil {
		return at.Format(time.RFC3339Nano)
	}
	return member
}
