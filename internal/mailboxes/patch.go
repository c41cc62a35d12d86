package mailboxes

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Patch is a merge patch (RFC 7396) of a mailbox. It is also the body of a create request.
type Patch struct {
	Name            wire.Field[string]
	Kind            wire.Field[string] // of a new mailbox only
	FromEmail       wire.Field[string]
	FromName        wire.Field[string]
	ReplyTo         wire.Field[string]
	SMTP, IMAP      wire.Field[ServerPatch]
	SocialAccountID wire.Field[string]
	DailyCap        wire.Field[int]
	Gap             wire.Field[GapPatch]
	RatePerSecond   wire.Field[int]
	Ramp            wire.Field[RampPatch]
	TimeZone        wire.Field[string]
	Tracking        wire.Field[TrackingPatch]
	SignatureHTML   wire.Field[string]
	OwnerID         wire.Field[string]
	form.Refused
}

// ServerPatch is a merge patch of a mail server.
type ServerPatch struct {
	Host     wire.Field[string]
	Port     wire.Field[int]
	TLS      wire.Field[string]
	Username wire.Field[string]
	Password wire.Field[secret.Text]
}

// GapPatch is a merge patch of gap_seconds.
type GapPatch struct{ Min, Max wire.Field[int] }

// RampPatch is a merge patch of ramp.
type RampPatch struct{ Start, Step wire.Field[int] }

// TrackingPatch is a merge patch of tracking.
type TrackingPatch struct{ Opens, Clicks wire.Field[bool] }

// Limits and defaults of a mailbox's fields.
const (
	maxCap       = 10_000
	defaultCap   = 50
	maxGap       = 86_400
	maxRate      = 1000
	defaultStep  = 5
	maxSignature = 20_000
	maxAddress   = 254
	maxPassword  = 1000
)

// draft is a mailbox that a patch is being applied to.
type draft struct {
	*form.Form
	s         *Service
	m         *stored
	passwords map[string]secret.Text // new passwords by column; "": removed
	refused   *fault.Fault           // of a server that is not allowed
	isNew     bool
}

// applyPatch applies p.
func (d *draft) applyPatch(p *Patch) {
	m := d.m
	d.applyAddresses(p)
	d.Required("name", p.Name, &m.Name, form.Name)
	if m.Name == "" {
		m.Name = m.FromEmail
	}
	applyText(d.Form, "from_name", p.FromName, &m.FromName, form.Name)
	d.applyServers(p)
	d.ID("social_account_id", p.SocialAccountID, &m.SocialAccountID)
	oauth := m.Kind == Google || m.Kind == Microsoft
	switch {
	case oauth && m.SocialAccountID == nil:
		d.Wrong("social_account_id", "required", "This kind signs in with a connected account.")
	case !oauth && m.SocialAccountID != nil:
		d.Wrong("social_account_id", "not_allowed", "This kind does not sign in with a connected account.")
	}
	d.applyLimits(p)
	d.applyTimeZone(p)
	if t := p.Tracking; t.Set {
		t.Value.Opens.Apply(&m.Tracking.Opens)
		t.Value.Clicks.Apply(&m.Tracking.Clicks)
		if t.Null {
			m.Tracking.Opens, m.Tracking.Clicks = false, false
		}
	}
	var signature *string
	if d.OptionalText("signature_html", p.SignatureHTML, &signature, maxSignature); p.SignatureHTML.Set {
		m.SignatureHTML = ""
		if signature != nil {
			m.SignatureHTML = *signature
		}
	}
	d.ID("owner_id", p.OwnerID, &m.OwnerID)
}

// applyAddresses applies from_email and reply_to.
func (d *draft) applyAddresses(p *Patch) {
	m := d.m
	if d.Required("from_email", p.FromEmail, &m.FromEmail, maxAddress); p.FromEmail.Set && !p.FromEmail.Null {
		if !isAddress(m.FromEmail) {
			d.Wrong("from_email", "invalid_email", "This is no mail address.")
		} else {
			m.folded, m.domain = compare.SplitAddress(m.FromEmail)
		}
	}
	d.Optional("reply_to", p.ReplyTo, &m.ReplyTo, maxAddress)
	if m.ReplyTo != nil && !isAddress(*m.ReplyTo) {
		d.Wrong("reply_to", "invalid_email", "This is no mail address.")
	}
}

// isAddress reports whether s is an address that mail can come from: one local part without quotes, and a domain.
func isAddress(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || len(local) > 64 || len(domain) < 3 || len(s) > maxAddress || !utf8.ValidString(s) ||
		strings.ContainsAny(s, " \t\r\n\"(),:;<>[\\]") || strings.Contains(domain, "@") ||
		strings.ContainsFunc(s, form.NotInLine) || strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") ||
		strings.Contains(s, "..") {
		return false
	}
	if strings.Trim(domain, ".-") != domain {
		return false
	}
	return strings.Contains(domain, ".")
}

// applyLimits applies the limits of how much is sent.
func (d *draft) applyLimits(p *Patch) {
	m := d.m
	applyOptionalNumber(d.Form, "rate_per_second", p.RatePerSecond, &m.RatePerSecond, 1, maxRate)
	applyOptionalNumber(d.Form, "daily_cap", p.DailyCap, &m.DailyCap, 1, maxCap)
	relay := m.RatePerSecond != nil && m.DailyCap == nil
	if m.DailyCap == nil && m.Kind != Sandbox && m.RatePerSecond == nil {
		d.Wrong("daily_cap", "required", "Only a mailbox with rate_per_second, or of the kind sandbox, has no cap.")
	}
	if d.isNew && (relay || m.Kind == Sandbox) {
		m.GapSeconds.Min, m.GapSeconds.Max = 0, 0
	}
	if g := p.Gap; g.Set && !g.Null {
		applyRequiredNumber(d.Form, "gap_seconds/min", g.Value.Min, &m.GapSeconds.Min, 0, maxGap)
		applyRequiredNumber(d.Form, "gap_seconds/max", g.Value.Max, &m.GapSeconds.Max, 0, maxGap)
		if m.GapSeconds.Max < m.GapSeconds.Min && g.Value.Max.Set {
			d.Wrong("gap_seconds/max", "out_of_range", "The longest pause is not shorter than the shortest.")
		}
		m.GapSeconds.Max = max(m.GapSeconds.Min, m.GapSeconds.Max)
	} else if g.Null {
		m.GapSeconds.Min, m.GapSeconds.Max = 30, 120
		if relay || m.Kind == Sandbox {
			m.GapSeconds.Min, m.GapSeconds.Max = 0, 0
		}
	}
	switch r := p.Ramp; {
	case r.Null:
		m.rampStart = nil
	case r.Set:
		applyOptionalNumber(d.Form, "ramp/start", r.Value.Start, &m.rampStart, 1, maxCap)
		applyRequiredNumber(d.Form, "ramp/step", r.Value.Step, &m.rampStep, 1, maxCap)
		if m.rampStart == nil {
			d.Wrong("ramp/start", "required", "This field is required.")
		}
	}
}

// applyTimeZone applies time_zone.
func (d *draft) applyTimeZone(p *Patch) {
	applyText(d.Form, "time_zone", p.TimeZone, &d.m.zone, form.Name)
	if _, err := time.LoadLocation(d.m.zone); err != nil || d.m.zone == "Local" {
		d.Wrong("time_zone", "invalid_time_zone", "This is no IANA time zone, such as Europe/Berlin.")
	}
}

// applyText applies a one-line text that null clears to "".
func applyText(f *form.Form, field string, in wire.Field[string], at *string, longest int) {
	var v *string
	if f.Optional(field, in, &v, longest); !in.Set {
		return
	}
	*at = ""
	if v != nil {
		*at = *v
	}
}

// applyRequiredNumber applies a number within bounds that cannot be null.
func applyRequiredNumber(f *form.Form, field string, in wire.Field[int], at *int, least, most int) {
	switch {
	case !in.Set:
	case in.Null:
		f.Wrong(field, "not_nullable", "This field cannot be null.")
	case in.Value < least || in.Value > most:
		f.Wrong(field, "out_of_range", boundsMessage(least, most))
	default:
		*at = in.Value
	}
}

// applyOptionalNumber applies a number within bounds that null clears.
func applyOptionalNumber(f *form.Form, field string, in wire.Field[int], at **int, least, most int) {
	switch {
	case !in.Set:
	case in.Null:
		*at = nil
	case in.Value < least || in.Value > most:
		f.Wrong(field, "out_of_range", boundsMessage(least, most))
	default:
		*at = &in.Value
	}
}

func boundsMessage(least, most int) string {
	return fmt.Sprintf("The number lies between %d and %d.", least, most)
}
