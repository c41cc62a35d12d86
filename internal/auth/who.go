// Package auth knows who is asking: passwords, tokens, API keys, roles and what revokes them.
package auth

import "github.com/funnelwork/funnelwork/internal/id"

// Role is what a principal may do in its org; each includes the ones before it.
type Role string

// The roles, in rising order.
const (
	Viewer Role = "viewer" // reads
	Member Role = "member" // also writes CRM, mail and AI
	Admin  Role = "admin"  // also members, keys, webhooks, accounts, brand, custom fields
	Owner  Role = "owner"  // also billing and ownership
)

var ranks = map[Role]int{Viewer: 1, Member: 2, Admin: 3, Owner: 4}

// Valid tells whether r is a role at all.
func (r Role) Valid() bool { return ranks[r] > 0 }

// Includes tells whether r may do what need asks for.
func (r Role) Includes(need Role) bool { return ranks[r] >= ranks[need] }

// Who is the verified principal of one request: a user by token, or an org's API key.
type Who struct {
	Org  id.ID
	User id.ID // zero for a key
	Key  id.ID // zero for a user
	Role Role
	// Session is the login that the user's token came from: a family of refresh tokens. Zero for a key.
	Session id.ID
	// RatePerMinute is what the org's plan raised its request rate to; 0 for the default.
	RatePerMinute int
	// Closed says why the org is only read from at the moment.
	Closed Closed
	// Staff is the agency on whose behalf the user acts in a client's org; zero for everybody else.
	Staff id.ID
}

// Closed is a reason why an org is only read from.
type Closed string

// The reasons.
const (
	Open       Closed = ""            // it is not
	TrialEnded Closed = "trial_ended" // and nothing is paid yet
	Paused     Closed = "paused"      // by its agency
)

// closedSQL is the reason for org o.
const closedSQL = `CASE WHEN o.paused_at IS NOT NULL THEN 'paused' WHEN o.writes_until <= now() THEN 'trial_ended' ELSE '' END`

// IsKey tells an API key from a person. A key never has rights over members and keys.
func (w Who) IsKey() bool { return !w.Key.IsZero() }

// Actor is the principal as events and the audit log name it.
func (w Who) Actor() (kind, ident string) {
	if w.IsKey() {
		return "api_key", w.Key.String()
	}
	return "user", w.User.String()
}
