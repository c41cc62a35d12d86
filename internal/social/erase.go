package social

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// held identifies a row that a notice applies to.
type held struct {
	ID      id.ID
	Version int64
}

func readSubjectRows(ctx context.Context, tx *postgres.Tx, sql string, n *Notice) ([]held, error) {
	rows, err := tx.Query(ctx, sql, tx.Org(), n.client, n.subject, n.issued)
	if err != nil {
		return nil, fmt.Errorf("read logins: %w", err)
	}

	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[held])
	if err != nil {
		return nil, fmt.Errorf("read logins: %w", err)
	}

	return all, nil
}

// erasePerson removes the person's data from tx's org: the tokens of the person's logins and of their accounts, the
// names, pictures and external ids of those accounts, and the person's external id. The rows remain without these data,
// so that references to an account by its id still show it as disconnected. Events written earlier are erased after
// their 30 days.
func (s *Service) erasePerson(ctx context.Context, tx *postgres.Tx, n *Notice) error {
	lockAccounts(tx)
	grants, err := readSubjectRows(ctx, tx,
		`SELECT id, version FROM social_grant WHERE org_id = $1 AND client_id = $2 AND subject_id = $3
			AND granted_at <= $4 ORDER BY id FOR UPDATE`, n)
	if err != nil {
		return err
	}

	for _, g := range grants {
		if err := s.eraseGrant(ctx, tx, g.ID); err != nil {
			return err
		}
	}

	tx.Queue(
		`DELETE FROM social_pending WHERE org_id = $1 AND client_id = $2 AND subject_id = $3 AND granted_at <= $4`,
		tx.Org(), n.client, n.subject, n.issued)

	return nil
}

func (s *Service) eraseGrant(ctx context.Context, tx *postgres.Tx, grant id.ID) error {
	rows, err := tx.Query(ctx,
		`SELECT id FROM social_account WHERE org_id = $1 AND grant_id = $2 AND disconnected_at IS NULL
			ORDER BY id FOR UPDATE`, tx.Org(), grant)
	if err != nil {
		return fmt.Errorf("read accounts: %w", err)
	}

	connected, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return fmt.Errorf("read accounts: %w", err)
	}

	tx.Queue(`
		UPDATE social_account SET sealed_token = NULL, status = 'revoked', reason = 'data_deletion',
		disconnected_at = coalesce(disconnected_at, now()),
			external_account_id = 'deleted-' || id, display_name = '', avatar_url = '', updated_at = now(), edit =
			edit + 1
		WHERE org_id = $1 AND grant_id = $2`, tx.Org(), grant)
	var platform string
	err = tx.QueryRow(ctx, `
		UPDATE social_grant SET sealed_access = NULL, sealed_refresh = NULL, refresh_at = NULL, version = version
		+ 1, attempt_state = NULL, attempt_at = NULL,
			attempt_token_hash = NULL, status = 'revoked', reason = 'data_deletion', subject_id = 'deleted-' ||
			id, updated_at = now()
		WHERE org_id = $1 AND id = $2 RETURNING platform`, []any{tx.Org(), grant}, &platform)
	if err != nil {
		return fmt.Errorf("erase grant: %w", err)
	}

	s.Audit(ctx, tx, Act{
		Action: "social_grant.erased", Target: "social_grant", ID: grant.String(),
		Detail: map[string]any{"platform": platform, "reason": "data_deletion", "accounts": len(connected)},
	})
	all, err := readAccounts(ctx, tx, connected)
	if err != nil {
		return err
	}

	for _, v := range all {
		if err := events.Announce(ctx, tx, events.SocialAccountDisconnected{Account: v.Account}); err != nil {
			return err
		}
	}

	return nil
}
