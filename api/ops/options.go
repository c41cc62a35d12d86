package ops

import (
	"context"
	"log/slog"
	"net/http" // #nosec G108 -- mounted by hand below, behind the guard; the default mux is never served
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/tenants"
)

// Options are the dependencies and settings of a process's ops listener, for every role.
type Options struct {
	Role string // shown at /: "api", "worker", "scheduler" or "up"
	Log  *slog.Logger
	// Metrics is served at /metrics. NewOps adds metrics of the Go runtime and of the process.
	Metrics *prometheus.Registry

	DB *postgres.DB // checked by /readyz
	// System, together with DB, is used to act on jobs. Without it the dashboard is read-only and /jobs/ does not
	// exist.
	System      *postgres.DB
	Hooks       store.Hooks   // hooks of job kinds for operators' archive, drop and run actions
	Aliases     store.Aliases // of job kinds that are being renamed
	DatabaseURL string        // checked for pending migrations
	RedisURL    string        // checked by /readyz; the dashboard's Redis

	User, Password string   // basic auth: both or neither; required off loopback
	Hosts          []string // accepted Host names besides localhost and IP addresses
	ReadOnly       bool     // makes the dashboard and /jobs/ read-only
	Worker         Slots    // this process's worker; nil if it runs no jobs

	// Orgs, together with System, is used to act on orgs. Without it /orgs/ does not exist.
	Orgs *tenants.Service

	// Ending reports whether the process is shutting down. From then on /readyz returns 503 while open work finishes.
	// Nil: never.
	Ending func() bool

	// NotConfigured lists the parts which the install lacks, for /readyz.
	NotConfigured []httpx.Part
	// Ready are additional checks of /readyz, by name. Of their error texts, /readyz shows only ErrUnpublished.
	Ready map[string]func(context.Context) error

	// Serves reports whether a TLS server may obtain a certificate for a name. It is called on every first handshake
	// and must answer from memory. Nil: for no name.
	Serves func(name string) bool

	// Mounts are additional handlers by path prefix, such as "/sandbox/inbox/". A prefix with a trailing slash matches
	// everything below it. Handlers get the full path, behind the same guard as the rest.
	Mounts map[string]http.Handler
	// Receivers are the mounts that accept POSTs from this machine without the password, since the sender of webhooks
	// to the sandbox's inbox has none.
	Receivers []string
}

func isChange(r *http.Request) bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method)
}

// Slots is a worker with adjustable concurrency.
type Slots interface {
	// Concurrency returns the number of jobs run concurrently.
	Concurrency() int
	// SetConcurrency changes the concurrency. Jobs that are running are not affected.
	SetConcurrency(ctx context.Context, n int) error
}
