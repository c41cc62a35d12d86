package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Sending is what is needed to send from a mailbox.
type Sending struct {
	ID       id.ID
	Kind     string
	Host     string // the kind's own server for google and microsoft; "" for sandbox
	Port     int
	TLS      string      // tls, starttls or none
	Username string      // "": no sign-in
	Password secret.Text // "" for google and microsoft, which sign in with a token of SocialAccountID
	// SocialAccountID is the account whose login google and microsoft use.
	SocialAccountID *id.ID

	FromEmail, FromName, FromDomain string
	ReplyTo                         *string
	SignatureHTML                   string
	TimeZone                        string
	TrackOpens, TrackClicks         bool

	Status        string
	StatusReason  string
	HeldUntil     *time.Time // while held; nil: until it is resumed
	DailyCap      *int       // nil: none
	RatePerSecond *int       // nil: none
	SentProof     bool       // what is absent from its Sent folder was not sent
	refused       bool       // the server has refused sign-ins or the sender since it accepted a mail
	silent        bool       // the server could not be reached, or did not respond, when it was called last
}

// MaySend reports whether the mailbox may send now. A hold that has ended counts as active, before the sweep says so.
func (s *Sending) MaySend(now time.Time) bool {
	return s.Status == Active || s.Status == Held && s.HeldUntil != nil && !now.Before(*s.HeldUntil)
}

// WaitedUntil returns when a hold of the mailbox ended that the sweep has not cleared yet; zero: there is none. Mails
// that were due before waited for it.
func (s *Sending) WaitedUntil() time.Time {
	if s.Status == Held && s.HeldUntil != nil {
		return *s.HeldUntil
	}
	return time.Time{}
}

// ForSending returns a live mailbox of the org of tx with its password. The error is a not_found fault if there is
// none.
func (s *Service) ForSending(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (*Sending, error) {
	read := s.QueueForSending(tx, mailbox)
	if err := tx.Flush(ctx); err != nil {
		return nil, fmt.Errorf("read mailbox: %w", err)
	}
	return read()
}

// QueueForSending queues what ForSending reads, so that it costs the caller no round trip of its own. Once the
// statements of tx were sent, the function that it returns gives ForSending's results.
func (s *Service) QueueForSending(tx *postgres.Tx, mailbox id.ID) func() (*Sending, error) {
	read := s.queueRead(tx, `= $2`, mailbox)
	return func() (*Sending, error) {
		m, err := read()
		if m == nil && err == nil {
			err = Absent()
		}
		return m, err
	}
}

// QueueForEmail is QueueForSending for the mailbox of an email. The mailbox is nil if there is none.
func (s *Service) QueueForEmail(tx *postgres.Tx, email id.ID) func() (*Sending, error) {
	return s.queueRead(tx, `= (SELECT e.mailbox_id FROM email e WHERE e.org_id = $1 AND e.id = $2)`, email)
}

// Absent returns the fault of a mailbox that does not exist.
func Absent() error { return fault.New(fault.NotFound, absent) }

// queueRead queues reading the live mailbox of which a condition on its id is true, whose argument is $2.
func (s *Service) queueRead(tx *postgres.Tx, where string, arg id.ID) func() (*Sending, error) {
	m, found, org := &Sending{}, false, tx.Org()
	var sealed []byte
	tx.Queue(`
		SELECT id, kind, smtp_host, smtp_port, smtp_tls, smtp_username, smtp_password, social_account_id, from_email,
			from_name, from_domain, reply_to, signature_html, time_zone, track_opens, track_clicks, status,
			status_reason, held_until, daily_cap, rate_per_second, sent_proof, auth_refusals + refusals > 0,
			EXISTS (SELECT FROM mailbox_silence s WHERE s.org_id = mailbox.org_id AND s.mailbox_id = mailbox.id
				AND s.server = 'smtp')
		FROM mailbox WHERE org_id = $1 AND archived_at IS NULL AND id `+where, org, arg).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(&m.ID, &m.Kind, &m.Host, &m.Port, &m.TLS, &m.Username, &sealed, &m.SocialAccountID,
				&m.FromEmail, &m.FromName, &m.FromDomain, &m.ReplyTo, &m.SignatureHTML, &m.TimeZone, &m.TrackOpens,
				&m.TrackClicks, &m.Status, &m.StatusReason, &m.HeldUntil, &m.DailyCap, &m.RatePerSecond, &m.SentProof,
				&m.refused, &m.silent)
			found = err == nil
			if postgres.None(err) {
				return nil
			}
			return err
		})

	return func() (_ *Sending, err error) {
		if !found {
			return nil, nil //nolint:nilnil // there is none
		}
		if m.Password, err = s.openPassword(org, m.ID, smtpPassword, sealed); err != nil {
			return nil, err
		}
		if own, ok := s.ownServersOf(m.Kind); ok {
			m.Host, m.Port, m.TLS, m.Username = own.SMTP.Host, own.SMTP.Port, own.SMTP.TLS, m.FromEmail
		}
		return m, nil
	}
}

// server is the address of a server.
type server struct {
	name string
	port int
	tls  string
}

// OwnServers are the servers of a kind that has some of its own.
type OwnServers struct{ SMTP, IMAP Address }

// Address is the address of a server.
type Address struct {
	Host string
	Port int
	TLS  string
}

var ownServers = map[string]OwnServers{
	Google:    {Address{"smtp.gmail.com", 465, TLS}, Address{"imap.gmail.com", 993, TLS}},
	Microsoft: {Address{"smtp.office365.com", 587, StartTLS}, Address{"outlook.office365.com", 993, TLS}},
}

// ownServersOf returns the servers of a kind that has some of its own.
func (s *Service) ownServersOf(kind string) (OwnServers, bool) {
	if s.Own != nil {
		own, ok := s.Own[kind]
		return own, ok
	}
	own, ok := ownServers[kind]
	return own, ok
}
