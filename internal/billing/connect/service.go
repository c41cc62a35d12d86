package connect

import "github.com/funnelwork/funnelwork/internal/billing"

// Service manages the connected accounts of resellers and their sales. It is safe for concurrent use.
type Service struct{ *billing.Service }

// New returns a Service on the platform's account and the database of b.
func New(b *billing.Service) *Service { return &Service{b} }
