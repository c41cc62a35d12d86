package auth

import (
	"context"
	"net/netip"
)

// Try is one attempt, right or wrong, without a password.
func (s *Service) Try(ctx context.Context, email string, ip netip.Addr, right bool) error {
	try, err := s.beginAttempt(ctx, email, ip)
	if err != nil {
		return err
	}
	defer try.done()
	if right {
		try.recordSuccess(ctx)
	}
	return nil
}
