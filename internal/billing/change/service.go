package change

import "github.com/funnelwork/funnelwork/internal/billing"

// Service changes the plans of orgs. It is safe for concurrent use.
type Service struct{ *billing.Service }

// New returns a Service on the account and the database of b.
func New(b *billing.Service) *Service { return &Service{b} }
