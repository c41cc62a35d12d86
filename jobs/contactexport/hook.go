package contactexport

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Hook fails exports with a next step that is dead or was dropped. The failure is final: their parts are erased, and a
// later run of that step finds nothing to do. links is the prefix of links to files.
func Hook(links string) queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			err := exports.Work{Base: links}.Fail(ctx, tx, a.Export)
			if err != nil && !fault.Is(err, fault.NotFound) { // the export may have expired
				return err
			}
		}
		return nil
	}, nil)
}
