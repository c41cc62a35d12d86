package templates

import (
	"context"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// contactFields and companyFields are the merge fields of a contact and of its company.
var (
	contactFields = slices.Concat(contacts.TextNames(), []string{
		"id", "email", "first_name", "last_name", "stage", "tag", "attributes", "lead_score", "created_at",
	})
	companyFields = []string{"id", "name", "domain", "website", "industry", "size", "phone", "created_at"}
	otherFields   = []string{"sender.name", "org.name", "unsubscribe_url", "preferences_url"}
	alwaysThere   = []string{"id", "email", "first_name", "last_name", "stage", "lead_score", "created_at"}
)

const attributePrefix = "attributes."

// lintAudience returns what Lint needs to know of the contacts of the org, for the fields in uses.
func lintAudience(ctx context.Context, tx *postgres.Tx, uses []compose.Use) (compose.Audience, error) {
	defined, err := contacts.Fields(ctx, tx, "", maxFields)
	if err != nil {
		return compose.Audience{}, err
	}

	a := compose.Audience{Lacking: map[string]int{}, Known: func(field string) bool {
		return isKnown(field, defined)
	}}
	parse := contacts.Parser(ctx, tx)
	for _, u := range uses {
		field, of := strings.CutPrefix(u.Field, "contact.")
		if _, counted := a.Lacking[u.Field]; u.HasDefault || counted || !of || !a.Known(u.Field) {
			continue
		}
		if slices.Contains(alwaysThere, field) {
			a.Lacking[u.Field] = 0
			continue
		}
		where, err := parse([]byte(`{"field":` + quoteJSON(field) + `,"op":"exists","value":false}`))
		if err != nil {
			continue // a part of a value, such as contact.tag.first
		}
		n, err := contacts.Estimate(ctx, tx, &contacts.Filter{Where: where})
		if err != nil {
			return a, err
		}
		a.Lacking[u.Field] = int(n)
	}

	return a, nil
}

const maxFields = 200 // custom fields of an org

// isKnown reports whether a merge field exists.
func isKnown(field string, defined []contacts.CustomField) bool {
	if slices.Contains(otherFields, field) {
		return true
	}
	root, name, _ := strings.Cut(field, ".")
	switch key, custom := strings.CutPrefix(name, attributePrefix); {
	case root == "contact" && custom:
		return slices.ContainsFunc(defined, func(f contacts.CustomField) bool { return f.Key == key })
	case root == "contact":
		first, _, _ := strings.Cut(name, ".")
		return name != "attributes" && slices.Contains(contactFields, first)
	case root == "company":
		return slices.Contains(companyFields, name)
	}
	return false
}
