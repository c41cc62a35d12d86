package api

import (
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

// appended is an answer that is asked for so often that it writes itself, to the same bytes that json.Marshal would.
type appended interface {
	AppendJSON(to []byte) []byte
}

// AppendJSON writes the table, which was encoded when it was made.
func (t *planTable) AppendJSON(to []byte) []byte { return append(to, t.encoded...) }

// AppendJSON writes what the org may use. Plans, statuses, types and sources are words of ours, and keys of the catalogue
// are checked to be letters, digits and _; only a text value may hold what has to be escaped.
func (e entitlements) AppendJSON(to []byte) []byte {
	word := func(name, value string) {
		to = append(to, name...)
		to = append(to, value...)
		to = append(to, '"')
	}
	word(`{"plan":"`, e.Plan)
	word(`,"status":"`, string(e.Status))
	to = append(to, `,"entitlement_version":`...)
	to = strconv.AppendInt(to, e.Version, 10)
	to = append(to, `,"features":{`...)
	keys := make([]string, 0, len(e.Features))
	for key := range e.Features {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for i, key := range keys {
		one := e.Features[key]
		if i > 0 {
			to = append(to, ',')
		}
		word(`"`, key)
		word(`:{"type":"`, string(one.Type))
		to = append(to, `,"value":`...)
		to = appendValue(to, one.Value.Value)
		if one.Used != nil {
			to = append(to, `,"used":`...)
			to = strconv.AppendInt(to, *one.Used, 10)
		}
		if one.OverLimit {
			to = append(to, `,"over_limit":true`...)
		}
		word(`,"source":"`, string(one.Source))
		if one.ResetsAt != nil {
			word(`,"resets_at":"`, one.ResetsAt.String())
		}
		to = append(to, '}')
	}
	return append(to, "}}"...)
}

func appendValue(to []byte, v plans.Value) []byte {
	switch {
	case v.Type == plans.Boolean:
		return strconv.AppendBool(to, v.On)
	case v.Type == plans.Limit && v.Max == plans.Unlimited:
		return append(to, "null"...)
	case v.Type == plans.Limit:
		return strconv.AppendInt(to, v.Max, 10)
	default:
		b, err := v.MarshalJSON()
		if err != nil {
			return append(to, "null"...)
		}
		return append(to, b...)
	}
}
