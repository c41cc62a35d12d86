package org

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Member is a user of the org, or an invited person who has not accepted yet. A member's id is the user's id. An
// invitation's id remains an alias of it after the person joined.
type Member struct {
	events.Member
	Status    string     `json:"status" enum:"active,invited"`
	UpdatedAt wire.Time  `json:"updated_at" format:"date-time"`
	ExpiresAt *wire.Time `json:"expires_at" format:"date-time" doc:"When an open invitation ends; null for a member"`
	Edit      int64      `json:"-"`
}

// Descriptions implements wire.Describer.
func (Member) Descriptions() map[string]string {
	return map[string]string{
		"status":     "active: a member; invited: has not accepted the invitation yet",
		"updated_at": "When the role was last changed, or the invitation renewed",
	}
}

// The statuses of a Member.
const (
	Active  = "active"
	Invited = "invited"
)

var (
	errNoMember  = fault.New(fault.NotFound, "There is no such member.")
	errLastOwner = fault.New(fault.LastOwner,
		"An organization keeps at least one owner. Make somebody else an owner first.")
)

// memberSQL reads members and open invitations as one list. An invitation has no name yet.
const memberSQL = `
SELECT id, email, first_name, last_name, role, status, created_at, updated_at, expires_at, edit FROM (
	SELECT m.user_id AS id, m.invited_as, u.email, u.first_name, u.last_name, m.role, 'active' AS status,
	m.created_at, m.updated_at,
	       NULL::timestamptz AS expires_at, m.edit
	FROM member m JOIN app_user u ON u.id = m.user_id
	WHERE m.org_id = $1 AND m.removed_at IS NULL
	UNION ALL
	SELECT i.id, NULL, i.email, '', '', i.role, 'invited', i.created_at, i.updated_at, i.expires_at, i.edit
	FROM invitation i WHERE i.org_id = $1 AND i.closed_at IS NULL
) AS people `

// Members lists the users and open invitations of tx's org by id, beginning after above; a zero above begins at the
// first.
func Members(ctx context.Context, tx *postgres.Tx, above id.ID, limit int) ([]Member, error) {
	rows, err := tx.Query(ctx, memberSQL+`WHERE id > $2 ORDER BY id LIMIT $3`, tx.Org(), above, limit)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}

	list, err := pgx.CollectRows(rows, scanMember)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}

	return list, nil
}

// OneMember returns a user or an open invitation of tx's org.
func OneMember(ctx context.Context, tx *postgres.Tx, who id.ID) (*Member, error) {
	rows, err := tx.Query(ctx, memberSQL+`WHERE id = $2 OR invited_as = $2 LIMIT 1`, tx.Org(), who)
	if err != nil {
		return nil, fmt.Errorf("read member: %w", err)
	}

	m, err := pgx.CollectExactlyOneRow(rows, scanMember)
	if postgres.None(err) {
		return nil, errNoMember
	}
	if err != nil {
		return nil, fmt.Errorf("read member: %w", err)
	}

	return &m, nil
}

func scanMember(row pgx.CollectableRow) (m Member, err error) {
	err = row.Scan(&m.ID, &m.Email, &m.FirstName, &m.LastName, &m.Role, &m.Status, &m.CreatedAt, &m.UpdatedAt,
		&m.ExpiresAt, &m.Edit)
	return m, err
}

// lockMembers serializes changes to one org's members. Otherwise two owners who leave concurrently could each find that
// the other remains.
func lockMembers(tx *postgres.Tx) {
	tx.Queue(`SELECT 1 FROM org WHERE id = $1 FOR NO KEY UPDATE`, tx.Org())
}

// Acting is the user who changes a member.
type Acting struct {
	User    id.ID
	IsOwner bool
}

// SetRole changes the role of a member or an invitation. Only an owner may add or remove owners (fault.Forbidden), and
// the last owner stays one (fault.LastOwner).
func SetRole(ctx context.Context, tx *postgres.Tx, by Acting, who id.ID, role string,
	check func(edit int64) error,
) (*Member, error) {
	lockMembers(tx)
	m, err := OneMember(ctx, tx, who)
	if err != nil {
		return nil, err
	}
	if err := check(m.Edit); err != nil {
		return nil, err
	}
	if m.Role == role {
		return m, nil
	}
	if (m.Role == "owner" || role == "owner") && !by.IsOwner {
		return nil, fault.New(fault.Forbidden, "Only an owner makes or unmakes owners.")
	}
	if m.Role == "owner" && m.Status == Active {
		if err := anotherOwner(ctx, tx, m.ID); err != nil {
			return nil, err
		}
	}

	before := m.Role
	table := "member"
	key := "user_id"
	if m.Status == Invited {
		table = "invitation"
		key = "id"
	}

	err = tx.QueryRow(ctx, `UPDATE `+table+` SET role = $3, updated_at = clock_timestamp(), edit = edit + 1
		WHERE org_id = $1 AND `+key+` = $2 RETURNING role, updated_at, edit`, []any{tx.Org(), m.ID, role}, &m.Role,
		&m.UpdatedAt, &m.Edit)
	if err != nil {
		return nil, fmt.Errorf("write role: %w", err)
	}

	Audit(ctx, tx,
		Entry{
			Action: "member.role_changed", Target: "member", ID: m.ID.String(),
			Detail: map[string]any{"email": m.Email, "from": before, "to": role},
		})

	return m, nil
}

// Remove ends a membership or withdraws an invitation. It returns the user whose membership ended; zero for an
// invitation and for a user who had left before. It revokes the API keys that the member created, unless keepKeys. Only
// an owner may remove owners, and the last owner stays.
func Remove(ctx context.Context, tx *postgres.Tx, by Acting, who id.ID, keepKeys bool,
	check func(edit int64) error,
) (id.ID, error) {
	lockMembers(tx)
	m, err := OneMember(ctx, tx, who)
	if errors.Is(err, errNoMember) {
		return id.ID{}, checkWasMember(ctx, tx, who)
	}
	if err != nil {
		return id.ID{}, err
	}
	if err := check(m.Edit); err != nil {
		return id.ID{}, err
	}
	if m.Role == "owner" && !by.IsOwner {
		return id.ID{}, fault.New(fault.Forbidden, "Only an owner removes an owner.")
	}
	if m.Status == Invited {
		tx.Queue(`UPDATE invitation SET closed_at = now(), edit = edit + 1 WHERE org_id = $1 AND id = $2`, tx.Org(),
			m.ID)
		Audit(ctx, tx,
			Entry{
				Action: "member.invitation_revoked", Target: "member", ID: m.ID.String(),
				Detail: map[string]any{"email": m.Email},
			})
		return id.ID{}, nil
	}
	if m.Role == "owner" {
		if err := anotherOwner(ctx, tx, m.ID); err != nil {
			return id.ID{}, err
		}
	}

	tx.Queue(
		`UPDATE member SET removed_at = now(), updated_at = now(), edit = edit + 1 WHERE org_id = $1
			AND user_id = $2`, tx.Org(), m.ID)
	detail := map[string]any{"email": m.Email, "role": m.Role}
	if err := leaveKeys(ctx, tx, m.ID, keepKeys, detail); err != nil {
		return id.ID{}, err
	}

	Audit(ctx, tx, Entry{Action: "member.removed", Target: "member", ID: m.ID.String(), Detail: detail})

	return m.ID, events.Announce(ctx, tx, events.UserRemoved{Member: m.Member})
}

// checkWasMember distinguishes a user who has left from one who was never a member.
func checkWasMember(ctx context.Context, tx *postgres.Tx, who id.ID) error {
	var was bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM member WHERE org_id = $1 AND (user_id = $2 OR invited_as = $2))
		    OR EXISTS (SELECT 1 FROM invitation WHERE org_id = $1 AND id = $2)`, []any{tx.Org(), who}, &was)
	if err != nil {
		return fmt.Errorf("read member: %w", err)
	}
	if !was {
		return errNoMember
	}

	return nil
}

func anotherOwner(ctx context.Context, tx *postgres.Tx, but id.ID) error {
	var ok bool
	err := tx.QueryRow(ctx,
		`SELECT EXISTS (SELECT 1 FROM member WHERE org_id = $1 AND user_id <> $2 AND role = 'owner'
			AND removed_at IS NULL)`,
		[]any{tx.Org(), but}, &ok)
	if err != nil {
		return fmt.Errorf("read owners: %w", err)
	}
	if !ok {
		return errLastOwner
	}

	return nil
}
