package companies

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Named returns the live companies that texts name, each by its domain or by its name. A text that names none is
// absent, and so is the name of several companies.
func Named(ctx context.Context, tx *postgres.Tx, texts []string) (map[string]id.ID, error) {
	domains, names := []string{}, []string{}
	for _, t := range texts {
		if domain, is := Domain(t); is {
			domains = append(domains, domain)
		}
		names = append(names, compare.Text(t))
	}

	tx.Queue(postgres.PlanByKeys)
	rows, err := tx.Query(ctx, `SELECT h.id, 'd' || a.domain FROM unnest($2::text[]) AS a (domain) CROSS JOIN LATERAL (
			SELECT id FROM company WHERE org_id = $1 AND archived_at IS NULL AND domain = a.domain LIMIT 1) h
		UNION ALL SELECT h.id, 'n' || a.name FROM unnest($3::text[]) AS a (name) CROSS JOIN LATERAL (
			SELECT id FROM company WHERE org_id = $1 AND archived_at IS NULL AND name_folded = a.name LIMIT 2) h`,
		tx.Org(), domains, names)
	if err != nil {
		return nil, fmt.Errorf("read companies: %w", err)
	}

	found := map[string]map[id.ID]bool{}
	var company id.ID
	var key string
	if _, err := pgx.ForEachRow(rows, []any{&company, &key}, func() error {
		if found[key] == nil {
			found[key] = map[id.ID]bool{}
		}
		found[key][company] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read companies: %w", err)
	}

	out := map[string]id.ID{}
	for _, t := range texts {
		keys := []string{"n" + compare.Text(t)}
		if domain, is := Domain(t); is {
			keys = []string{"d" + domain, keys[0]}
		}
		for _, k := range keys {
			if len(found[k]) == 1 && out[t].IsZero() {
				for c := range found[k] {
					out[t] = c
				}
			}
		}
	}

	return out, nil
}

// NamedOrMade is Named, and creates the companies that the other texts name: one for each domain or folded name. A text
// that is no valid name is absent, and so is the name of several companies.
func NamedOrMade(ctx context.Context, tx *postgres.Tx, texts []string) (map[string]id.ID, []Change, error) {
	out, err := Named(ctx, tx, texts)
	if err != nil {
		return nil, nil, err
	}

	var rows []Upsert
	var made []string
	for _, t := range texts {
		if _, is := out[t]; is {
			continue
		}
		u := Upsert{Patch: Patch{Name: wire.Some(strings.Join(strings.Fields(t), " "))}}
		if domain, is := Domain(t); is {
			u.Domain = wire.Some(domain)
			u.Name = wire.Some(domain)
		}
		rows = append(rows, u)
		made = append(made, t)
	}
	if len(rows) == 0 {
		return out, nil, nil
	}

	outcomes, changed, err := UpsertAll(ctx, tx, rows)
	if err != nil {
		return nil, nil, err
	}
	for i, o := range outcomes {
		if o.Result != record.Failed {
			out[made[i]] = o.ID
		}
	}

	return out, changed, nil
}
