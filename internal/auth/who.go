// Package auth authenticates callers: passwords, tokens, API keys, roles, and their revocation.
package auth

import "github.com/funnelwork/funnelwork/internal/id"

// Role is the rights of a principal in its org. Each role includes the ones before it.
type Role string

// The roles, in ascending order.
const (
	Viewer Role = "viewer" // reads
	Member Role = "member" // also writes CRM, mail and AI
	Admin  Role = "admin"  // also members, keys, webhooks, accounts, brand, custom fields
	Owner  Role = "owner"  // also billing and ownership
)

var ranks = map[Role]int{Viewer: 1, Member: 2, Admin: 3, Owner: 4}

// Valid reports whether r is a known role.
func (r Role) Valid() bool { return ranks[r] > 0 }

// Includes reports whether r has the rights of need.
func (r Role) Includes(need Role) bool { return ranks[r] >= ranks[need] }

// Who is the verified principal of one request: a user by token, or an org's API key.
type Who struct {
	Org  id.ID
	User id.ID // zero for a key
	Key  id.ID // zero for a user
	Role Role
	// Session is the login that issued the user's token: a family of refresh tokens. It is zero for a key.
	Session id.ID
	// RatePerMinute is the request rate of the org's plan; 0 for the default.
	RatePerMinute int
	// Closed is the reason why the org is read-only, or suspended, at the moment.
	Closed Closed
	// Staff is the agency for which the user acts in a client's org, else zero.
	Staff id.ID
	// Client is the client that the token was issued to.
	Client Client
}

// Client is the kind of client that a session's tokens are issued to. It limits who may refresh the session, and
// selects the rate limit of its requests. It grants no rights.
type Client string

// The clients.
const (
	AnyClient Client = ""        // every caller of the API
	Console   Client = "console" // the web console, which keeps its refresh token in a cookie
)

// Closed is a reason why an org is read-only, or closed altogether.
type Closed string

// The reasons.
const (
	Open       Closed = ""            // not read-only
	TrialEnded Closed = "trial_ended" // without a payment
	Paused     Closed = "paused"      // by its agency
	Suspended  Closed = "suspended"   // by an operator: not even readable
)

// closedSQL returns the reason for org o.
const closedSQL = `CASE WHEN o.suspended_at IS NOT NULL THEN 'suspended' WHEN o.paused_at IS NOT NULL THEN 'paused'
	WHEN o.writes_until <= now() THEN 'trial_ended' ELSE '' END`

// IsKey reports whether the principal is an API key. A key never has rights over members and keys.
func (w Who) IsKey() bool { return !w.Key.IsZero() }

// Actor returns the principal as events and the audit log name it.
func (w Who) Actor() (kind, ident string) {
	if w.IsKey() {
		return "api_key", w.Key.String()
	}
	return "user", w.User.String()
}
