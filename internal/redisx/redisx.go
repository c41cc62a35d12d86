// Package redisx opens Redis from one URL, for one of two uses that must not share a client.
//
// # Why two
//
// A request must not wait for a Redis that is away: go-redis by default dials five times and tries four times,
// which makes 1.8 s of a refused connection and 5 s of a hung one. With one dial, no retry and 50 ms it is
// below 1 ms and 51 ms. A worker's loop without those pauses, though, spins at full speed while Redis is away.
package redisx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Use says who the client is for.
type Use int

// The two uses.
const (
	// Request gives up after 50 ms and tries once: a command that was sent may have been run, and a second try
	// would count twice.
	Request Use = iota
	// Worker waits and retries as go-redis does.
	Worker
)

// patience is the longest that a request waits for each of a dial, a free connection, a write and a read.
const patience = 50 * time.Millisecond

// Open makes a client without connecting. The URL is one of
//
//	redis://[user:password@]host[:port][/db], rediss:// with TLS, unix://[user:password@]/path[?db=0]
//	redis+sentinel://[user:password@]host,host.../master[/db][?sentinel_username=&sentinel_password=]
//	redis+cluster://[user:password@]host,host..., as is redis:// with more than one host
//
// and takes the query parameters of redis.ParseURL beside these, timeouts included, which win over the use's.
func Open(address string, use Use) (redis.UniversalClient, error) {
	t, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("read REDIS_URL: %w", err)
	}
	t.tune(use)
	switch {
	case t.master != "":
		o := t.universal()
		o.MasterName, o.SentinelUsername, o.SentinelPassword = t.master, t.sentinelUser, t.sentinelPassword
		return redis.NewFailoverClient(o.Failover()), nil
	case t.cluster:
		return newCluster(t.universal().Cluster()), nil
	default:
		return redis.NewClient(t.Options), nil
	}
}

// target is a URL taken apart.
type target struct {
	*redis.Options
	hosts                          []string
	cluster                        bool
	master                         string
	sentinelUser, sentinelPassword string
}

// parse reads address. Errors do not repeat it, as it bears the password.
func parse(address string) (target, error) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return target{}, errForm
	}
	scheme, kind, _ := strings.Cut(scheme, "+")
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@') + 1
	hosts := strings.Split(authority[at:], ",")
	t := target{cluster: kind == "cluster" || kind == "" && len(hosts) > 1}
	query := url.Values{}
	if i := strings.IndexByte(path, '?'); i >= 0 {
		var err error
		if query, err = url.ParseQuery(path[i+1:]); err != nil {
			return target{}, errForm
		}
		path = path[:i]
	}
	switch kind {
	case "", "cluster":
	case "sentinel":
		t.master, path, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if path = "/" + path; t.master == "" {
			return target{}, fmt.Errorf("%w: no master is named", errForm)
		}
		t.sentinelUser, t.sentinelPassword = query.Get("sentinel_username"), query.Get("sentinel_password")
		query.Del("sentinel_username")
		query.Del("sentinel_password")
	default:
		return target{}, errForm
	}
	var err error
	t.Options, err = redis.ParseURL(scheme + "://" + authority[:at] + hosts[0] + path + "?" + query.Encode())
	if err != nil {
		if u, ok := err.(*url.Error); ok { //nolint:errorlint // its text holds the URL, so it is never wrapped
			return target{}, fmt.Errorf("%w: %w", errForm, u.Err)
		}
		return target{}, err
	}
	standard := "6379"
	if t.master != "" {
		standard = "26379"
	}
	for _, h := range hosts {
		if !strings.Contains(h, ":") || strings.HasSuffix(h, "]") {
			h += ":" + standard
		}
		t.hosts = append(t.hosts, h)
	}
	return t, nil
}

var errForm = errors.New("it is none of redis://, rediss://, unix://, redis+sentinel://, redis+cluster://")

func (t target) tune(use Use) {
	o := t.Options
	o.ContextTimeoutEnabled = true
	if o.Protocol == 0 {
		o.Protocol = 2 // the third adds a look for pushed messages to every reply, and nothing that is used here
	}
	// Neither is known to Redis 6.2, and each is a round trip of every new connection.
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if use == Worker {
		return
	}
	o.MaxRetries, o.DialerRetries = -1, 1
	for _, d := range []*time.Duration{&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout} {
		if *d == 0 {
			*d = patience
		}
	}
	if o.PoolSize == 0 {
		o.PoolSize = 64
	}
}

func (t target) universal() *redis.UniversalOptions {
	o := t.Options
	return &redis.UniversalOptions{
		Addrs: t.hosts, DB: o.DB, ClientName: o.ClientName, Protocol: o.Protocol, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
		MaxRetries: o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		ContextTimeoutEnabled: o.ContextTimeoutEnabled, PoolSize: o.PoolSize, PoolTimeout: o.PoolTimeout,
		MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime,
		DisableIdentity: o.DisableIdentity, MaintNotificationsConfig: o.MaintNotificationsConfig,
	}
}

// LogTo sends what go-redis has to say, which it otherwise prints, to log at debug level: the callers of a
// Redis that is away already say so. It holds for the whole process.
func LogTo(log *slog.Logger) { redis.SetLogger(logger{log}) }

type logger struct{ log *slog.Logger }

func (l logger) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, "redis client", "said", fmt.Sprintf(format, v...))
}
