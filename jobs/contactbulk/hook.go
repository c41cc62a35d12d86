package contactbulk

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Hook fails changes whose job is dead or was dropped, for good: the org's next change begins, and a run of the old job
// finds nothing to do.
func Hook() queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			if err := bulk.Fail(ctx, tx, a.Bulk, stays); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
