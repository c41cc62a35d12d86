package httpx

import (
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
)

// access is what an operation requires of its caller.
type access struct {
	Role   auth.Role // "" for public
	NoKeys bool      // refuses API keys of any role
	// noStaff refuses an agency's staff. It protects what outlives the staff's access, and the rights of users in the
	// org.
	noStaff bool
}

// RefusesStaff reports whether an agency's staff may not call the operation in a client organization.
func (a access) RefusesStaff() bool { return a.noStaff }

// The levels of the permission table.
var (
	Public  = access{}
	Viewer  = access{Role: auth.Viewer}
	Member  = access{Role: auth.Member}
	Admin   = access{Role: auth.Admin}
	Owner   = access{Role: auth.Owner}
	Persons = func(r auth.Role) access { return access{Role: r, NoKeys: true} }
	// members is for operations reserved to the org's own users: members, invitations, keys, passwords, sessions.
	Members = func(r auth.Role) access { return access{Role: r, NoKeys: true, noStaff: true} }
)

// Op describes one operation for the router, the guard and the API document.
type Op struct {
	// ID is the operation's id in the API document, noun.verb: SDKs make their method names of it. It must be unique.
	ID           string
	Method, Path string
	Need         access
	Tag          string   // group in the document
	Title        string   // summary in one line
	Status       int      // success status; 200 if 0
	Also         []int    // further success statuses with the same body
	Writes       []string // event types and job kinds it may write; see testdata/effects.golden
	// Secret marks a response that contains a secret. Its stored form is encrypted, and it is never compressed.
	Secret  bool
	MaxBody int64 // bytes; 1 MiB if 0
	// Shrink, if set, reads the body as it arrives and returns what the handler gets of it, so that a large one is
	// never whole in memory.
	Shrink  func(io.Reader) ([]byte, error)
	Open    bool   // allowed for a read-only org, since it changes none of its data
	Part    Part   // required part, else 503 not_configured
	Feature string // required plan feature, else 402 feature_not_in_plan
	ByRow   bool   // the handler validates the body, not huma
	// Signed marks a public operation whose requests have a token or a signature. Only requests with an invalid one
	// count against their address; the handler reports them with Unverified.
	Signed  bool
	Console bool         // public, honours the console's cookie, only for pages of the host that is asked
	Takes   []string     // media types of a body that is not JSON
	Form    *huma.Schema // multipart/form-data body, read by the handler as it arrives
	Gives   []string     // media types of a response that is not JSON
	// Foreign marks an address to which other services redirect a browser once. Unknown parameters are ignored (RFC
	// 6749, 4.1.2), and it has no HEAD.
	Foreign bool
	// AnyQuery marks an address to whose links other programs add parameters of their own. Unknown ones are ignored.
	AnyQuery bool
	May      []int // error statuses besides the common ones

	derived
}

// derived is what the document says about an operation's request.
type derived struct {
	queries   map[string]bool   // known query parameters; true: may not be empty
	silent    map[string]string // default values of query parameters
	shape     Shape             // of the JSON body
	TakesJSON bool              // takes a JSON body
	merge     bool              // which may be a merge patch
	needsBody bool              // which is required
}

// Keyed reports whether an Idempotency-Key has effect: on every POST and PATCH except those of /auth.
func (o *Op) Keyed() bool {
	return (o.Method == http.MethodPost || o.Method == http.MethodPatch) && !strings.HasPrefix(o.Path, "/api/v1/auth/")
}

// isBodyless reports whether the operation is a POST or PUT without a body.
func (o *Op) isBodyless() bool {
	return !o.TakesJSON && o.Takes == nil && o.Form == nil && !o.Signed &&
		(o.Method == http.MethodPost || o.Method == http.MethodPut)
}

const keyHeader = "Idempotency-Key"
