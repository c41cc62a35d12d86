package auth

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/bounded"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Lifetimes.
const (
	accessLife  = 15 * time.Minute
	refreshLife = 30 * 24 * time.Hour // of a whole family
	graceTime   = 10 * time.Second    // in which a used refresh token may request its lost response again
	resetLife   = time.Hour
	verifyLife  = 7 * 24 * time.Hour
	leeway      = 10 * time.Second // between the clocks of two machines
	// roleLife is how long a role, and the fact that its session is live, may be cached. It is half of the second
	// within which every process must act on a change; the other half is for the request itself.
	roleLife = 500 * time.Millisecond
)

// Options configures a Service.
type Options struct {
	System *postgres.DB // for logins, users and signing keys
	App    *postgres.DB // for roles, API keys and refresh tokens, under the credential's org
	Box    *secret.Sealer
	// Issuer is the public address of the API, the iss of every token.
	Issuer string
	// Audience is the aud of every token; "funnelwork" if empty.
	Audience string
	// Redis holds the throttling counters for all processes. If it is nil or unavailable, each process counts for
	// itself. The client should have short timeouts and no retries.
	Redis redis.UniversalClient
	// Unlimited disables the limits per IP address, for private installations and load tests. Failed logins are still
	// throttled.
	Unlimited bool
	Log       *slog.Logger
	Metrics   *Metrics // optional
	// Lead is how long a new signing key is published before it signs; 10 minutes if 0.
	Lead time.Duration
	// Reload is the interval at which the signing keys are read; 30 s if 0.
	Reload time.Duration
}

// Service verifies and issues credentials. It is safe for concurrent use and starts no goroutine.
type Service struct {
	Options
	ring     atomic.Pointer[keyring]
	ringLock sync.Mutex
	asked    time.Time // when an unknown key id last triggered a read; guarded by ringLock

	tokens bounded.Map[digest, token]
	roles  bounded.Map[roleKey, *roleCacheEntry]
	keys   bounded.Map[digest, *roleCacheEntry]

	hashing chan struct{} // one slot per core: a hash takes 19 MiB
	counts  counters
	turns   turns
}

// New returns a Service. It reads nothing before the first use.
func New(o Options) *Service {
	if o.Audience == "" {
		o.Audience = "funnelwork"
	}
	if o.Lead == 0 {
		o.Lead = 10 * time.Minute
	}
	if o.Reload == 0 {
		o.Reload = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}

	s := &Service{Options: o, hashing: make(chan struct{}, runtime.GOMAXPROCS(0))}
	s.tokens.Half = 1 << 15
	s.roles.Half = 1 << 15
	s.keys.Half = 1 << 13
	s.counts = newCounters(o.Redis, o.Log)

	return s
}

// Verify checks a bearer credential, a user's access token or an API key, and returns its principal with the role as it
// was at most roleLife before the call. It returns fault.Unauthorized (no credential), fault.InvalidToken (wrong,
// expired, or a revoked key) or fault.SessionEnded (a genuine token whose session has ended: logged out, password
// changed, member removed). Any other error means that the database is unavailable.
//
// A token that was seen before costs a hash and two look-ups in memory, and a query once per roleLife.
func (s *Service) Verify(ctx context.Context, bearer string) (Who, error) {
	if bearer == "" {
		return Who{}, fault.New(fault.Unauthorized, "A bearer token or an API key is needed.")
	}
	if len(bearer) > maxBearer {
		return Who{}, errToken
	}

	sum := digestOf(bearer)
	now := time.Now()
	if strings.HasPrefix(bearer, keyPrefix) {
		return s.verifyKey(ctx, bearer, sum, now)
	}

	t, ok := s.tokens.Get(sum)
	if !ok {
		var err error
		if t, err = s.verifyAccess(ctx, bearer, now); err != nil {
			return Who{}, err
		}
		s.tokens.Put(sum, t)
	}
	if !now.Before(t.expires) {
		return Who{}, errToken
	}

	found, err := s.cachedRole(ctx, t, now)
	if err != nil {
		return Who{}, err
	}

	return Who{
		Org: t.org, User: t.user, Role: found.Role, Session: t.session, RatePerMinute: found.RatePerMinute,
		Closed: found.Closed, Staff: t.staff, Client: t.client,
	}, nil
}

// Again is Verify without this process's caches of the org and the role, for responses that a second's delay would make
// wrong.
func (s *Service) Again(ctx context.Context, bearer string) (Who, error) {
	w, err := s.Verify(ctx, bearer)
	if err != nil {
		return w, err
	}
	if w.IsKey() {
		s.keys.Drop(digestOf(bearer))
	} else {
		s.roles.Drop(roleKey{w.Org, w.User, w.Session})
	}

	return s.Verify(ctx, bearer)
}

// maxBearer is the maximum length of a credential that is hashed and parsed for an unknown caller.
const maxBearer = 2048

// errToken is the same error for every invalid credential.
var errToken = fault.New(fault.InvalidToken, "The token or key is not valid.")
