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

// Lifetimes.
const (
	StateLife   = 10 * time.Minute // from connect to callback
	PendingLife = 30 * time.Minute // from callback to select
	mailEvery   = 24 * time.Hour   // between two mails about a grant
)

// Options configures a Service.
type Options struct {
	Providers *provider.Set
	Box       *secret.Sealer
	PublicURL string // base URL of the callbacks, without a trailing slash

	// The following callbacks connect this package to others. Each writes in the transaction that it is given.
	//
	// Audit writes an entry to the org's audit log.
	Audit func(ctx context.Context, tx *postgres.Tx, act Act)
	// Revoke enqueues the end, at the given time, of a pending login and its tokens.
	Revoke func(ctx context.Context, tx *postgres.Tx, pending id.ID, at time.Time) error
	// Tell enqueues mails to the people who manage the org: the grant needs a new login.
	Tell func(ctx context.Context, tx *postgres.Tx, grant id.ID) error
	// OwnTokens enqueues Refresher.SyncAccounts for a grant that has a new token and has accounts with their own
	// tokens. It may be nil.
	OwnTokens func(ctx context.Context, tx *postgres.Tx, grant id.ID) error
}

// Act is an entry for the org's audit log.
type Act struct {
	Action, Target, ID string
	Detail             map[string]any
}

// Service manages grants and accounts. It is safe for concurrent use and starts no goroutine.
type Service struct{ Options }

// New returns a Service; it makes no request.
func New(o Options) *Service {
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	return &Service{o}
}

// askOwnTokens enqueues, in the transaction that stores a login's new tokens, the renewal of its accounts' own tokens,
// so that a crash leaves both or neither.
func (s *Service) askOwnTokens(ctx context.Context, tx *postgres.Tx, platform string, grant id.ID) error {
	p, err := s.Providers.Get(platform)
	if err != nil || !p.OwnTokens || s.OwnTokens == nil {
		return nil //nolint:nilerr // a platform that is no longer offered has nobody to ask
	}
	return s.OwnTokens(ctx, tx, grant)
}

// CallbackURL returns the URL to which a platform redirects the browser.
func (s *Service) CallbackURL(platform string) string {
	return s.PublicURL + "/oauth/" + platform + "/callback"
}

// lockAccounts takes the org lock for tx, which serializes changes to which grant an account belongs to. It must be
// called before any row is locked.
func lockAccounts(tx *postgres.Tx) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('social ' || $1::text, 0))`, tx.Org().String())
}
