package contactimport

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/contactundo"
)

// Hooks fail imports and undos with a next step that is dead or was dropped. The failure is final: the waiting rows are
// erased, and a later run of that step finds nothing to do. links is the prefix of links to files.
func Hooks(links string) []queue.Hook {
	return []queue.Hook{
		Kind.Hook(failing(imports.Work{Base: links}.Fail), nil),
		contactundo.Kind.Hook(failing(imports.FailUndo), nil),
	}
}

func failing(fail func(context.Context, *postgres.Tx, id.ID) error) func(context.Context, *postgres.Tx, []Args) error {
	return func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			err := fail(ctx, tx, a.Import)
			if err != nil && !fault.Is(err, fault.NotFound) { // the import may have expired
				return err
			}
		}
		return nil
	}
}
