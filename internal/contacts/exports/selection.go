package exports

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// selection is which contacts are in the file. The filter is read anew at each step: what it says of custom fields
// follows their definitions.
func (e *Export) selection(ctx context.Context, tx *postgres.Tx) (*contacts.Filter, error) {
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
