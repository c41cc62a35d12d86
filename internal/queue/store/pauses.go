package store

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

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
