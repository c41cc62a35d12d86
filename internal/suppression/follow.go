package suppression

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Follow suppresses the new address of a contact for what its address before is suppressed for, which stays so: the
// wish is the person's, and whoever takes the address later did not lift it. A bounce is a fact about an address and
// stays with it alone. The contact must have its new address already.
func (s *Service) Follow(ctx context.Context, tx *postgres.Tx, from, to string) error {
	was := compare.Address(from)
	is := compare.Address(to)
	if was == is || was == "" || is == "" {
		return nil
	}
	pair, err := orgkey.Find(ctx, tx, s.Box)
	if err != nil || pair.Org.IsZero() { // an org without a key has suppressed nothing
		return err
	}
	_, err = s.carryOver(ctx, tx, pair, from, to, "address_changed")
	return err
}

// carryOver suppresses an address for what another one is suppressed for by the wish of a person. It returns the
// suppressions that are new.
func (s *Service) carryOver(ctx context.Context, tx *postgres.Tx, pair orgkey.Pair, from, to, source string) (
	added []id.ID, err error,
) {
	theirs, err := readForAddress(ctx, tx, pair.Org, from)
	if err != nil {
		return nil, err
	}
	for _, t := range theirs {
		if t.LiftedAt != nil || t.Kind == Domain || t.Reason == HardBounce {
			continue
		}
		made, isNew, err := s.addOne(ctx, tx, pair, New{
			Email: to, Purpose: t.Purpose, Reason: t.Reason, Source: source, Note: t.Note,
		})
		if err != nil {
			return nil, err
		}
		if isNew {
			added = append(added, made.ID)
		}
	}
	return added, nil
}
