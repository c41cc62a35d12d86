package emails

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// New describes a new email. Its parts are rendered already.
type New struct {
	ID              id.ID // zero: a fresh one; given by callers whose content has links with it
	Mailbox         *mailboxes.Sending
	ContactID       id.ID // zero: a test mail, which belongs to no contact
	ToEmail, ToName string
	Purpose         string
	Subject         string
	HTML, Text      string
	InReplyTo       *id.ID // an email of the same contact
	ScheduledAt     *wire.Time
	Tracking        Tracking
	ListUnsubscribe []string
	Attachments     []compose.Attachment
	LinkBase        string // of pixels and links, without a slash at the end; "": the Service's PublicURL
	By              string // who creates it: "user/<id>", or ""
	Automated       *Automated
}

// Automated is what an email of a sequence or broadcast has beside those that people write.
type Automated struct {
	Enrolment     id.ID
	Broadcast     id.ID  // zero: of a sequence. Otherwise Enrolment and Step are zero
	Step, Variant string // Variant may be ""
	LateHours     int    // how long after it is due it may be sent
}

// Full is an email with its content.
type Full struct {
	Row
	Content *Content // nil: it was swept
}

// Content is what an email was composed of.
type Content struct {
	From        string
	HTML, Text  *string
	Attachments []AttachmentSummary
}

// AttachmentSummary describes an attachment.
type AttachmentSummary struct {
	Name string `json:"name" doc:"Name of the file"`
	Type string `json:"type" doc:"Media type of the file"`
	Size int    `json:"size" doc:"Size of the file in bytes"`
}

// Create inserts an email with the status planned, or scheduled if its time has not come. The caller enqueues its job
// in the same transaction. A fault says why the email cannot be sent: suppressed, mailbox_not_active, or an invalid
// field.
func (s *Service) Create(ctx context.Context, tx *postgres.Tx, n *New) (*Full, error) {
	now := wire.Now()
	if !n.Mailbox.MaySend(now.Time) {
		return nil, notActive(n.Mailbox)
	}
	isLive := mailboxes.QueueLive(tx, n.Mailbox.ID)
	if n.Tracking != (Tracking{}) {
		off, err := orgsending.TrackingOff(ctx, tx)
		if err != nil {
			return nil, err
		}
		if off {
			n.Tracking = Tracking{}
		}
	}
	keys, err := s.Suppressions.Keys(ctx, tx, n.ToEmail)
	if err != nil {
		return nil, err
	}

	if found, err := suppression.Find(ctx, tx, keys, n.Purpose == Marketing); err != nil {
		return nil, err
	} else if found != nil {
		return nil, suppressedFault(found.Reason)
	}
	if !isLive() {
		return nil, goneFault()
	}

	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return nil, err
	}

	r := Row{Email: n.newRow(pair.Org, now), Edit: 1}
	c := contentOf(n, &r.Email)
	targets := s.addTracking(tx.Org(), n, &r.Email, c, pair.Org)
	s.setReplyAddress(tx.Org(), &r.Email, c, pair.Org)
	c.addUnsubscribeAddress()
	if n.InReplyTo != nil {
		if err := s.linkAnswered(ctx, tx, n, &r.Email, c); err != nil {
			return nil, err
		}
	}
	if _, err := c.composedMail(&r.Email, n.Attachments).MIME(); err != nil {
		return nil, badContent(err)
	}

	queueInsert(tx, &r.Email, c, n)
	links.Store(tx, r.ID, targets)

	return &Full{Row: r, Content: c.asShown(n.Attachments)}, nil
}

// addTracking replaces the links of a tracked mail and adds its pixel. It returns the targets of the links.
func (s *Service) addTracking(org id.ID, n *New, e *Email, c *content, key orgkey.Key) []string {
	base := cmp.Or(n.LinkBase, s.PublicURL)
	if c.html == "" || base == "" || !n.Tracking.Opens && !n.Tracking.Clicks {
		return nil
	}
	m := links.Mail{
		Org: org, Email: e.ID, Key: key, Base: base, HTML: c.html, Opens: n.Tracking.Opens,
		Clicks: n.Tracking.Clicks,
	}
	var targets []string
	c.html, targets = m.Instrument()
	return targets
}

func notActive(m *mailboxes.Sending) error {
	f := fault.New(fault.MailboxNotActive, "The mailbox does not send in its present state.")
	f.More = map[string]any{"status": m.Status}
	return f
}

// goneFault is the fault of a mailbox that was archived after it was read.
func goneFault() error {
	return fault.New(fault.MailboxNotActive, "The mailbox was deleted.")
}

func suppressedFault(reason string) error {
	f := fault.New(fault.Suppressed, "The address is suppressed, so no mail may be sent to it.")
	f.More = map[string]any{"reason": reason}
	return f
}

// newRow returns the row of n.
func (n *New) newRow(key orgkey.Key, now wire.Time) Email {
	i := n.ID
	if i.IsZero() {
		i = id.New()
	}
	e := Email{
		ID: i, ContactID: orNone(n.ContactID), MailboxID: n.Mailbox.ID, ThreadID: i, ReplyToID: n.InReplyTo,
		Purpose: n.Purpose, To: n.ToEmail, Subject: n.Subject, MessageID: MessageID(key, i, n.Mailbox.FromDomain),
		Status: Planned, Evidence: []Evidence{}, Tracking: n.Tracking, CreatedAt: now, UpdatedAt: now,
	}
	if a := n.Automated; a != nil {
		if e.automated = true; a.Broadcast.IsZero() {
			e.EnrolmentID, e.Step = &a.Enrolment, &a.Step
		} else {
			e.BroadcastID = &a.Broadcast
		}
		if a.Variant != "" {
			e.Variant = &a.Variant
		}
	}
	if n.ScheduledAt != nil && n.ScheduledAt.After(now.Time) {
		e.Status, e.ScheduledAt = Scheduled, n.ScheduledAt
	}

	return e
}

// orNone returns nil for the zero id.
func orNone(i id.ID) *id.ID {
	if i.IsZero() {
		return nil
	}
	return &i
}

// MessageID returns the Message-ID of an email of the org whose key is given, without angle brackets. Nobody outside
// can guess it, and it tells nothing of the email.
func MessageID(key orgkey.Key, email id.ID, domain string) string {
	sum := key.Hash("email.message_id", email.String())[:20] // 160 bits, so that most fit a line of the header
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum)) + "@" + domain
}

// HashOf returns the hash by which an email is found from its Message-ID, which is given without angle brackets.
func HashOf(messageID string) []byte {
	sum := sha256.Sum256([]byte(messageID))
	return sum[:16]
}

// linkAnswered makes e an answer to the email n.InReplyTo.
func (s *Service) linkAnswered(ctx context.Context, tx *postgres.Tx, n *New, e *Email, c *content) error {
	var (
		contact *id.ID
		refs    []string
	)
	err := tx.QueryRow(ctx, `
		SELECT e.contact_id, e.thread_id, e.message_id, coalesce(c.refs, '{}')
		FROM email e LEFT JOIN email_content c ON c.org_id = e.org_id AND c.email_id = e.id
		WHERE e.org_id = $1 AND e.id = $2`, []any{tx.Org(), *n.InReplyTo}, &contact, &e.ThreadID, &c.inReplyTo, &refs)
	if err != nil && !postgres.None(err) {
		return fmt.Errorf("read email to answer: %w", err)
	}
	if err != nil || contact == nil || *contact != n.ContactID {
		return fault.Invalid("in_reply_to_email_id", "not_found", "The contact has no such email.")
	}

	c.refs = compose.References(refs, c.inReplyTo)

	return nil
}

func queueInsert(tx *postgres.Tx, e *Email, c *content, n *New) {
	_, domain := compare.SplitAddress(e.To)
	due, late := e.CreatedAt, usualLateHours
	if n.Automated != nil {
		late = n.Automated.LateHours
	}
	if e.ScheduledAt != nil {
		due = *e.ScheduledAt
	}
	tx.Queue(`
		INSERT INTO email (org_id, id, mailbox_id, contact_id, thread_id, reply_to_id, purpose, subject, to_email,
			to_domain, message_id, message_hash, status, scheduled_at, due_at, track_opens, track_clicks, created_by,
			created_at, updated_at, enrolment_id, step, variant, automated, late_hours, broadcast_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $19, $20, $21,
			$22, $23, $24, $25)`,
		tx.Org(), e.ID, e.MailboxID, e.ContactID, e.ThreadID, e.ReplyToID, e.Purpose, e.Subject, e.To, domain,
		e.MessageID, HashOf(e.MessageID), e.Status, e.ScheduledAt, due, e.Tracking.Opens, e.Tracking.Clicks, n.By,
		e.CreatedAt, e.EnrolmentID, e.Step, e.Variant, e.automated, late,
		e.BroadcastID)
	tx.Queue(`
		INSERT INTO email_content (org_id, email_id, from_email, from_name, reply_to, to_name, html, text, in_reply_to,
			refs, list_unsubscribe, dated_at, attachments, created_at, bounce_to)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		tx.Org(), e.ID, c.fromEmail, c.fromName, c.replyTo, c.toName, c.html, c.text, c.inReplyTo, c.refs,
		c.listUnsubscribe, c.datedAt, len(n.Attachments), e.CreatedAt, c.bounceTo)
	for i, a := range n.Attachments {
		tx.Queue(`INSERT INTO email_attachment (org_id, email_id, n, name, type, content)
			VALUES ($1, $2, $3, $4, $5, $6)`, tx.Org(), e.ID, i, a.Name, a.Type, a.Content)
	}
}

// dateHeader returns the Date of an email: when it may be sent, in whole seconds as in a header.
func dateHeader(e *Email) time.Time {
	at := e.CreatedAt.Time
	if e.ScheduledAt != nil {
		at = e.ScheduledAt.Time
	}
	return at.Truncate(time.Second)
}
