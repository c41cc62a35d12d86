package contactbulk

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Hook fails changes with a job that is dead or was dropped. The failure is final: the org's next change begins, and a
// later run of the old job finds nothing to do.
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
