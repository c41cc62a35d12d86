package exports

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// parseSelection returns the filter of the contacts in the file. The filter is parsed again at each step, because its
// meaning depends on the current definitions of custom fields.
func (e *Export) parseSelection(ctx context.Context, tx *postgres.Tx) (*contacts.Filter, error) {
	f := &contacts.Filter{Archived: e.Archived}
	if string(e.Filter) == "null" {
		return f, nil
	}
	where, err := contacts.ParseFilter(ctx, tx, e.Filter)
	if err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	f.Where = where
	return f, nil
}
