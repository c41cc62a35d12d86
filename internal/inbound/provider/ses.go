package provider

import (
	"encoding/json"
	"strings"
	"time"
)

// sesRecord is the message of a notification: of a notification of SES, or of an event of a configuration set.
type sesRecord struct {
	NotificationType string `json:"notificationType"`
	EventType        string `json:"eventType"`
	Mail             struct {
		MessageID string    `json:"messageId"` // of SES
		Timestamp time.Time `json:"timestamp"`
		Headers   []struct{ Name, Value string }
		Common    struct {
			MessageID string `json:"messageId"`
		} `json:"commonHeaders"`
	} `json:"mail"`
	Bounce struct {
		Type       string    `json:"bounceType"`
		SubType    string    `json:"bounceSubType"`
		Timestamp  time.Time `json:"timestamp"`
		Recipients []struct {
			Email      string `json:"emailAddress"`
			Status     string `json:"status"`
			Diagnostic string `json:"diagnosticCode"`
		} `json:"bouncedRecipients"`
	} `json:"bounce"`
	Complaint struct {
		Type       string    `json:"complaintFeedbackType"`
		Timestamp  time.Time `json:"timestamp"`
		Recipients []struct {
			Email string `json:"emailAddress"`
		} `json:"complainedRecipients"`
	} `json:"complaint"`
	Delivery struct {
		Timestamp  time.Time `json:"timestamp"`
		Recipients []string  `json:"recipients"`
	} `json:"delivery"`
}

// sesEvents returns the events of a notification: one per recipient. A message that is no record of SES, such as the
// one that tests the topic, has none.
func sesEvents(m *snsMessage) []Event {
	var r sesRecord
	if json.Unmarshal([]byte(m.Message), &r) != nil {
		return nil
	}
	return r.events(m.MessageID)
}

// NotificationEvents returns the events of a notification as SNS mails it: the record of SES, or a message that has it.
// Nobody has verified its signature.
func NotificationEvents(body []byte) []Event {
	var m snsMessage
	if json.Unmarshal(body, &m) != nil {
		return nil
	}
	if m.Message == "" {
		m.Message = string(body)
	}
	return sesEvents(&m)
}

// events returns the events of a record, whose ids begin with that of its message.
func (r *sesRecord) events(message string) (all []Event) {
	e := Event{Reference: r.Mail.MessageID, MessageID: r.messageID()}
	add := func(recipient string, at time.Time) {
		e.ID, e.Recipient, e.At = message+"/"+recipient, recipient, at
		all = append(all, e)
	}
	switch r.NotificationType + r.EventType {
	case "Bounce":
		e.Kind, e.Permanent = Bounced, r.Bounce.Type == "Permanent"
		for _, to := range r.Bounce.Recipients {
			e.Code, e.Diagnostic = to.Status, to.Diagnostic
			if strings.HasSuffix(r.Bounce.SubType, "SuppressionList") || r.Bounce.SubType == "UnsubscribedRecipient" {
				e.dropped(r.Bounce.SubType)
			}
			add(to.Email, r.Bounce.Timestamp)
		}
	case "Complaint":
		if r.Complaint.Type == "not-spam" {
			return nil
		}
		e.Kind = Complained
		for _, to := range r.Complaint.Recipients {
			add(to.Email, r.Complaint.Timestamp)
		}
	case "Delivery":
		e.Kind = Delivered
		for _, to := range r.Delivery.Recipients {
			add(to, r.Delivery.Timestamp)
		}
	}
	return all
}

// messageID returns the Message-ID that the mail was sent with, or "": SES replaces it, and tells of it only if the
// topic gets the headers.
func (r *sesRecord) messageID() string {
	for _, h := range r.Mail.Headers {
		if strings.EqualFold(h.Name, "Message-ID") {
			return bare(h.Value)
		}
	}
	return bare(r.Mail.Common.MessageID)
}

// bare returns a Message-ID without angle brackets.
func bare(messageID string) string { return strings.Trim(strings.TrimSpace(messageID), "<>") }
