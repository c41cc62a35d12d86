package httpx

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// Config is what a Server depends on, and its settings.
type Config struct {
	DB *postgres.DB // app role; commits enqueue jobs
	// Reads reads what may come from a standby. Nil: from DB.
	Reads *standby.Reader
	Log   *slog.Logger
	Auth  *auth.Service  // verifies the credential of each request
	Box   *secret.Sealer // seals cursors and stored responses that contain a secret
	// Limits limits the rate of requests per org and per address. Nil switches rate limits off.
	Limits *limits.Limiter
	// Requests keeps the requests of each org. Nil: nothing is kept.
	Requests *requestlog.Recorder
	Metrics  *Metrics      // request metrics; nil: none
	Tracer   *spans.Tracer // traces requests; nil: none
	Plans    Plans         // what the orgs' plans allow
	// Audit adds the audit log entry of a change that an agency's staff makes in a client org. op is its method and
	// route, path its path.
	Audit func(ctx context.Context, tx *postgres.Tx, agency id.ID, op, path string)
	// Hosts maps a host to its org. Nil: there are no custom domains.
	Hosts HostResolver

	// NotConfigured lists the parts which the install lacks. Their operations return 503 not_configured.
	NotConfigured []Part

	PublicURL      string         // base of every link, without a trailing slash
	CORSOrigins    []string       // exact origins allowed to call from browsers; default none
	TrustedProxies []netip.Prefix // proxies trusted to set X-Forwarded-For

	DrainDelay time.Duration // how long Serve keeps serving after its context has ended

	About    string            // description of the API document
	Describe func(o Op) string // returns the description of an operation
	Tags     []*huma.Tag       // the groups of operations, in the order of the document

	// Contract is that of another Server of this process, which has the same operations. Nil: a new one.
	Contract *Contract
}

// Plans reports what the orgs' plans allow.
type Plans interface {
	// Need returns feature_not_in_plan if the org does not have the feature.
	Need(ctx context.Context, org id.ID, feature string) error
	// Refused converts an error of the database about a reached limit to its fault. It returns nil for other errors.
	Refused(err error) *fault.Fault
	// Next returns the plan that an org without one should choose.
	Next() string
}

// HostResolver resolves a host (lower case, without a port) to the org that it serves, from memory.
type HostResolver interface {
	Org(host string) (id.ID, bool)
}

// Server is the HTTP server of the API: it authenticates, limits and validates requests, and writes responses. Its
// operations are mounted with route.
type Server struct {
	Config
	Fiber *fiber.App
	Huma  huma.API // of the Contract
	Ops   []*Op    // every mounted operation, in order

	adapter  huma.Adapter // mounts operations in Fiber
	draining atomic.Bool  // the process is shutting down
	streams  streams
}

// Limits per connection and per request.
const (
	readTimeout    = 30 * time.Second // from first to last byte of a request
	writeTimeout   = 60 * time.Second
	idleTimeout    = 75 * time.Second // between two requests of a connection
	requestTime    = 20 * time.Second // a handler's deadline
	stopTime       = 25 * time.Second // for open requests at shutdown
	headerBytes    = 16 << 10
	bodyBytes      = 1 << 20 // default limit of a JSON body
	BatchBodyBytes = 8 << 20
)
