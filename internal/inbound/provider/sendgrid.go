package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Headers of SendGrid's signed event webhook.
const (
	SignatureHeader = "X-Twilio-Email-Event-Webhook-Signature"
	TimestampHeader = "X-Twilio-Email-Event-Webhook-Timestamp"
)

// sendGridRecord is an event of SendGrid.
type sendGridRecord struct {
	ID        string `json:"sg_event_id"`
	MessageID string `json:"sg_message_id"`
	SMTPID    string `json:"smtp-id"` // the Message-ID that the mail was sent with
	Event     string
	Type      string
	Email     string
	Timestamp int64
	Status    string
	Reason    string
}

var errKey = errors.New("this is no ECDSA key on P-256")

// publicKey reads a public key as SendGrid shows it: the base64 form of the DER form.
func publicKey(text string) (*ecdsa.PublicKey, error) {
	der, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errKey
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, errKey
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, errKey
	}
	return key, nil
}

// readSendGrid reads a request of the event webhook.
func readSendGrid(q *Request) (Batch, error) {
	key, err := publicKey(q.Key)
	if err != nil {
		return Batch{}, ErrNotGenuine
	}
	at := q.Header.Get(TimestampHeader)
	signature, err := base64.StdEncoding.DecodeString(q.Header.Get(SignatureHeader))
	if err != nil {
		return Batch{}, ErrNotGenuine
	}
	hash := sha256.Sum256(append([]byte(at), q.Body...))
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !ecdsa.VerifyASN1(key, hash[:], signature) || !isTimely(time.Unix(seconds, 0), q.At, oldest) {
		return Batch{}, ErrNotGenuine
	}
	var all []sendGridRecord
	if err := json.Unmarshal(q.Body, &all); err != nil {
		return Batch{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var b Batch
	for i := range all {
		if e, ok := all[i].event(); ok {
			b.Events = append(b.Events, e)
		}
	}
	return b, nil
}

// event returns the event of a record, or false for one that does not matter.
func (r *sendGridRecord) event() (Event, bool) {
	// The id has the number of the filter and of the recipient behind what the server returned.
	reference, _, _ := strings.Cut(r.MessageID, ".")
	e := Event{
		ID: r.ID, MessageID: bare(r.SMTPID), Reference: reference, Recipient: r.Email, At: time.Unix(r.Timestamp, 0),
	}
	switch r.Event {
	case "delivered":
		e.Kind = Delivered
	case "bounce":
		e.Kind, e.Permanent, e.Code, e.Diagnostic = Bounced, r.Type != "blocked", r.Status, r.Reason
	case "dropped": // SendGrid has not sent it, and says why
		e.dropped(r.Reason, "bounced address")
	case "spamreport":
		e.Kind = Complained
	case "unsubscribe", "group_unsubscribe":
		e.Kind = Unsubscribed
	default:
		return Event{}, false
	}
	return e, e.ID != ""
}
