package social

import (
	"context"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// How long things live.
const (
	StateLife   = 10 * time.Minute // from connect to callback
	PendingLife = 30 * time.Minute // from callback to select
	mailEvery   = 24 * time.Hour   // at most one mail about a grant
)

// Options of a Service.
type Options struct {
	Providers *provider.Set
	Box       *secret.Box
	PublicURL string // base of the callbacks, without a slash at the end

	// What a noun may not know itself is given to it. All of these write in the transaction that they get.
	//
	// Audit leaves an entry in the org's log.
	Audit func(ctx context.Context, tx *postgres.Tx, act Act)
	// Revoke asks for the end, at that time, of a pending login and its tokens.
	Revoke func(ctx context.Context, tx *postgres.Tx, pending id.ID, at time.Time) error
	// Tell asks for mails to those who look after the org: the grant needs a person to log in again.
	Tell func(ctx context.Context, tx *postgres.Tx, grant id.ID) error
	// OwnTokens asks for a look at the accounts of a grant that has a new token and whose accounts have tokens of their own:
	// Refresher.SyncAccounts. Nil: nobody asks.
	OwnTokens func(ctx context.Context, tx *postgres.Tx, grant id.ID) error
}

// Act is an entry for the org's log.
type Act struct {
	Action, Target, ID string
	Detail             map[string]any
}

// Service works on grants and accounts. It is safe for concurrent use and owns no goroutine.
type Service struct{ Options }

// New makes a Service and asks nobody.
func New(o Options) *Service {
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	return &Service{o}
}

// askOwnTokens asks, together with a login's new tokens, for those that its accounts have of their own: a process that
// ends in between leaves both or neither.
func (s *Service) askOwnTokens(ctx context.Context, tx *postgres.Tx, platform string, grant id.ID) error {
	p, err := s.Providers.Get(platform)
	if err != nil || !p.OwnTokens || s.OwnTokens == nil {
		return nil //nolint:nilerr // a platform that is no longer offered has nobody to ask
	}
	return s.OwnTokens(ctx, tx, grant)
}

// CallbackURL is where a platform sends a browser back to.
func (s *Service) CallbackURL(platform string) string {
	return s.PublicURL + "/oauth/" + platform + "/callback"
}

// lock makes tx the only one that changes which login an account of its org hangs on. Say it before any row is locked.
func lock(tx *postgres.Tx) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('social ' || $1::text, 0))`, tx.Org().String())
}
