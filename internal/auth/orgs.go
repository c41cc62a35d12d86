package auth

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Membership is an org of a user, with the user's role in it.
type Membership struct {
	ID   id.ID  `json:"id" format:"uuid" doc:"ID of the organization"`
	Name string `json:"name" doc:"Name of the organization"`
	Role Role   `json:"role" enum:"viewer,member,admin,owner" doc:"The user's role in the organization"`
}

// listMemberships lists the orgs of a user in the order of joining: all, or home and its client orgs unless home is
// zero.
func (s *Service) listMemberships(ctx context.Context, user, home id.ID) (all []Membership, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT o.id, o.name, m.role FROM member m JOIN org o ON o.id = m.org_id
			WHERE m.user_id = $1 AND m.removed_at IS NULL AND ($2 OR o.id = $3 OR o.parent_org_id = $3)
			ORDER BY m.created_at, o.id`, user, home.IsZero(), home)
		if err != nil {
			return err
		}

		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Membership])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read memberships: %w", err)
	}

	return all, nil
}

// Orgs lists the orgs of a user by id, beginning after above; a zero above begins at the first.
func (s *Service) Orgs(ctx context.Context, user, above id.ID, limit int) ([]Membership, error) {
	all, err := s.listMemberships(ctx, user, id.ID{})
	if err != nil {
		return nil, err
	}

	order := func(a, b Membership) int { return id.Compare(a.ID, b.ID) }
	slices.SortFunc(all, order)
	if !above.IsZero() {
		all = slices.DeleteFunc(all, func(m Membership) bool { return bytes.Compare(m.ID[:], above[:]) <= 0 })
	}

	return all[:min(len(all), limit)], nil
}

// Switch begins a session of who's user in another of the user's orgs. The current session continues. It returns
// fault.NotFound if the user is not a member of that org, and fault.Forbidden for a console session, whose refresh
// token no script may read.
func (s *Service) Switch(ctx context.Context, who Who, org id.ID, by Device) (*Session, error) {
	if who.Client == Console {
		return nil, errConsoleToken
	}
	return s.switchTo(ctx, who, org, by, false)
}

// switchTo begins a session of who's user in org, for the same client. If leave is set, who's session is retired.
func (s *Service) switchTo(ctx context.Context, who Who, org id.ID, by Device, leave bool) (*Session, error) {
	out := &Session{Org: org, Device: by, Client: who.Client}
	err := s.System.Tx(ctx, org, func(tx *postgres.Tx) error {
		storeLastOrg(tx, who.User, org)
		lockPerson(tx, who.User)
		var live bool
		if err := tx.QueryRow(ctx, "SELECT "+liveSQL, []any{who.Org, who.User, who.Session}, &live); err != nil {
			return err
		}
		if !live {
			return errEnded
		}
		if leave {
			retireSession(tx, who.Org, who.Session)
		}

		err := tx.QueryRow(ctx, `
			SELECT u.id, u.email, u.first_name, u.last_name, o.name, m.role
			FROM member m JOIN app_user u ON u.id = m.user_id JOIN org o ON o.id = m.org_id
			WHERE m.org_id = $1 AND m.user_id = $2 AND m.removed_at IS NULL`,
			[]any{org, who.User},
			&out.User.ID, &out.User.Email, &out.User.FirstName, &out.User.LastName, &out.OrgName, &out.Role)
		if postgres.None(err) {
			return fault.New(fault.NotFound, "You are in no such organization.")
		}
		if err != nil {
			return err
		}

		return s.Begin(ctx, tx, out)
	})
	if err != nil {
		return nil, fmt.Errorf("switch org: %w", err)
	}

	return out, nil
}
