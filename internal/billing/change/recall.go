package change

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Known is the outcome of an earlier request with the same idempotency key of the caller.
type Known struct {
	Answer      *Answer
	Fingerprint []byte
}

// ByKey returns the change that a caller's key created, or nil.
func ByKey(ctx context.Context, tx *postgres.Tx, key string) (*Known, error) {
	c, fingerprint, err := billing.ByCallerKey(ctx, tx, key)
	if err != nil || c == nil {
		return nil, err
	}
	return &Known{Answer: answerFor(c), Fingerprint: fingerprint}, nil
}

// Recall returns the answer to a repeated request, including the confirmation data if the customer has to confirm.
func (s *Service) Recall(ctx context.Context, k *Known) (*Answer, error) {
	if k.Answer.Status != billing.ActionRequired {
		return k.Answer, nil
	}
	a, err := s.answerToConfirm(ctx, k.Answer.Change)
	return a, billing.AsFault(err)
}
