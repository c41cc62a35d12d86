package contacts

import (
	"maps"
	"reflect"
	"slices"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// attributeBytes is the number of bytes of a text that the index can hold. It exceeds the length limit of a filter
// value.
const attributeBytes = filter.MaxTextBytes + 100

// attributeColumns are the value columns of contact_attribute. Each row uses exactly one of them.
var attributeColumns = []string{"text", "number", "flag"}

// AttributeRows are the rows of contact_attribute for a set of values, as parallel columns in key order.
type AttributeRows struct {
	Keys    []string
	Texts   []*string // folded; at most the first 1,700 bytes
	Rests   []*string // the rest of a longer text
	Numbers []*float64
	Flags   []*bool
}

// RowsOf returns the rows for values, which are strings, numbers and booleans.
func RowsOf(values map[string]any) AttributeRows {
	keys := slices.Sorted(maps.Keys(values))
	r := AttributeRows{
		Keys: keys, Texts: make([]*string, len(keys)), Rests: make([]*string, len(keys)),
		Numbers: make([]*float64, len(keys)), Flags: make([]*bool, len(keys)),
	}
	for i, key := range keys {
		switch v := values[key].(type) {
		case bool:
			r.Flags[i] = &v
		case float64:
			r.Numbers[i] = &v
		case string:
			whole := compare.Text(v)
			text := compare.Cut(whole, attributeBytes)
			r.Texts[i] = &text
			if rest := whole[len(text):]; rest != "" {
				r.Rests[i] = &rest
			}
		}
	}

	return r
}

// putAttributes queues one statement for all new or changed values, and nothing if there are none.
func putAttributes(tx *postgres.Tx, c *Contact, values map[string]any) {
	if len(values) == 0 {
		return
	}
	r := RowsOf(values)
	tx.Queue(`INSERT INTO contact_attribute (org_id, contact_id, key, text, rest, number, flag, created_at)
		SELECT $1, $2, k, t, r, n, f, $3 FROM unnest($4::text[], $5::text[], $6::text[], $7::float8[],
		$8::boolean[]) AS a (k, t, r, n, f)
		ON CONFLICT (org_id, contact_id, key) DO UPDATE SET text = excluded.text, rest = excluded.rest, number =
		excluded.number, flag = excluded.flag`,
		tx.Org(), c.ID, c.CreatedAt, r.Keys, r.Texts, r.Rests, r.Numbers, r.Flags)
}

func takeAttributes(tx *postgres.Tx, c *Contact, keys []string) {
	if len(keys) > 0 {
		tx.Queue(`DELETE FROM contact_attribute WHERE org_id = $1 AND contact_id = $2 AND key = ANY ($3::text[])`,
			tx.Org(), c.ID, keys)
	}
}

// changedValues returns the values of b that are missing from a or differ from it.
func changedValues(a, b map[string]any) map[string]any {
	out := maps.Clone(b)
	maps.DeleteFunc(out, func(k string, v any) bool {
		old, ok := a[k]
		return ok && reflect.DeepEqual(old, v)
	})
	return out
}
