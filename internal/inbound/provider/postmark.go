package provider

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// postmarkRecord is the body of a webhook of Postmark.
type postmarkRecord struct {
	RecordType      string
	ID              int64 // of a bounce or a complaint
	Type            string
	MessageID       string // of Postmark
	Email           string
	Recipient       string
	Description     string
	Details         string
	BouncedAt       time.Time
	DeliveredAt     time.Time
	ChangedAt       time.Time
	SuppressSending bool
	Reason          string `json:"SuppressionReason"`
}

// Types of bounces of Postmark: those that mean that the address does not exist, and those that are no bounces.
var (
	postmarkHard  = []string{"HardBounce", "BadEmailAddress"}
	postmarkOther = []string{
		"AutoResponder", "AddressChange", "ChallengeVerification", "OpenRelayTest", "Subscribe",
		"TemplateRenderingFailed", "InboundError",
	}
)

// postmarkDropped has the types of what Postmark has not sent: a person, or Postmark's staff, has stopped the address.
var postmarkDropped = []string{"ManuallyDeactivated", "Unconfirmed"}

// readPostmark reads a webhook of Postmark.
func readPostmark(q *Request) (Batch, error) {
	_, password, ok := (&http.Request{Header: q.Header}).BasicAuth()
	// Of equal length, so that the comparison takes the same time.
	got, want := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(q.Key))
	if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return Batch{}, ErrNotGenuine
	}
	var r postmarkRecord
	if err := json.Unmarshal(q.Body, &r); err != nil {
		return Batch{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	e := Event{Reference: r.MessageID, Recipient: r.Email}
	e.ID = r.RecordType + "/" + strconv.FormatInt(r.ID, 10)
	switch r.RecordType {
	case "Delivery":
		e.Kind, e.Recipient, e.At = Delivered, r.Recipient, r.DeliveredAt
		e.ID = r.RecordType + "/" + r.MessageID + "/" + r.Recipient
	case "Bounce":
		e.At = r.BouncedAt
		switch {
		case slices.Contains(postmarkOther, r.Type):
			return Batch{}, nil
		case r.Type == "Unsubscribe":
			e.Kind = Unsubscribed
		case r.Type == "SpamComplaint":
			e.Kind = Complained
		case slices.Contains(postmarkDropped, r.Type):
			e.dropped(r.Type)
		default:
			e.Kind, e.Permanent = Bounced, slices.Contains(postmarkHard, r.Type)
			e.Diagnostic = r.Details
		}
	case "SpamComplaint":
		e.Kind, e.At = Complained, r.BouncedAt
	case "SubscriptionChange":
		if !r.SuppressSending || r.Reason != "ManualSuppression" {
			return Batch{}, nil // of a bounce or a complaint, which has its own record
		}
		e.Kind, e.Recipient, e.At = Unsubscribed, r.Recipient, r.ChangedAt
		e.ID = r.RecordType + "/" + r.MessageID + "/" + r.Recipient
	default:
		return Batch{}, nil
	}
	return Batch{Events: []Event{e}}, nil
}
