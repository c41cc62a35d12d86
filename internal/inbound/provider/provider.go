package provider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/bounded"
)

// The providers.
const (
	SES      = "ses"
	Postmark = "postmark"
	Mailgun  = "mailgun"
	SendGrid = "sendgrid"
)

// Names returns the providers.
func Names() []string { return []string{SES, Postmark, Mailgun, SendGrid} }

// What happened to a mail.
const (
	Delivered    = "delivered"
	Bounced      = "bounced"
	Complained   = "complained"
	Unsubscribed = "unsubscribed"
)

// Event is what a provider tells about a mail.
type Event struct {
	ID   string // of the provider, unique among the events of a mailbox
	Kind string
	// MessageID is the Message-ID of the mail without angle brackets, and Reference the provider's own id, which its
	// server returned when it accepted the mail. One of them may be "".
	MessageID, Reference string
	Recipient            string
	Permanent            bool   // of a bounce: the provider will not try the address again
	Code, Diagnostic     string // of a bounce: the enhanced or SMTP code, and the reply of the server
	At                   time.Time
}

// Batch is the events of one request.
type Batch struct {
	Events []Event
	Once   string // a value that no other request may have; "": none
}

// Request is a request of a provider.
type Request struct {
	Provider string
	Key      string // of the mailbox
	Header   http.Header
	Body     []byte
	At       time.Time // when it was received
}

// Errors of Read. Any other error may pass.
var (
	// ErrNotGenuine is the error of a request that the provider has not signed, or has signed for another mailbox.
	ErrNotGenuine = errors.New("the request is not the provider's")
	// ErrMalformed is the error of a request that is genuine, but not in the provider's form.
	ErrMalformed = errors.New("the request is not in the provider's form")
)

// Fetch returns the body of an https address, which must be a public one.
type Fetch func(ctx context.Context, url string) ([]byte, error)

// Reader verifies and reads requests. It is safe for concurrent use.
type Reader struct {
	fetch        Fetch
	certificates bounded.Map[string, certificate] // of SNS, by address
}

// NewReader returns a Reader that fetches the certificates of SNS with fetch.
func NewReader(fetch Fetch) *Reader {
	r := &Reader{fetch: fetch}
	r.certificates.Half = 64
	return r
}

// Read verifies a request and returns its events.
func (r *Reader) Read(ctx context.Context, q *Request) (Batch, error) {
	switch q.Provider {
	case SES:
		return r.readSES(ctx, q)
	case Postmark:
		return readPostmark(q)
	case Mailgun:
		return readMailgun(q)
	case SendGrid:
		return readSendGrid(q)
	}
	return Batch{}, ErrMalformed
}

// Remembered is how long the ids of events must be kept: no genuine request is older.
const Remembered = 30 * 24 * time.Hour

// Limits on the age of a signature. Providers repeat a request for up to a day; SNS may be configured to repeat it for
// longer.
const (
	oldest    = 25 * time.Hour
	oldestSNS = Remembered - 24*time.Hour
	ahead     = 10 * time.Minute
)

// isTimely reports whether a signature of a time may still be accepted at another.
func isTimely(signed, at time.Time, oldest time.Duration) bool {
	age := at.Sub(signed)
	return age <= oldest && age >= -ahead
}

// CheckKey reports whether key can be the key of a provider.
func CheckKey(provider, key string) bool {
	switch provider {
	case SES:
		return topic.MatchString(key)
	case SendGrid:
		_, err := publicKey(key)
		return err == nil
	}
	return slices.Contains(Names(), provider) && len(key) >= leastSecret
}

// leastSecret is the number of bytes of the shortest secret.
const leastSecret = 16
