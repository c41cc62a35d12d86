package suppression

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// merged lists the suppressions that a merge created.
type merged struct {
	IDs []id.ID `json:"ids"`
}

// Repoint suppresses the address of the contact to for what the contacts from are suppressed for: a merge of contacts
// says that they are one person, and the person's wish counts for both addresses. A bounce is a fact about an address
// and stays with it. It returns the data that Return needs. It takes its locks, so it must come before tx locks emails.
func (s *Service) Repoint(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (json.RawMessage, error) {
	rows, err := tx.Query(ctx, `SELECT id, email FROM contact WHERE org_id = $1 AND id = ANY ($2::uuid[])`, tx.Org(),
		append([]id.ID{to}, from...))
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}

	var (
		one          id.ID
		email, owner string
		others       []string
	)
	if _, err := pgx.ForEachRow(rows, []any{&one, &email}, func() error {
		if one == to {
			owner = email
		} else {
			others = append(others, email)
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}

	pair, err := orgkey.Find(ctx, tx, s.Box)
	if err != nil || pair.Org.IsZero() { // an org without a key has suppressed nothing
		return nil, err
	}

	var m merged
	for _, address := range others {
		added, err := s.carryOver(ctx, tx, pair, address, owner, "merge")
		if err != nil {
			return nil, err
		}
		m.IDs = append(m.IDs, added...)
	}

	return record.Remember(m)
}

// Return lifts the suppressions that Repoint created.
func (s *Service) Return(_ context.Context, tx *postgres.Tx, moved json.RawMessage) error {
	var m merged
	if err := record.Recall(moved, &m); err != nil {
		return err
	}
	tx.Queue(`UPDATE suppression SET lifted_at = $3, lift_reason = 'the merge was undone'
		WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND lifted_at IS NULL`, tx.Org(), m.IDs, wire.Now())
	return nil
}

// Held returns the suppressions of an address and of its domain, and the lifted ones, for a data export. Those of the
// platform are not the org's.
func (s *Service) Held(ctx context.Context, tx *postgres.Tx, address string) ([]Suppression, error) {
	pair, err := orgkey.Find(ctx, tx, s.Box)
	if err != nil || pair.Org.IsZero() {
		return []Suppression{}, err
	}
	return readForAddress(ctx, tx, pair.Org, address)
}

// readForAddress returns the suppressions of an address and of its domain, oldest first.
func readForAddress(ctx context.Context, tx *postgres.Tx, key orgkey.Key, address string) ([]Suppression, error) {
	k := keysOf(tx.Org(), orgkey.Pair{Org: key}, address)
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM suppression WHERE org_id = $1 AND hash = ANY ($2::bytea[])
		ORDER BY id`, tx.Org(), k.Org)
	if err != nil {
		return nil, fmt.Errorf("read suppressions: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read suppressions: %w", err)
	}
	return all, nil
}
