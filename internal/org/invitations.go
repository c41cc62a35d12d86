package org

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// inviteLife is how long an invitation may be answered.
const inviteLife = 7 * 24 * time.Hour

// errInvitation is one answer for an invitation that was used, taken back, is over or never was.
var errInvitation = fault.New(fault.LinkExpired, "This invitation is no longer valid; ask for a new one.")

// Invitation is somebody to be asked in.
type Invitation struct {
	Email, Folded string // as given, and in the form that addresses are compared in
	Role          string
	TokenHash     []byte
	By            id.ID
}

// Invite writes an invitation of tx's org. Somebody already invited gets the new token and role under the same
// id; somebody already in is fault.Conflict with their id.
func Invite(ctx context.Context, tx *postgres.Tx, by Acting, in Invitation) (*Member, error) {
	if in.Role == "owner" && !by.IsOwner {
		return nil, fault.New(fault.Forbidden, "Only an owner invites an owner.")
	}
	lock(tx)
	var existing id.ID
	err := tx.QueryRow(ctx, `SELECT m.user_id FROM member m JOIN app_user u ON u.id = m.user_id
		WHERE m.org_id = $1 AND m.removed_at IS NULL AND u.email_folded = $2`, []any{tx.Org(), in.Folded}, &existing)
	switch {
	case err == nil:
		f := fault.New(fault.Conflict, "This person is already a member.")
		f.ExistingID = existing.String()
		return nil, f
	case !postgres.None(err):
		return nil, fmt.Errorf("read member: %w", err)
	}
	if !by.IsOwner {
		var asOwner bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM invitation WHERE org_id = $1 AND email_folded = $2 AND closed_at IS NULL AND expires_at > now() AND role = 'owner')`,
			[]any{tx.Org(), in.Folded}, &asOwner); err != nil {
			return nil, fmt.Errorf("read invitation: %w", err)
		}
		if asOwner {
			return nil, fault.New(fault.Forbidden, "An owner has invited this person as an owner; only an owner changes that.")
		}
	}
	m := &Member{Status: Invited}
	m.Email, m.Role = in.Email, in.Role
	var ends wire.Time
	err = tx.QueryRow(ctx, `
		INSERT INTO invitation (org_id, id, email, email_folded, role, token_hash, invited_by, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))
		ON CONFLICT (org_id, email_folded) WHERE closed_at IS NULL DO UPDATE
		SET email = excluded.email, role = excluded.role, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
		    expires_at = excluded.expires_at, updated_at = now(), edit = invitation.edit + 1
		RETURNING id, created_at, updated_at, expires_at, edit`,
		[]any{tx.Org(), id.New(), in.Email, in.Folded, in.Role, in.TokenHash, in.By, inviteLife.Seconds()},
		&m.ID, &m.CreatedAt, &m.UpdatedAt, &ends, &m.Edit)
	if err != nil {
		return nil, fmt.Errorf("write invitation: %w", err)
	}
	m.ExpiresAt = &ends
	Audit(ctx, tx, Entry{Action: "member.invited", Target: "member", ID: m.ID.String(), Detail: map[string]any{"email": m.Email, "role": m.Role}})
	return m, nil
}

// ReadInvitation answers an open invitation's id and address by its token's hash, or fault.LinkExpired.
func ReadInvitation(ctx context.Context, tx *postgres.Tx, tokenHash []byte) (invitation id.ID, email string, err error) {
	err = tx.QueryRow(ctx, `SELECT id, email FROM invitation WHERE org_id = $1 AND token_hash = $2 AND closed_at IS NULL AND expires_at > now()`,
		[]any{tx.Org(), tokenHash}, &invitation, &email)
	if postgres.None(err) {
		return invitation, "", errInvitation
	}
	if err != nil {
		return invitation, "", fmt.Errorf("read invitation: %w", err)
	}
	return invitation, email, nil
}

// Accept closes the invitation with this token and makes user a member of tx's org, which answers what the
// member may do and the org's name. Of two acceptances at once one gets fault.LinkExpired.
func Accept(ctx context.Context, tx *postgres.Tx, tokenHash []byte, user id.ID) (role, name string, err error) {
	lock(tx)
	var invitation id.ID
	err = tx.QueryRow(ctx, `UPDATE invitation SET closed_at = now(), edit = edit + 1
		WHERE org_id = $1 AND token_hash = $2 AND closed_at IS NULL AND expires_at > now() RETURNING id, role`,
		[]any{tx.Org(), tokenHash}, &invitation, &role)
	if postgres.None(err) {
		return "", "", errInvitation
	}
	if err != nil {
		return "", "", fmt.Errorf("close invitation: %w", err)
	}
	tx.Queue(`
		INSERT INTO member (org_id, user_id, invited_as, role) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, user_id) DO UPDATE
		SET role = CASE WHEN member.removed_at IS NULL THEN member.role ELSE excluded.role END,
		    invited_as = excluded.invited_as, removed_at = NULL, updated_at = now(), edit = member.edit + 1`,
		tx.Org(), user, invitation, role)
	m, err := OneMember(ctx, tx, user)
	if err != nil {
		return "", "", err
	}
	if err := tx.QueryRow(ctx, `SELECT name FROM org WHERE id = $1`, []any{tx.Org()}, &name); err != nil {
		return "", "", fmt.Errorf("read org: %w", err)
	}
	Audit(ctx, tx, Entry{Action: "member.joined", Target: "member", ID: user.String(), Detail: map[string]any{"email": m.Email, "role": m.Role}})
	return m.Role, name, events.Announce(ctx, tx, events.UserJoined{Member: m.Member})
}
