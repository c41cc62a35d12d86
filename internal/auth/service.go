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

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// How long things live.
const (
	accessLife  = 15 * time.Minute
	refreshLife = 30 * 24 * time.Hour // of a whole family
	graceTime   = 10 * time.Second    // a used refresh token may ask for its lost answer again
	resetLife   = time.Hour
	verifyLife  = 7 * 24 * time.Hour
	leeway      = 10 * time.Second // between the clocks of two machines
	// roleLife is how long a role, and that its session lives, may be taken from memory. Half of the second within
	// which every process has to act on a change: the other half is for the request itself.
	roleLife = 500 * time.Millisecond
)

// Options of a Service.
type Options struct {
	System *postgres.DB // logins, people, signing keys
	App    *postgres.DB // roles, API keys and refresh tokens, under the org that the credential names
	Box    *secret.Box
	// Issuer is the public address of the API: iss of every token.
	Issuer string
	// Audience is aud of every token; "funnelwork" when empty.
	Audience string
	// Redis holds the counters of throttling for all processes. Nil, or a server that is away: each process
	// counts for itself. Give it a client with short timeouts and no retries.
	Redis redis.UniversalClient
	// Unlimited switches off the limits per IP address, for private installs and load tests. The throttle of
	// failed logins stays.
	Unlimited bool
	Log       *slog.Logger
	Metrics   *Metrics // nil: none
	// Lead is how long a new signing key is published before it signs; 10 minutes when 0.
	Lead time.Duration
	// Reload is how often the signing keys are read again; 30 s when 0.
	Reload time.Duration
}

// Service checks credentials and gives them out. It is safe for concurrent use and owns no goroutine.
type Service struct {
	Options
	ring     atomic.Pointer[keyring]
	ringLock sync.Mutex
	asked    time.Time // when an unknown key id last led to a reading; under ringLock

	tokens generations[digest, token]
	roles  generations[roleKey, *roleCacheEntry]
	keys   generations[digest, *roleCacheEntry]

	hashing chan struct{} // one slot per core: a hash takes 19 MiB
	counts  counters
	turns   turns
}

// New makes a Service. Nothing is read before the first use.
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
	s.tokens.half, s.roles.half, s.keys.half = 1<<15, 1<<15, 1<<13
	s.counts = newCounters(o.Redis, o.Log)
	return s
}

// Verify checks a bearer credential, a user's access token or an API key, and returns its principal with the
// role as it was at most roleLife before the call. It refuses with fault.Unauthorized (none given),
// fault.InvalidToken (wrong, expired, a revoked key) or fault.SessionEnded (a genuine token whose session is over:
// logged out, its password changed, its member removed); any other error is a database that is away.
//
// A token that was seen before costs a hash and two look-ups in memory, and once per roleLife a query.
func (s *Service) Verify(ctx context.Context, bearer string) (Who, error) {
	if bearer == "" {
		return Who{}, fault.New(fault.Unauthorized, "A bearer token or an API key is needed.")
	}
	if len(bearer) > maxBearer {
		return Who{}, errToken
	}
	sum, now := digestOf(bearer), time.Now()
	if strings.HasPrefix(bearer, keyPrefix) {
		return s.verifyKey(ctx, bearer, sum, now)
	}
	t, ok := s.tokens.get(sum)
	if !ok {
		var err error
		if t, err = s.parse(ctx, bearer, now); err != nil {
			return Who{}, err
		}
		s.tokens.put(sum, t)
	}
	if !now.Before(t.expires) {
		return Who{}, errToken
	}
	found, err := s.role(ctx, t, now)
	if err != nil {
		return Who{}, err
	}
	return Who{
		Org: t.org, User: t.user, Role: found.Role, Session: t.session, RatePerMinute: found.RatePerMinute, Closed: found.Closed, Staff: t.staff,
	}, nil
}

// Again is Verify without what this process remembers of the org and the role: for an answer that a second's delay
// would make wrong.
func (s *Service) Again(ctx context.Context, bearer string) (Who, error) {
	w, err := s.Verify(ctx, bearer)
	if err != nil {
		return w, err
	}
	if w.IsKey() {
		s.keys.drop(digestOf(bearer))
	} else {
		s.roles.drop(roleKey{w.Org, w.User, w.Session})
	}
	return s.Verify(ctx, bearer)
}

// maxBearer bounds what is hashed and parsed for anybody.
const maxBearer = 2048

// errToken is one answer for everything that is wrong with a credential.
var errToken = fault.New(fault.InvalidToken, "The token or key is not valid.")
