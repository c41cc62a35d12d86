package mailboxes

import (
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Kinds of mailboxes.
const (
	SMTP      = "smtp"
	Google    = "google"
	Microsoft = "microsoft"
	Sandbox   = "sandbox"
)

// States.
const (
	Unverified = "unverified"
	Active     = "active"
	Held       = "held"
	Disabled   = "disabled"
)

// Ways to secure a connection.
const (
	TLS      = "tls"
	StartTLS = "starttls" // required
	NoTLS    = "none"     // only if private servers are allowed
)

const absent = "There is no such mailbox."

// unknown is the result of a DNS look-up that was not made or failed.
const unknown = "unknown"

// Service keeps mailboxes. It is safe for concurrent use.
type Service struct {
	Box *secret.Sealer // seals passwords
	// AllowPrivate lifts the rules on addresses, ports and TLS: FUNNELWORK_MAIL_ALLOW_PRIVATE.
	AllowPrivate bool
	// Own has the servers of the kinds google and microsoft. nil: the real ones.
	Own map[string]OwnServers
}
