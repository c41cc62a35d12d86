package social

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ErrWrongAccount means that an account was to be reconnected but the login belongs to another account.
var ErrWrongAccount = fault.New(fault.WrongAccount,
	"The login is for another account than the one to connect again. Nothing was changed; log in there as the "+
		"right person.")

// Nothing returns the fault of a login that reaches no account of its platform. It names what the login was not
// granted.
func (p *Pending) Nothing() error {
	const nothing = "The login reaches nothing that could be connected: it has no page, channel or ad account, or " +
		"did not let us see one."
	if missing := p.MissingScopes(); len(missing) > 0 {
		return fault.New(fault.ProviderRefused, nothing+" It was not granted "+strings.Join(missing, ", ")+".")
	}
	return fault.New(fault.ProviderRefused, nothing)
}

// Connect connects the chosen accounts of a pending login in tx, all or none, and returns them in the order chosen. It
// consumes the pending login. Accounts that were not chosen stay as they are, except that broken accounts of the same
// login are repaired if the login reaches them again. If accounts have their own tokens, Connect enqueues a job that
// renews the tokens of the accounts of this login.
//
// Beyond the plan's limit the commit fails with plan_limit_reached. An account that is already connected, even if
// broken, does not count again.
func (s *Service) Connect(ctx context.Context, tx *postgres.Tx, pending id.ID, actor Actor,
	chosen []string,
) ([]Versioned, error) {
	lockAccounts(tx)
	p, err := s.loadPending(ctx, tx, pending, actor, "FOR UPDATE")
	if err != nil {
		return nil, err
	}

	if err := p.validateChosen(chosen); err != nil {
		return nil, err
	}

	m, err := s.openMaterial(tx.Org(), p.ID, p.sealed)
	if err != nil {
		return nil, err
	}

	known, err := loginOf(ctx, tx, p)
	if err != nil {
		return nil, err
	}

	plan, err := s.planChanges(ctx, tx, p, known, chosen)
	if err != nil {
		return nil, err
	}

	if len(plan.writes) == 0 { // newer logins hold all chosen accounts
		return s.finishConnect(ctx, tx, p, plan, true)
	}

	grant, err := s.saveGrant(tx, p, known, m)
	if err != nil {
		return nil, err
	}

	for _, w := range plan.writes {
		if err := s.saveAccount(ctx, tx, p, m, grant, w); err != nil {
			return nil, err
		}
	}

	if known != nil { // for the login's accounts that were not chosen
		if err := s.askOwnTokens(ctx, tx, p.Platform, grant); err != nil {
			return nil, err
		}
	}

	if err := s.endUnused(ctx, tx, grantsExcept(plan.left, grant)); err != nil {
		return nil, err
	}

	return s.finishConnect(ctx, tx, p, plan, false)
}

// validateChosen validates the chosen accounts against the offers.
func (p *Pending) validateChosen(chosen []string) error {
	if !p.Asked {
		return fault.New(fault.Conflict,
			"The accounts of this login are not known yet. Read the pending connection first.")
	}

	if len(chosen) == 0 {
		return fault.Invalid("account_ids", "required", "Choose at least one account.")
	}

	seen := map[string]bool{}
	for i, external := range chosen {
		where := fmt.Sprintf("account_ids/%d", i)
		switch {
		case seen[external]:
			return fault.Invalid(where, "duplicate", "This account is chosen twice.")
		case p.offerOf(external) == nil:
			return fault.Invalid(where, "unknown_account", "This login does not reach such an account.")
		}

		seen[external] = true
	}

	if p.Account != nil && (len(chosen) > 1 || chosen[0] != p.External) {
		return ErrWrongAccount
	}

	return nil
}

func (p *Pending) offerOf(external string) *OfferedAccount {
	i := slices.IndexFunc(p.Offers, func(o OfferedAccount) bool { return o.ExternalID == external })
	if i < 0 {
		return nil
	}
	return &p.Offers[i]
}

// accountRow is an account that the login reaches and that the org has connected before.
type accountRow struct {
	ID           id.ID
	External     string
	Grant        id.ID
	Status       string
	Disconnected bool
	GrantedAt    time.Time // of the account's grant
	Alive        bool      // whether the account's grant is alive
}

// change is one account to write.
type change struct {
	id       id.ID
	offer    *OfferedAccount
	had      *accountRow // nil for a new one
	announce bool        // it was not connected and healthy before
}

// plan lists the changes that connecting makes.
type plan struct {
	chosen []id.ID // in the order chosen
	writes []change
	left   []id.ID // grants that lose accounts
}

// planChanges reads which of the offered accounts the org has, and decides what to write.
func (s *Service) planChanges(ctx context.Context, tx *postgres.Tx, p *Pending, known *grantRow,
	chosen []string) (*plan,
	error,
) {
	here, err := accountsOf(ctx, tx, p)
	if err != nil {
		return nil, err
	}

	out := &plan{}
	for _, external := range chosen {
		had, ok := here[external]
		if !ok {
			fresh := id.New()
			out.chosen = append(out.chosen, fresh)
			out.writes = append(out.writes,
				change{id: fresh, offer: p.offerOf(external), announce: true})
			continue
		}

		out.chosen = append(out.chosen, had.ID)
		well := !had.Disconnected && had.Status == Active && had.Alive
		if well && had.GrantedAt.After(p.grantedAt) {
			continue
		}

		out.writes = append(out.writes, change{
			id: had.ID, offer: p.offerOf(external), had: had,
			announce: !well,
		})
		out.left = append(out.left, had.Grant)
	}

	for _, o := range p.Offers { // accounts that broke with the login and that it repairs
		had, ok := here[o.ExternalID]
		if ok && known != nil && had.Grant == known.ID && !had.Disconnected && had.Status == Reauth &&
			!slices.Contains(chosen, o.ExternalID) {
			out.writes = append(out.writes,
				change{id: had.ID, offer: p.offerOf(o.ExternalID), had: had, announce: true})
		}
	}

	slices.SortFunc(out.writes, func(a, b change) int {
		return strings.Compare(a.offer.ExternalID, b.offer.ExternalID)
	})

	return out, nil
}

func accountsOf(ctx context.Context, tx *postgres.Tx, p *Pending) (map[string]*accountRow, error) {
	rows, err := tx.Query(ctx, `
		SELECT a.id, a.external_account_id, a.grant_id, a.status, a.disconnected_at IS NOT NULL, g.granted_at,
		g.status IN ('active', 'expiring')
		FROM social_account a JOIN social_grant g ON g.org_id = a.org_id AND g.id = a.grant_id
		WHERE a.org_id = $1 AND a.platform = $2 AND a.external_account_id = ANY ($3)`, tx.Org(), p.Platform,
		externalIDs(p.Offers))
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}

	all, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[accountRow])
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}

	here := make(map[string]*accountRow, len(all))
	for _, a := range all {
		here[a.External] = a
	}

	return here, nil
}

// missingScopes is the reason of an account whose login was not granted a scope that the account needs.
const missingScopes = "missing_scopes"

// saveAccount writes one account's row and its audit entry. An account that misses a scope needs another login.
func (s *Service) saveAccount(ctx context.Context, tx *postgres.Tx, p *Pending, m material, grant id.ID,
	c change,
) error {
	var own []byte
	if token := m.Own[c.offer.ExternalID]; token != "" {
		var err error
		if own, err = s.Box.Seal([]byte(token), accountAbout(tx.Org(), c.id)); err != nil {
			return fmt.Errorf("seal account's token: %w", err)
		}
	}

	status, reason := Active, ""
	if len(p.MissingScopes()) > 0 {
		status, reason = Reauth, missingScopes
	}

	now := wire.Now()
	by := p.actor.Type + ":" + p.actor.ID.String()
	if c.had == nil {
		tx.Queue(`
			INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id, display_name,
			avatar_url, sealed_token, connected_by, connected_at, created_at, updated_at, status, reason)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $11, $12, $13)`,
			tx.Org(), c.id, p.Platform, string(p.Kind), c.offer.ExternalID, grant, c.offer.DisplayName,
			c.offer.AvatarURL, own, by, now, status, reason)
	} else {
		tx.Queue(`
			UPDATE social_account SET grant_id = $3, display_name = $4, avatar_url = $5, sealed_token = $6, status
			= $9, reason = $10, connected_by = $7,
				connected_at = CASE WHEN disconnected_at IS NULL THEN connected_at
				ELSE $8 END, disconnected_at = NULL, updated_at = $8, edit = edit + 1
			WHERE org_id = $1 AND id = $2`,
			tx.Org(), c.id, grant, c.offer.DisplayName, c.offer.AvatarURL, own, by, now, status, reason)
	}

	action := "social_account.connected"
	if c.had != nil {
		action = "social_account.renewed"
	}

	s.Audit(ctx, tx,
		Act{
			Action: action, Target: "social_account", ID: c.id.String(),
			Detail: map[string]any{"platform": p.Platform},
		})

	return nil
}

// finishConnect removes the pending login, announces the connected accounts, and returns the chosen ones. If unused is
// set, no grant took the login's tokens, and finish discards the login so that the job revokes them.
func (s *Service) finishConnect(ctx context.Context, tx *postgres.Tx, p *Pending, out *plan,
	unused bool) ([]Versioned,
	error,
) {
	if unused {
		if err := s.Discard(ctx, tx, p.ID); err != nil {
			return nil, err
		}
	} else {
		tx.Queue(`DELETE FROM social_pending WHERE org_id = $1 AND id = $2`, tx.Org(), p.ID)
	}

	ids := slices.Clone(out.chosen)
	announce := map[id.ID]bool{}
	for _, w := range out.writes {
		announce[w.id] = w.announce
		if !slices.Contains(ids, w.id) {
			ids = append(ids, w.id)
		}
	}

	all, err := readAccounts(ctx, tx, ids)
	if err != nil {
		return nil, err
	}

	for _, v := range all {
		if announce[v.ID] {
			if err := events.Announce(ctx, tx, events.SocialAccountConnected{Account: v.Account}); err != nil {
				return nil, err
			}
		}
	}

	return all[:len(out.chosen)], nil
}

// grantsExcept returns grants without one, and without duplicates.
func grantsExcept(grants []id.ID, one id.ID) []id.ID {
	var rest []id.ID
	for _, g := range grants {
		if g != one && !slices.Contains(rest, g) {
			rest = append(rest, g)
		}
	}

	return rest
}
