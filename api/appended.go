package api

import (
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

// AppendJSON appends the table, which was encoded once at its creation.
func (t *planCatalog) AppendJSON(to []byte) []byte { return append(to, t.encoded...) }

// AppendJSON appends the org's entitlements. Plans, statuses, types and sources are constants, and keys of the
// catalogue consist of letters, digits and _. Only a text value may need escaping.
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
