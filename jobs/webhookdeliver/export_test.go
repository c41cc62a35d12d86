package webhookdeliver

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Getter returns a function that reads deliveries as runs do.
func Getter(hooks *webhooks.Service,
	db *postgres.DB,
) func(ctx context.Context, org, delivery id.ID) (*webhooks.DeliveryRequest, error) {
	return newLoads(hooks, db).readDelivery
}
