package webhookdeliver

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Getter reads deliveries as runs do.
func Getter(hooks *webhooks.Service, db *postgres.DB) func(ctx context.Context, org, delivery id.ID) (*webhooks.Parcel, error) {
	var l loads
	return func(ctx context.Context, org, delivery id.ID) (*webhooks.Parcel, error) {
		return l.get(ctx, hooks, db, org, delivery)
	}
}
