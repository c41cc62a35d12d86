package externalid

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Limits of a record's ids.
const (
	MaxSystem = 40  // characters of a system
	MaxValue  = 255 // characters of an id
	MaxIDs    = 20  // per record
)

// Member is the name of the JSON member.
const Member = "external_ids"

// Patch is a merge patch (RFC 7396) of a record's ids: null removes the id of a system, or all of them.
type Patch = wire.Field[map[string]any]

// Sent returns the valid ids that p sets, in the order of their systems: what a row of a batch is found by.
func Sent(p Patch) []Key {
	if !p.Set || len(p.Value) == 0 {
		return nil
	}
	var out []Key
	for _, system := range slices.Sorted(maps.Keys(p.Value)) {
		if value, is := p.Value[system].(string); is && validSystem(system) && valueError(value) == "" {
			out = append(out, Key{system, value})
		}
	}
	return out
}

// Apply returns before with p applied. wrong is called with the path, code and detail of each error; before is returned
// then.
func Apply(p Patch, before IDs, wrong func(field, code, detail string)) IDs {
	if !p.Set {
		return before
	}
	out := IDs{}
	if !p.Null {
		maps.Copy(out, before)
	}
	failed := false
	fail := func(field, code, detail string) {
		failed = true
		wrong(field, code, detail)
	}
	for _, system := range slices.Sorted(maps.Keys(p.Value)) {
		applySystem(out, system, p.Value[system], fail)
	}
	if len(out) > MaxIDs {
		fail(Member, "too_many", "At most "+strconv.Itoa(MaxIDs)+" external ids are allowed.")
	}
	switch {
	case failed:
		return before
	case len(out) == 0:
		return nil
	}
	return out
}

// applySystem applies one member of a patch to out.
func applySystem(out IDs, system string, sent any, fail func(field, code, detail string)) {
	field := Member + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(system)
	if !validSystem(system) {
		fail(field, "invalid_key", "A system has 1 to 40 characters of a-z, 0-9, underscore, dot and hyphen.")
		return
	}
	if sent == nil {
		delete(out, system)
		return
	}
	value, is := sent.(string)
	if !is {
		fail(field, "invalid_type", "An external id is a string, or null.")
		return
	}
	switch code := valueError(value); code {
	case "":
		out[system] = value
	case "required":
		fail(field, code, "An external id cannot be blank; null removes it.")
	case "too_long":
		fail(field, code, "At most "+strconv.Itoa(MaxValue)+" characters are allowed.")
	default:
		fail(field, code, "Control characters are not allowed.")
	}
}

func validSystem(s string) bool {
	if s == "" || len(s) > MaxSystem {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// ValidSystem reports whether s may be the name of a system.
func ValidSystem(s string) bool { return validSystem(s) }

// valueError returns the code of the error in an id, or "".
func valueError(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "required"
	case utf8.RuneCountInString(s) > MaxValue:
		return "too_long"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, form.NotInLine):
		return "invalid_characters"
	}
	return ""
}
