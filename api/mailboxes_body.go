package api

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// MailboxState is a mailbox as the API shows it; a schema marks the objects that may be null.
type MailboxState struct {
	events.Mailbox
	SMTP httpx.Nullable[events.MailServer] `json:"smtp" doc:"Server that sends; null: the kind has one of its own"`
	IMAP httpx.Nullable[events.MailServer] `json:"imap"`
	Ramp httpx.Nullable[events.MailRamp]   `json:"ramp"`
	Sync httpx.Nullable[events.MailSync]   `json:"sync" doc:"How its inbox is read by IMAP; null: it is not read"`
}

// Descriptions implements wire.Describer.
func (MailboxState) Descriptions() map[string]string {
	all := events.Mailbox{}.Descriptions()
	all["imap"] = "Server that is read; null: none, or the kind has one of its own"
	all["ramp"] = "Growth of the number of automated mails per day; null: none"
	return all
}

func showMailbox(m *mailboxes.Mailbox) MailboxState {
	return MailboxState{
		Mailbox: *m, SMTP: httpx.Nullable[events.MailServer]{Value: m.SMTP},
		IMAP: httpx.Nullable[events.MailServer]{Value: m.IMAP}, Ramp: httpx.Nullable[events.MailRamp]{Value: m.Ramp},
		Sync: httpx.Nullable[events.MailSync]{Value: m.Sync},
	}
}

// mailboxWithURL is the response to the creation of a mailbox and to a new token. Only they show the address.
type mailboxWithURL struct {
	MailboxState
	InboundURL string `json:"inbound_url" doc:"Address that takes its incoming mail; shown only once"`
}

type mailServerPatch struct {
	Host     httpx.Optional[string] `json:"host" required:"false" doc:"Name of the server"`
	Port     httpx.Optional[int]    `json:"port" required:"false"`
	TLS      httpx.Optional[string] `json:"tls" required:"false"`
	Username httpx.Optional[string] `json:"username" required:"false"`
	Password httpx.Optional[string] `json:"password" required:"false" doc:"Write-only; null removes it"`
}

// Descriptions implements wire.Describer.
func (mailServerPatch) Descriptions() map[string]string {
	return map[string]string{
		"port":     "25, 465, 587 or 2525, and 143 or 993 for imap; default 587 and 993",
		"tls":      "tls, starttls (required, without fallback) or none; default by the port",
		"username": "Name to sign in with; default from_email if there is a password",
	}
}

func (b mailServerPatch) toPatch() mailboxes.ServerPatch {
	return mailboxes.ServerPatch{
		Host: b.Host.Field, Port: b.Port.Field, TLS: b.TLS.Field, Username: b.Username.Field,
		Password: wire.Field[secret.Text]{
			Set: b.Password.Set, Null: b.Password.Null, Value: secret.Text(b.Password.Value),
		},
	}
}

type mailGapPatch struct {
	Min httpx.Optional[int] `json:"min" required:"false" doc:"Shortest pause in seconds, 0 to 86400"`
	Max httpx.Optional[int] `json:"max" required:"false" doc:"Longest pause in seconds, 0 to 86400"`
}

type mailRampPatch struct {
	Start httpx.Optional[int] `json:"start" required:"false" doc:"Mails in 24 hours on the first day, 1 to 10000"`
	Step  httpx.Optional[int] `json:"step" required:"false" doc:"More with each day that sent, 1 to 10000; default 5"`
}

type mailTrackingPatch struct {
	Opens  httpx.Optional[bool] `json:"opens" required:"false" doc:"Whether opens are counted"`
	Clicks httpx.Optional[bool] `json:"clicks" required:"false" doc:"Whether clicks are counted"`
}

// MailboxFields are the members common to both mailbox bodies.
type MailboxFields struct {
	Name            httpx.Optional[string]            `json:"name" required:"false"`
	FromName        httpx.Optional[string]            `json:"from_name" required:"false"`
	ReplyTo         httpx.Optional[string]            `json:"reply_to" required:"false"`
	SMTP            httpx.Optional[mailServerPatch]   `json:"smtp" required:"false"`
	IMAP            httpx.Optional[mailServerPatch]   `json:"imap" required:"false"`
	SocialAccountID httpx.Optional[string]            `json:"social_account_id" required:"false"`
	DailyCap        httpx.Optional[int]               `json:"daily_cap" required:"false"`
	GapSeconds      httpx.Optional[mailGapPatch]      `json:"gap_seconds" required:"false"`
	RatePerSecond   httpx.Optional[int]               `json:"rate_per_second" required:"false"`
	Ramp            httpx.Optional[mailRampPatch]     `json:"ramp" required:"false"`
	TimeZone        httpx.Optional[string]            `json:"time_zone" required:"false"`
	Tracking        httpx.Optional[mailTrackingPatch] `json:"tracking" required:"false"`
	SignatureHTML   httpx.Optional[string]            `json:"signature_html" required:"false"`
	OwnerID         httpx.Optional[string]            `json:"owner_id" required:"false"`

	ID           httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	Status       httpx.RawJSON `json:"status" required:"false" readOnly:"true"`
	StatusReason httpx.RawJSON `json:"status_reason" required:"false" readOnly:"true"`
	StatusDetail httpx.RawJSON `json:"status_detail" required:"false" readOnly:"true"`
	StatusAction httpx.RawJSON `json:"status_action" required:"false" readOnly:"true"`
	NextSyncAt   httpx.RawJSON `json:"next_sync_at" required:"false" readOnly:"true"`
	HeldUntil    httpx.RawJSON `json:"held_until" required:"false" readOnly:"true"`
	Sent24h      httpx.RawJSON `json:"sent_24h" required:"false" readOnly:"true"`
	NextSlotAt   httpx.RawJSON `json:"next_slot_at" required:"false" readOnly:"true"`
	Sync         httpx.RawJSON `json:"sync" required:"false" readOnly:"true"`
	SentProof    httpx.RawJSON `json:"sent_proof" required:"false" readOnly:"true"`
	CheckedAt    httpx.RawJSON `json:"checked_at" required:"false" readOnly:"true"`
	Health       httpx.RawJSON `json:"health" required:"false" readOnly:"true"`
	Domain       httpx.RawJSON `json:"domain" required:"false" readOnly:"true"`
	CreatedAt    httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt    httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt   httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (MailboxFields) Descriptions() map[string]string {
	return map[string]string{
		"name":              "Name, up to 200 characters; default from_email",
		"from_name":         "Name beside from_email, up to 200 characters",
		"reply_to":          "Address for replies; null: from_email",
		"smtp":              "Server that sends; only and always of the kind smtp. Merged per member",
		"imap":              "Server that is read; only of the kind smtp. Merged per member; null removes it",
		"social_account_id": "Connected account whose login the kinds google and microsoft use",
		"daily_cap":         "Most mails in any 24 hours, 1 to 10000, default 50; null needs a rate, or kind sandbox",
		"gap_seconds":       "Pause between automated mails; default 30 to 120, of a relay and the sandbox 0",
		"rate_per_second":   "Most mails per second, 1 to 1000, of a relay; null: no limit",
		"ramp":              "Growth of the number of automated mails per day; null: none",
		"time_zone":         "IANA name; null: the organization's",
		"tracking":          "What is tracked in its mail; default as the sending settings say. Merged per member",
		"signature_html":    "Signature, up to 20000 characters",
		"owner_id":          "Member of the organization it belongs to",
	}
}

func (f *MailboxFields) toPatch() mailboxes.Patch {
	p := mailboxes.Patch{
		Name: f.Name.Field, FromName: f.FromName.Field, ReplyTo: f.ReplyTo.Field,
		SMTP: convertField(f.SMTP, mailServerPatch.toPatch), IMAP: convertField(f.IMAP, mailServerPatch.toPatch),
		SocialAccountID: f.SocialAccountID.Field, DailyCap: f.DailyCap.Field, RatePerSecond: f.RatePerSecond.Field,
		Gap: convertField(f.GapSeconds, func(g mailGapPatch) mailboxes.GapPatch {
			return mailboxes.GapPatch{Min: g.Min.Field, Max: g.Max.Field}
		}),
		Ramp: convertField(f.Ramp, func(r mailRampPatch) mailboxes.RampPatch {
			return mailboxes.RampPatch{Start: r.Start.Field, Step: r.Step.Field}
		}),
		Tracking: convertField(f.Tracking, func(t mailTrackingPatch) mailboxes.TrackingPatch {
			return mailboxes.TrackingPatch{Opens: t.Opens.Field, Clicks: t.Clicks.Field}
		}),
		TimeZone: f.TimeZone.Field, SignatureHTML: f.SignatureHTML.Field, OwnerID: f.OwnerID.Field,
	}

	for name, sent := range map[string]httpx.RawJSON{
		"id": f.ID, "status": f.Status, "status_reason": f.StatusReason, "held_until": f.HeldUntil,
		"status_detail": f.StatusDetail, "status_action": f.StatusAction, "next_sync_at": f.NextSyncAt,
		"sent_24h": f.Sent24h, "next_slot_at": f.NextSlotAt, "sync": f.Sync, "sent_proof": f.SentProof,
		"checked_at": f.CheckedAt, "health": f.Health, "domain": f.Domain, "created_at": f.CreatedAt,
		"updated_at": f.UpdatedAt, "archived_at": f.ArchivedAt,
	} {
		p.Refuse(name, json.RawMessage(sent))
	}

	return p
}

// convertField returns the member of a patch with its value converted.
func convertField[A, B any](in httpx.Optional[A], convert func(A) B) wire.Field[B] {
	out := wire.Field[B]{Set: in.Set, Null: in.Null}
	if in.Set && !in.Null {
		out.Value = convert(in.Value)
	}
	return out
}

type createMailboxRequest struct {
	Kind      httpx.Optional[string] `json:"kind" doc:"smtp, google, microsoft or sandbox"`
	FromEmail httpx.Optional[string] `json:"from_email" doc:"Address that its mail comes from"`
	MailboxFields
}

func (b *createMailboxRequest) toPatch() mailboxes.Patch {
	p := b.MailboxFields.toPatch()
	p.Kind = b.Kind.Field
	p.FromEmail = b.FromEmail.Field
	return p
}

type updateMailboxRequest struct {
	Kind      httpx.Optional[string] `json:"kind" required:"false" doc:"Cannot be changed"`
	FromEmail httpx.Optional[string] `json:"from_email" required:"false" doc:"Address that its mail comes from"`
	MailboxFields
}

func (b *updateMailboxRequest) toPatch() mailboxes.Patch {
	p := b.MailboxFields.toPatch()
	p.Kind = b.Kind.Field
	p.FromEmail = b.FromEmail.Field
	return p
}
