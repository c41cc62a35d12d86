package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// mailgunRecord is the body of a webhook of Mailgun.
type mailgunRecord struct {
	Signature struct{ Timestamp, Token, Signature string }
	Event     struct {
		ID        string
		Event     string
		Timestamp float64
		Severity  string
		Reason    string
		Recipient string
		Message   struct {
			Headers struct {
				MessageID string `json:"message-id"`
			}
		}
		Status struct {
			Code        int
			Enhanced    string `json:"enhanced-code"`
			Message     string
			Description string
		} `json:"delivery-status"`
	} `json:"event-data"`
}

// readMailgun reads a webhook of Mailgun.
func readMailgun(q *Request) (Batch, error) {
	var r mailgunRecord
	if err := json.Unmarshal(q.Body, &r); err != nil {
		return Batch{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	s := &r.Signature
	signature, err := hex.DecodeString(s.Signature)
	if err != nil || s.Token == "" {
		return Batch{}, ErrNotGenuine
	}
	mac := hmac.New(sha256.New, []byte(q.Key))
	mac.Write([]byte(s.Timestamp + s.Token))
	seconds, err := strconv.ParseInt(s.Timestamp, 10, 64)
	if err != nil || !hmac.Equal(mac.Sum(nil), signature) || !isTimely(time.Unix(seconds, 0), q.At, oldest) {
		return Batch{}, ErrNotGenuine
	}
	b := Batch{Once: s.Token}
	e := Event{
		ID: r.Event.ID, MessageID: bare(r.Event.Message.Headers.MessageID), Recipient: r.Event.Recipient,
		At: fromSeconds(r.Event.Timestamp),
	}
	switch r.Event.Event {
	case "delivered":
		e.Kind = Delivered
	case "complained":
		e.Kind = Complained
	case "unsubscribed":
		e.Kind = Unsubscribed
	case "failed":
		if r.Event.Severity != "permanent" {
			return b, nil // it will be tried again
		}
		e.Kind, e.Permanent, e.Code = Bounced, true, r.Event.Status.Enhanced
		if e.Code == "" && r.Event.Status.Code > 0 {
			e.Code = strconv.Itoa(r.Event.Status.Code)
		}
		if e.Diagnostic = r.Event.Status.Message; e.Diagnostic == "" {
			e.Diagnostic = r.Event.Status.Description
		}
		// Mailgun has codes of its own from 600 on, for what it has not sent.
		if reason := r.Event.Reason; r.Event.Status.Code >= 600 || reason == "old" ||
			strings.HasPrefix(reason, "suppress-") {
			e.dropped(strings.TrimSpace(reason+" "+e.Diagnostic), "suppress-bounce", "605")
		}
	default:
		return b, nil
	}
	b.Events = []Event{e}
	return b, nil
}

func fromSeconds(s float64) time.Time {
	whole, part := math.Modf(s)
	return time.Unix(int64(whole), int64(part*1e9))
}
