package events

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Mailbox is a mailbox without its secrets.
type Mailbox struct {
	ID              id.ID           `json:"id" format:"uuid" doc:"ID of the mailbox"`
	Name            string          `json:"name" doc:"Name of the mailbox"`
	Kind            string          `json:"kind" enum:"smtp,google,microsoft,sandbox" doc:"How its mail is sent"`
	FromEmail       string          `json:"from_email" doc:"Address that its mail comes from"`
	FromName        string          `json:"from_name" doc:"Name beside from_email; may be empty"`
	ReplyTo         *string         `json:"reply_to" doc:"Address for replies; null: from_email"`
	SMTP            *MailServer     `json:"smtp" doc:"Server that sends; null: the kind has one of its own"`
	IMAP            *MailServer     `json:"imap" doc:"Server that is read; null: none, or the kind has one of its own"`
	SocialAccountID *id.ID          `json:"social_account_id" format:"uuid" nullable:"true"`
	DailyCap        *int            `json:"daily_cap" doc:"Most mails in any 24 hours; null: no limit"`
	GapSeconds      MailGap         `json:"gap_seconds" doc:"Pause between two automated mails, drawn at random"`
	RatePerSecond   *int            `json:"rate_per_second" doc:"Most mails per second; null: no limit"`
	Ramp            *MailRamp       `json:"ramp" doc:"Growth of the number of automated mails per day; null: none"`
	TimeZone        *string         `json:"time_zone" doc:"IANA name; null: the organization's"`
	Tracking        MailTracking    `json:"tracking" doc:"What is tracked in its automated mail"`
	SignatureHTML   string          `json:"signature_html" doc:"Signature; may be empty"`
	OwnerID         *id.ID          `json:"owner_id" format:"uuid" nullable:"true" doc:"User it belongs to, or null"`
	Status          string          `json:"status" enum:"unverified,active,held,disabled" doc:"Whether it sends"`
	StatusReason    *string         `json:"status_reason" doc:"Why it has the status, or waits; null: no reason"`
	StatusDetail    *string         `json:"status_detail" doc:"What happened, in words; null: it waits for nothing"`
	StatusAction    *string         `json:"status_action" doc:"What to do about it, in words; null: nothing"`
	NextSyncAt      *wire.Time      `json:"next_sync_at" format:"date-time"`
	HeldUntil       *wire.Time      `json:"held_until" format:"date-time"`
	Sent24h         int64           `json:"sent_24h" doc:"Mails of the last 24 hours"`
	NextSlotAt      *wire.Time      `json:"next_slot_at" format:"date-time"`
	Sync            *MailSync       `json:"sync" doc:"How its inbox is read by IMAP; null: it is not read"`
	SentProof       bool            `json:"sent_proof" doc:"The last test mail was found in the Sent folder"`
	CheckedAt       *wire.Time      `json:"checked_at" format:"date-time" doc:"When it was tested last; null: never"`
	Health          MailboxHealth   `json:"health" doc:"What became of its last 200 mails"`
	Domain          MailDomainCheck `json:"domain" doc:"DNS records of the domain of from_email"`
	CreatedAt       wire.Time       `json:"created_at" format:"date-time" doc:"When the mailbox was created"`
	UpdatedAt       wire.Time       `json:"updated_at" format:"date-time" doc:"When the mailbox was last edited"`
	ArchivedAt      *wire.Time      `json:"archived_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Mailbox) Descriptions() map[string]string {
	return map[string]string{
		"social_account_id": "Account whose login the kinds google and microsoft sign in with; else null",
		"held_until":        "End of the hold; null: not held, or held until it is resumed",
		"next_slot_at":      "When it may send the next automated mail; null: now, or it does not send at all",
		"next_sync_at":      "When its inbox is read next, or its silent server is called next; null: it is not read",
		"archived_at":       "When the mailbox was archived; null: it is live",
	}
}

// MailServer is a mail server without its password.
type MailServer struct {
	Host     string `json:"host" doc:"Name of the server"`
	Port     int    `json:"port" doc:"Port of the server"`
	TLS      string `json:"tls" enum:"tls,starttls,none" doc:"How the connection is secured"`
	Username string `json:"username" doc:"Name to sign in with; empty: no sign-in"`
}

// MailSync is how the inbox of a mailbox is read by IMAP.
type MailSync struct {
	LastAt  *wire.Time `json:"last_at" format:"date-time" doc:"When it was read to its end last; null: never"`
	NextAt  *wire.Time `json:"next_at" format:"date-time" doc:"When it is read next"`
	Error   *string    `json:"error" doc:"Why it could not be read last, such as auth_refused; null: it was read"`
	Skipped int        `json:"skipped" doc:"Mails that are too large, or could not be read three times"`
}

// MailGap is the range of the pause between two automated mails.
type MailGap struct {
	Min int `json:"min" doc:"Shortest pause in seconds"`
	Max int `json:"max" doc:"Longest pause in seconds"`
}

// MailRamp is the growth of a new mailbox's number of automated mails.
type MailRamp struct {
	Start int `json:"start" doc:"Mails in 24 hours on the first day"`
	Step  int `json:"step" doc:"How many more with each day that sent"`
}

// MailTracking says what is tracked.
type MailTracking struct {
	Opens  bool `json:"opens" doc:"Whether opens are counted"`
	Clicks bool `json:"clicks" doc:"Whether links lead through the tracking domain"`
}

// MailboxHealth has the shares of the last 200 mails.
type MailboxHealth struct {
	BounceRate    *float64 `json:"bounce_rate" doc:"Share of hard bounces, 0 to 1; null: nothing was sent"`
	ComplaintRate *float64 `json:"complaint_rate" doc:"Share of complaints, 0 to 1; null: nothing was sent"`
}

// MailDomainCheck has what was found of a domain's DNS records.
type MailDomainCheck struct {
	SPF       string     `json:"spf" enum:"pass,missing,invalid,unknown" doc:"Record of the allowed senders"`
	DKIM      string     `json:"dkim" enum:"pass,missing,invalid,unknown" doc:"Keys under common selectors"`
	DMARC     string     `json:"dmarc" enum:"pass,missing,invalid,unknown" doc:"Policy record"`
	CheckedAt *wire.Time `json:"checked_at" format:"date-time" doc:"When the records were looked up; null: never"`
}

// Broadcast is a broadcast, as events have it.
type Broadcast struct {
	ID          id.ID          `json:"id" format:"uuid" doc:"ID of the broadcast"`
	Name        string         `json:"name" doc:"Display name"`
	MailboxID   id.ID          `json:"mailbox_id" format:"uuid" doc:"Mailbox that it was sent from"`
	Status      string         `json:"status" doc:"State of the broadcast: sent"`
	Total       int            `json:"total" doc:"Contacts of the audience"`
	Sendable    int            `json:"sendable" doc:"Contacts among them that an email was written to"`
	LeftOut     map[string]int `json:"left_out" doc:"Contacts among them that got none, by reason"`
	CreatedAt   wire.Time      `json:"created_at" format:"date-time" doc:"When it was created"`
	CompletedAt wire.Time      `json:"completed_at" format:"date-time" doc:"When its last email was settled"`
}

// BroadcastCompleted is the event broadcast.completed, announced once per broadcast.
type BroadcastCompleted struct{ Broadcast Broadcast }

// Type returns the event type.
func (BroadcastCompleted) Type() string { return "broadcast.completed" }

// Data returns the broadcast with its counts.
func (e BroadcastCompleted) Data() (object, previous any) { return e.Broadcast, nil }

// MailboxDisabled is the event mailbox.disabled: the platform, not a user, disabled the mailbox.
type MailboxDisabled struct{ Mailbox Mailbox }

// Type returns the event type.
func (MailboxDisabled) Type() string { return "mailbox.disabled" }

// Data returns the mailbox with its status_reason.
func (e MailboxDisabled) Data() (object, previous any) { return e.Mailbox, nil }
