package suppression

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Filter narrows a list of suppressions. An empty field matches everything.
type Filter struct {
	Email, Domain, Purpose, Reason string
	Lifted                         bool // lifted ones instead of those in force
}

// last is greater than every id.
var last = id.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

const filterSQL = ` FROM suppression WHERE org_id = $1 AND (lifted_at IS NOT NULL) = $2 AND ($3 = '' OR purpose = $3)
	AND ($4 = '' OR reason = $4) AND ($5::bytea IS NULL OR hash = $5)`

func (s *Service) listArgs(ctx context.Context, tx *postgres.Tx, f Filter) ([]any, error) {
	var hash []byte
	if f.Email != "" || f.Domain != "" {
		pair, err := orgkey.Find(ctx, tx, s.Box)
		if err != nil {
			return nil, err
		}
		if hash = []byte{}; !pair.Org.IsZero() { // an org without a key has suppressed nothing
			_, _, hash = hashKey(pair.Org, New{Email: f.Email, Domain: f.Domain})
		}
	}
	return []any{tx.Org(), f.Lifted, f.Purpose, f.Reason, hash}, nil
}

// List returns at most limit suppressions of the org of tx that were created before the one with the ID before (zero:
// no bound), newest first. Rows of the platform are not listed.
func (s *Service) List(ctx context.Context, tx *postgres.Tx, f Filter, before id.ID, limit int) ([]Suppression, error) {
	if before.IsZero() {
		before = last
	}
	args, err := s.listArgs(ctx, tx, f)
	if err != nil {
		return nil, err
	}

	rows, err := tx.Query(ctx, `SELECT `+columns+filterSQL+` AND id < $6 ORDER BY id DESC LIMIT $7`,
		append(args, before, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list suppressions: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("list suppressions: %w", err)
	}

	return all, nil
}

// Count returns the number of suppressions that f matches.
func (s *Service) Count(ctx context.Context, tx *postgres.Tx, f Filter) (n int64, err error) {
	args, err := s.listArgs(ctx, tx, f)
	if err != nil {
		return 0, err
	}
	if err := tx.QueryRow(ctx, `SELECT count(*)`+filterSQL, args, &n); err != nil {
		return 0, fmt.Errorf("count suppressions: %w", err)
	}
	return n, nil
}

// Lift ends a suppression of the org of tx and returns it. may is called with the suppression before. Lifting one that
// was lifted changes nothing, and lifted is false. The error is a not_found fault if there is none.
func (s *Service) Lift(ctx context.Context, tx *postgres.Tx, which id.ID, reason, by string,
	may func(Suppression) error,
) (out Suppression, lifted bool, err error) {
	out, err = readOne(ctx, tx, `SELECT `+columns+` FROM suppression WHERE org_id = $1 AND id = $2 FOR UPDATE`,
		tx.Org(), which)
	if postgres.None(err) {
		return out, false, fault.New(fault.NotFound, "There is no such suppression.")
	}
	if err == nil {
		err = may(out)
	}
	if err != nil || out.LiftedAt != nil {
		return out, false, err
	}

	now := wire.Now()
	out.LiftedAt = &now
	out.LiftReason = &reason
	tx.Queue(`UPDATE suppression SET lifted_at = $3, lift_reason = $4, lifted_by = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org(), which, now, reason, by)
	return out, true, nil
}
