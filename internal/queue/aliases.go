package queue

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Aliases maps the alias of each kind that is being renamed to the kind's name. Rows, tasks and pauses may have either;
// metrics, logs and operators see the name alone. A nil Aliases has no aliases. jobs/README.md describes how a kind is
// renamed.
type Aliases map[string]string

// AliasesOf returns the aliases of the handlers' kinds.
func AliasesOf(handlers []Handler) Aliases {
	out := make(Aliases)
	for _, h := range handlers {
		if h.Options.Alias != "" {
			out[h.Options.Alias] = h.Kind
		}
	}
	return out
}

// Name returns the name of the kind with the given name or alias.
func (a Aliases) Name(kind string) string {
	if name, is := a[kind]; is {
		return name
	}
	return kind
}

// Names returns the name and the alias of the kind with the given name or alias.
func (a Aliases) Names(kind string) []string {
	out := []string{a.Name(kind)}
	for alias, name := range a {
		if name == out[0] {
			out = append(out, alias)
		}
	}
	return out
}

// mirrorSQL pauses the alias of each paused kind.
const mirrorSQL = `
INSERT INTO job_pause (scope, name)
SELECT 'kind', a.alias FROM unnest($1::text[], $2::text[]) AS a (alias, name)
JOIN job_pause p ON p.scope = 'kind' AND p.name = a.name
ON CONFLICT DO NOTHING`

// MirrorPauses pauses the alias of each paused kind. An operator of an earlier release has paused the name alone, and a
// later release writes rows under the alias.
func (l *Store) MirrorPauses(ctx context.Context) error {
	if len(l.Aliases) == 0 {
		return nil
	}
	var aliases, names []string
	for alias, name := range l.Aliases {
		aliases, names = append(aliases, alias), append(names, name)
	}
	return l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(mirrorSQL, aliases, names)
		return nil
	})
}
