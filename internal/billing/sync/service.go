package sync

import (
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
)

// Service keeps the stored state equal to Stripe's. It is safe for concurrent use.
type Service struct {
	*billing.Service
	connect *connect.Service
	owners  owners
}

// New returns a Service on the account and the database of b.
func New(b *billing.Service) *Service { return &Service{Service: b, connect: connect.New(b)} }
