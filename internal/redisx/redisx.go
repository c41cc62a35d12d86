// Package redisx opens Redis from one URL, for one of two profiles that must not share a client.
//
// # Why two
//
// A request must not wait for an unavailable Redis. By default go-redis dials five times and tries four times, which
// takes 1.8 s for a refused connection and 5 s for a hung one. With one dial, no retry and 50 ms it takes less than 1
// ms and 51 ms. A worker's loop without those pauses, though, spins at full speed while Redis is unavailable.
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

// Profile is the intended use of a client.
type Profile int

// The profiles.
const (
	// Request gives up after 50 ms and tries once: a command that was sent may have run, and a retry would count twice.
	Request Profile = iota
	// Worker waits and retries as go-redis does by default.
	Worker
)

// patience is a request's timeout for each of a dial, a free connection, a write and a read.
const patience = 50 * time.Millisecond

// Open returns a client without connecting. The URL is one of
//
//	redis://[user:password@]host[:port][/db], rediss:// with TLS, unix://[user:password@]/path[?db=0]
//	redis+sentinel://[user:password@]host,host.../master[/db][?sentinel_username=&sentinel_password=]
//	redis+cluster://[user:password@]host,host..., as is redis:// with more than one host
//
// It also takes the query parameters of redis.ParseURL. Timeouts among them override the profile's.
func Open(address string, use Profile) (redis.UniversalClient, error) {
	t, err := parseAddress(address)
	if err != nil {
		return nil, fmt.Errorf("read REDIS_URL: %w", err)
	}

	t.tuneFor(use)

	switch {
	case t.master != "":
		o := t.universalOptions()
		o.MasterName = t.master
		o.SentinelUsername = t.sentinelUser
		o.SentinelPassword = t.sentinelPassword
		return redis.NewFailoverClient(o.Failover()), nil
	case t.cluster:
		return newCluster(t.universalOptions().Cluster()), nil
	default:
		return redis.NewClient(t.Options), nil
	}
}

// target is a parsed URL.
type target struct {
	*redis.Options
	hosts                          []string
	cluster                        bool
	master                         string
	sentinelUser, sentinelPassword string
}

// parseAddress parses address. Its errors do not contain address, which may have the password.
func parseAddress(address string) (target, error) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return target{}, errForm
	}

	scheme, kind, _ := strings.Cut(scheme, "+")
	authority := rest
	path := ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
		path = rest[i:]
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
			return target{}, fmt.Errorf("%w: missing master name", errForm)
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

var errForm = errors.New("want redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://")

func (t target) tuneFor(use Profile) {
	o := t.Options
	o.ContextTimeoutEnabled = true
	if o.Protocol == 0 {
		o.Protocol = 2 // RESP3 adds a check for push messages to every reply, and nothing that we use
	}

	// Redis 6.2 knows neither, and each costs a round trip per new connection.
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if use == Worker {
		return
	}

	o.MaxRetries = -1
	o.DialerRetries = 1
	for _, d := range []*time.Duration{&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout} {
		if *d == 0 {
			*d = patience
		}
	}

	if o.PoolSize == 0 {
		o.PoolSize = 64
	}
}

func (t target) universalOptions() *redis.UniversalOptions {
	o := t.Options
	return &redis.UniversalOptions{
		Addrs: t.hosts, DB: o.DB, ClientName: o.ClientName, Protocol: o.Protocol, Username: o.Username,
		Password: o.Password, TLSConfig: o.TLSConfig,
		MaxRetries: o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries, ReadTimeout: o.ReadTimeout,
		WriteTimeout:          o.WriteTimeout,
		ContextTimeoutEnabled: o.ContextTimeoutEnabled, PoolSize: o.PoolSize, PoolTimeout: o.PoolTimeout,
		MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns, ConnMaxIdleTime: o.ConnMaxIdleTime,
		ConnMaxLifetime: o.ConnMaxLifetime,
		DisableIdentity: o.DisableIdentity, MaintNotificationsConfig: o.MaintNotificationsConfig,
	}
}

// LogTo sends the log of go-redis, which it would otherwise print, to log at debug level: the callers already report an
// unavailable Redis. It applies to the whole process.
func LogTo(log *slog.Logger) { redis.SetLogger(logger{log}) }

type logger struct{ log *slog.Logger }

func (l logger) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, "redis client message", "said", fmt.Sprintf(format, v...))
}
