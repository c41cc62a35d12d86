package social

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// OfferedAccount is an account that a login reaches.
type OfferedAccount struct {
	ExternalID  string `json:"external_account_id" doc:"External id of the account, as select expects it"`
	DisplayName string `json:"display_name" doc:"Name of the account on the platform"`
	AvatarURL   string `json:"avatar_url" doc:"Picture of the account on the platform; empty: none"`
	Connected   bool   `json:"connected" doc:"Whether it is connected already; selecting it renews it"`
}

// Pending is a login with stored tokens and accounts that are still to be chosen.
type Pending struct {
	ID        id.ID
	Platform  string
	Kind      provider.Kind
	Account   *id.ID // the account to reconnect
	External  string // the external id of Account, "" for none
	Offers    []OfferedAccount
	Asked     bool // the provider has listed the accounts
	ExpiresAt wire.Time

	actor     Actor
	client    string
	subject   string
	scopes    []string
	grantedAt time.Time
	sealed    []byte
}

// Exchange exchanges the code of a callback for a token. Its error is the provider's: see Failure.
func (s *Service) Exchange(ctx context.Context, t *Taken, code provider.Secret) (provider.Token, error) {
	p, err := s.Providers.Get(t.Platform)
	if err != nil {
		return provider.Token{}, err
	}
	return p.Exchange(ctx, code, t.verifier, s.CallbackURL(t.Platform))
}

// Keep stores a new login's tokens in tx and enqueues their revocation for when the pending login expires. It must be
// called before any further request to the provider.
func (s *Service) Keep(ctx context.Context, tx *postgres.Tx, t *Taken, token provider.Token) (*Pending, error) {
	client, err := s.clientID(t.Platform)
	if err != nil {
		return nil, err
	}

	p := &Pending{
		ID: id.New(), Platform: t.Platform, Kind: t.Kind, Account: t.Account, actor: t.Actor, client: client,
		scopes:  notNil(token.Scopes),
		subject: token.Subject,
	}
	if p.sealed, err = s.sealMaterial(tx.Org(), p.ID, materialOf(token, nil)); err != nil {
		return nil, err
	}

	err = tx.QueryRow(ctx, `
		INSERT INTO social_pending (org_id, id, platform, kind, client_id, actor_type, actor_id, account_id, sealed,
			scopes, subject_id, granted_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp(), now() + $12::interval)
		RETURNING granted_at, expires_at, coalesce((SELECT external_account_id FROM social_account a
		WHERE a.org_id = $1 AND a.id = $8), '')`,
		[]any{
			tx.Org(), p.ID, p.Platform, string(p.Kind), p.client, p.actor.Type, p.actor.ID, p.Account, p.sealed,
			p.scopes, p.subject, PendingLife,
		},
		&p.grantedAt, &p.ExpiresAt, &p.External)
	if err != nil {
		return nil, fmt.Errorf("write pending login: %w", err)
	}

	return p, s.Revoke(ctx, tx, p.ID, p.ExpiresAt.Time)
}

// Reached is a provider's description of a login and of the accounts that it reaches.
type Reached struct {
	Login    provider.Login
	Accounts []provider.Account
}

// Ask asks the provider who has logged in and which accounts can be chosen. Its error is the provider's: see Failure.
// If the provider refuses a login that was not granted what it needs, the error is a fault that names it.
// The tokens stay stored in any case.
func (s *Service) Ask(ctx context.Context, org id.ID, p *Pending) (*Reached, error) {
	at, err := s.Providers.Of(p.Platform, p.client)
	if err != nil {
		return nil, err
	}

	m, err := s.openMaterial(org, p.ID, p.sealed)
	if err != nil {
		return nil, err
	}

	who, accounts, err := at.Login(ctx, m.asToken(p.scopes))
	if who.Scopes != nil {
		p.scopes = who.Scopes
	}
	if missing := p.MissingScopes(); isRefusal(err) && len(missing) > 0 {
		return nil, fault.New(fault.ProviderRefused, "The login was not granted "+strings.Join(missing, ", ")+
			". Begin the connection again, and allow that.")
	}
	if err != nil {
		return nil, err
	}

	return &Reached{who, accounts}, nil
}

// Offer stores, in tx, the accounts that can be chosen, and sets them in p.
func (s *Service) Offer(ctx context.Context, tx *postgres.Tx, p *Pending, r *Reached) error {
	m, err := s.openMaterial(tx.Org(), p.ID, p.sealed)
	if err != nil {
		return err
	}

	if r.Login.Scopes != nil {
		p.scopes = r.Login.Scopes
	}

	sealed, err := s.sealMaterial(tx.Org(), p.ID, materialOf(m.asToken(p.scopes), r.Accounts))
	if err != nil {
		return err
	}

	offers := []OfferedAccount{}
	for _, a := range r.Accounts {
		if !slices.ContainsFunc(offers, func(o OfferedAccount) bool { return o.ExternalID == a.ExternalID }) {
			offers = append(
				offers,
				OfferedAccount{
					ExternalID:  a.ExternalID,
					DisplayName: truncateName(a.DisplayName, 200),
					AvatarURL:   webURL(a.AvatarURL),
				},
			)
		}
	}

	raw, err := json.Marshal(offers)
	if err != nil {
		return fmt.Errorf("encode offers: %w", err)
	}

	n, err := tx.Exec(ctx,
		`UPDATE social_pending SET subject_id = $3, sealed = $4, accounts = $5, scopes = $6
			WHERE org_id = $1 AND id = $2 AND discarded_at IS NULL`,
		tx.Org(), p.ID, r.Login.Subject, sealed, string(raw), p.scopes)
	if err != nil {
		return fmt.Errorf("write offers: %w", err)
	}

	if n == 0 {
		return errNoPending
	}

	p.subject = r.Login.Subject
	p.sealed = sealed
	p.Offers = offers
	p.Asked = true

	return s.markConnected(ctx, tx, p)
}

// markConnected sets which of the offers are connected already.
func (s *Service) markConnected(ctx context.Context, tx *postgres.Tx, p *Pending) error {
	rows, err := tx.Query(ctx,
		`SELECT external_account_id FROM social_account WHERE org_id = $1 AND platform = $2
			AND disconnected_at IS NULL AND external_account_id = ANY ($3)`,
		tx.Org(), p.Platform, externalIDs(p.Offers))
	if err != nil {
		return fmt.Errorf("read connected accounts: %w", err)
	}

	defer rows.Close()

	for rows.Next() {
		var external string
		if err := rows.Scan(&external); err != nil {
			return fmt.Errorf("read connected accounts: %w", err)
		}
		for i := range p.Offers {
			p.Offers[i].Connected = p.Offers[i].Connected || p.Offers[i].ExternalID == external
		}
	}

	return rows.Err()
}

var errNoPending = fault.New(fault.NotFound, "There is no such pending connection.")

// Pending returns a login from which actor has still to choose; 404 if it belongs to another actor or has ended.
func (s *Service) Pending(ctx context.Context, tx *postgres.Tx, pending id.ID, actor Actor) (*Pending, error) {
	p, err := s.loadPending(ctx, tx, pending, actor, "")
	if err != nil {
		return nil, err
	}
	return p, s.markConnected(ctx, tx, p)
}

func (s *Service) loadPending(ctx context.Context, tx *postgres.Tx, pending id.ID, actor Actor,
	locking string,
) (*Pending, error) {
	p := &Pending{ID: pending, actor: actor}
	var (
		kind   string
		offers []byte
	)
	err := tx.QueryRow(ctx, `
		SELECT platform, kind, client_id, subject_id, account_id, sealed, accounts, scopes, granted_at, expires_at,
			coalesce((SELECT external_account_id FROM social_account a WHERE a.org_id = p.org_id
			AND a.id = p.account_id), '')
		FROM social_pending p
		WHERE org_id = $1 AND id = $2 AND actor_type = $3 AND actor_id = $4 AND discarded_at IS NULL
		AND sealed IS NOT NULL AND expires_at > now() `+locking,
		[]any{tx.Org(), pending, actor.Type, actor.ID},
		&p.Platform, &kind, &p.client, &p.subject, &p.Account, &p.sealed, &offers, &p.scopes, &p.grantedAt,
		&p.ExpiresAt, &p.External)
	switch {
	case postgres.None(err):
		return nil, errNoPending
	case err != nil:
		return nil, fmt.Errorf("read pending login: %w", err)
	}

	p.Kind = provider.Kind(kind)
	p.Asked = offers != nil
	if p.Asked {
		if err := json.Unmarshal(offers, &p.Offers); err != nil {
			return nil, fmt.Errorf("decode offers: %w", err)
		}
	}

	return p, nil
}

// MissingScopes returns what the login was not granted of what the accounts need.
func (p *Pending) MissingScopes() []string { return provider.MissingScopes(p.Platform, p.scopes) }

// Wrong reports whether p was to reconnect an account that its login does not reach.
func (p *Pending) Wrong() bool {
	return p.Account != nil && p.Asked && !slices.ContainsFunc(p.Offers, func(o OfferedAccount) bool {
		return o.ExternalID == p.External
	})
}

// Empty reports whether p's login reaches no account that could be connected.
func (p *Pending) Empty() bool { return p.Asked && len(p.Offers) == 0 }

// Only returns the one account that can be chosen: the one to reconnect, or the only offer.
func (p *Pending) Only() (external string, ok bool) {
	switch {
	case !p.Asked || p.Wrong():
		return "", false
	case p.Account != nil:
		return p.External, true
	case len(p.Offers) == 1:
		return p.Offers[0].ExternalID, true
	default:
		return "", false
	}
}

// Discard ends a pending login in tx: no account can be chosen from it any more, and its tokens are revoked.
func (s *Service) Discard(ctx context.Context, tx *postgres.Tx, pending id.ID) error {
	n, err := tx.Exec(ctx,
		`UPDATE social_pending SET discarded_at = now(), accounts = NULL WHERE org_id = $1 AND id = $2
			AND discarded_at IS NULL`, tx.Org(), pending)
	if err != nil {
		return fmt.Errorf("discard pending login: %w", err)
	}

	if n == 0 {
		return nil
	}

	return s.Revoke(ctx, tx, pending, time.Time{})
}

func (s *Service) clientID(platform string) (string, error) {
	p, err := s.Providers.Get(platform)
	if err != nil {
		return "", err
	}
	return p.ClientID(), nil
}

func externalIDs(offers []OfferedAccount) []string {
	all := make([]string, len(offers))
	for i, o := range offers {
		all[i] = o.ExternalID
	}
	return all
}

// truncateName truncates a name from an untrusted source.
func truncateName(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// webURL returns s if it is the web address of an image, and otherwise "", so that a page never gets a URL it could
// run.
func webURL(s string) string {
	s = truncateName(s, 2000)
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		return s
	}
	return ""
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Connected returns how many of the chosen accounts are connected already.
func (p *Pending) Connected(chosen []string) (n int) {
	for _, external := range chosen {
		if o := p.offerOf(external); o != nil && o.Connected {
			n++
		}
	}
	return n
}

// Returned reads the query of the platform's callback. The error is provider.ErrDenied if the person did not consent.
func (s *Service) Returned(t *Taken, query url.Values) (provider.Secret, error) {
	p, err := s.Providers.Get(t.Platform)
	if err != nil {
		return "", err
	}
	return p.Returned(query)
}
