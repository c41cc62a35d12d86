package contacts

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// FilterField describes one field that a contact filter may name.
type FilterField struct {
	Field     string      `json:"field" doc:"Name in a filter; attributes.KEY is a custom field"`
	Type      filter.Type `json:"type" enum:"text,key,number,boolean,date,time,id,keys"`
	Operators []filter.Op `json:"operators" nullable:"false" doc:"Values of op that a condition on the field takes"`
	Values    []string    `json:"values,omitempty"`
}

// Descriptions implements wire.Describer.
func (FilterField) Descriptions() map[string]string {
	return map[string]string{
		"type": "text, key and keys are compared without regard to case; keys is a set; id is a UUID",
		"values": "Values in use: the organization's stages, the keys of its segments, or its first 200 tags. Absent " +
			"for other fields",
	}
}

// maxFilterValues is the maximum number of values listed for one field.
const maxFilterValues = 200

// filterValues holds the statements that select the values in use of a field. $1 is the org, $2 is maxFilterValues.
var filterValues = map[string]string{
	"stage": `SELECT unnest(stages) FROM org WHERE id = $1 LIMIT $2`,
	"segment": `SELECT key FROM segment WHERE org_id = $1 AND archived_at IS NULL
		ORDER BY key LIMIT $2`,
	"tag": `WITH RECURSIVE step AS (
		(SELECT tag FROM contact_tag WHERE org_id = $1 AND archived = false ORDER BY tag LIMIT 1)
		UNION ALL
		SELECT (SELECT t.tag FROM contact_tag t WHERE t.org_id = $1 AND t.archived = false AND t.tag > step.tag
			ORDER BY t.tag LIMIT 1)
		FROM step WHERE step.tag IS NOT NULL)
		SELECT tag FROM step WHERE tag IS NOT NULL LIMIT $2`,
}

// FilterFields returns every field that ParseFilter accepts in the org of tx: first those of each contact, then custom
// fields, both by name. It reads the tables that ParseFilter reads.
func FilterFields(ctx context.Context, tx *postgres.Tx) ([]FilterField, error) {
	custom, err := fieldTypes(ctx, tx)
	if err != nil {
		return nil, err
	}

	out := make([]FilterField, 0, len(filterFields)+len(custom))
	for _, name := range slices.Sorted(maps.Keys(filterFields)) {
		f := describeField(name, filterFields[name].Type)
		if sql := filterValues[name]; sql != "" {
			if f.Values, err = valuesOf(ctx, tx, sql); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}

	for _, key := range slices.Sorted(maps.Keys(custom)) {
		out = append(out, describeField(attributePrefix+key, attributeTypes[custom[key]]))
	}

	return out, nil
}

func describeField(name string, t filter.Type) FilterField {
	shown := t
	if t == filter.Address {
		shown = filter.Text
	}
	return FilterField{Field: name, Type: shown, Operators: t.Ops()}
}

func valuesOf(ctx context.Context, tx *postgres.Tx, sql string) ([]string, error) {
	Planned(tx)
	var out []string
	err := tx.QueryRow(ctx, "SELECT coalesce(array_agg(v), '{}') FROM ("+sql+") AS values (v)",
		[]any{tx.Org(), maxFilterValues}, &out)
	if err != nil {
		return nil, fmt.Errorf("read filter values: %w", err)
	}
	return out, nil
}
