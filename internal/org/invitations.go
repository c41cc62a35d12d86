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

// inviteLife is how long an invitation can be accepted.
const inviteLife = 7 * 24 * time.Hour

// errInvitation is the same error for a used, a withdrawn, an expired and an unknown invitation.
var errInvitation = fault.New(fault.LinkExpired, "This invitation is no longer valid; ask for a new one.")

// Invitation is the input of Invite.
type Invitation struct {
	Email, Folded string // as given, and in the form for comparison
	Role          string
	TokenHash     []byte
	By            id.ID
	// Unmailed means that the token is returned in a response instead of a mail. The limit per address does not apply.
	Unmailed bool
	// ChargedTo is the org that the invitation counts against; tx's org if zero.
	ChargedTo id.ID
}

// InviteResult is the result of Invite.
type InviteResult struct {
	*Member
	// Again reports whether there already was an open invitation; the result is the same invitation.
	Again bool
	// Mailed reports whether the invitation is to be mailed, or returned, with the token for the given hash. If not,
	// the address has reached its limit, and the token of an open invitation is unchanged.
	Mailed bool
}

// AwaitInvitation makes tx wait for other invitations of the address in all orgs, and of tx's org. It must be called
// before tx takes any other lock, in the org that the invitation counts against.
func AwaitInvitation(tx *postgres.Tx, folded string) {
	tx.Queue(`SELECT lock_invited($1)`, addressHash(folded))
	lockMembers(tx)
}

// Invite writes an invitation of tx's org, within its limits (see countInvitation). An invited user keeps the
// invitation, with the new role, and with the new token if it is mailed. For a member it returns fault.Conflict with
// the member's id. AwaitInvitation must be called first.
func Invite(ctx context.Context, tx *postgres.Tx, by Acting, in Invitation) (*InviteResult, error) {
	if in.Role == "owner" && !by.IsOwner {
		return nil, fault.New(fault.Forbidden, "Only an owner invites an owner.")
	}

	lockMembers(tx)
	if err := notMember(ctx, tx, in.Folded); err != nil {
		return nil, err
	}

	again, err := openInvitation(ctx, tx, by, in.Folded)
	if err != nil {
		return nil, err
	}

	mailed, err := chargedTo(ctx, tx, in, again)
	if err != nil {
		return nil, err
	}

	m, err := writeInvitation(ctx, tx, in, mailed)
	if err != nil {
		return nil, err
	}

	detail := map[string]any{"email": m.Email, "role": m.Role}
	if !mailed {
		detail["mail"] = "withheld"
	}

	Audit(ctx, tx, Entry{Action: "member.invited", Target: "member", ID: m.ID.String(), Detail: detail})

	return &InviteResult{Member: m, Again: again, Mailed: mailed}, nil
}

// notMember returns an error if a member of tx's org has the address.
func notMember(ctx context.Context, tx *postgres.Tx, folded string) error {
	var existing id.ID
	err := tx.QueryRow(ctx, `SELECT m.user_id FROM member m JOIN app_user u ON u.id = m.user_id
		WHERE m.org_id = $1 AND m.removed_at IS NULL AND u.email_folded = $2`, []any{tx.Org(), folded}, &existing)
	switch {
	case err == nil:
		f := fault.New(fault.Conflict, "This person is already a member.")
		f.ExistingID = existing.String()
		return f
	case postgres.None(err):
		return nil
	default:
		return fmt.Errorf("read member: %w", err)
	}
}

// openInvitation reports whether the address has an open invitation to tx's org. Only an owner may change an invitation
// for an owner.
func openInvitation(ctx context.Context, tx *postgres.Tx, by Acting, folded string) (bool, error) {
	var asOwner bool
	err := tx.QueryRow(ctx, `SELECT role = 'owner' AND expires_at > now() FROM invitation
		WHERE org_id = $1 AND email_folded = $2 AND closed_at IS NULL`, []any{tx.Org(), folded}, &asOwner)
	switch {
	case postgres.None(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read invitation: %w", err)
	case asOwner && !by.IsOwner:
		return false,
			fault.New(fault.Forbidden, "An owner has invited this person as an owner; only an owner changes that.")
	}

	return true, nil
}

// writeInvitation inserts an invitation, or changes the open one of the address. If it is not mailed, an open
// invitation keeps the token that was mailed last, and its expiry.
func writeInvitation(ctx context.Context, tx *postgres.Tx, in Invitation, mailed bool) (*Member, error) {
	m := &Member{Status: Invited}
	m.Email = in.Email
	m.Role = in.Role
	var ends wire.Time
	err := tx.QueryRow(ctx, `
		INSERT INTO invitation AS i (org_id, id, email, email_folded, role, token_hash, invited_by, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))
		ON CONFLICT (org_id, email_folded) WHERE closed_at IS NULL DO UPDATE
		SET email = excluded.email, role = excluded.role, invited_by = excluded.invited_by,
		    token_hash = CASE WHEN $9 THEN excluded.token_hash ELSE i.token_hash END,
		    expires_at = CASE WHEN $9 THEN excluded.expires_at
		ELSE i.expires_at END, updated_at = now(), edit = i.edit + 1
		RETURNING id, created_at, updated_at, expires_at, edit`,
		[]any{tx.Org(), id.New(), in.Email, in.Folded, in.Role, in.TokenHash, in.By, inviteLife.Seconds(), mailed},
		&m.ID, &m.CreatedAt, &m.UpdatedAt, &ends, &m.Edit)
	if err != nil {
		return nil, fmt.Errorf("write invitation: %w", err)
	}

	m.ExpiresAt = &ends

	return m, nil
}

// ReadInvitation returns the id and address of the open invitation with this token hash, or fault.LinkExpired.
func ReadInvitation(ctx context.Context, tx *postgres.Tx, tokenHash []byte) (invitation id.ID, email string,
	err error,
) {
	err = tx.QueryRow(ctx,
		`SELECT id, email FROM invitation WHERE org_id = $1 AND token_hash = $2 AND closed_at IS NULL
			AND expires_at > now()`,
		[]any{tx.Org(), tokenHash}, &invitation, &email)
	if postgres.None(err) {
		return invitation, "", errInvitation
	}
	if err != nil {
		return invitation, "", fmt.Errorf("read invitation: %w", err)
	}

	return invitation, email, nil
}

// Accept closes the invitation with this token and makes user a member of tx's org. It returns the member's role and
// the org's name. Of two concurrent acceptances one gets fault.LinkExpired.
func Accept(ctx context.Context, tx *postgres.Tx, tokenHash []byte, user id.ID) (role, name string, err error) {
	lockMembers(tx)
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

	Audit(ctx, tx,
		Entry{
			Action: "member.joined", Target: "member", ID: user.String(),
			Detail: map[string]any{"email": m.Email, "role": m.Role},
		})

	return m.Role, name, events.Announce(ctx, tx, events.UserJoined{Member: m.Member})
}
