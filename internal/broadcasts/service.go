package broadcasts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Service changes and sends broadcasts. It is safe for concurrent use.
type Service struct {
	Emails    *emails.Service
	Templates *templates.Service
	// AllowPrivate spares the senders: their domains need no records.
	AllowPrivate bool
	// Prepare adds the job that calls Step for a run of a broadcast at a time.
	Prepare func(ctx context.Context, tx *postgres.Tx, broadcast id.ID, run int, at time.Time) error
	// Send adds the job of an email.
	Send func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error
}

// Lock queues the lock that decides the order of marks and of changes of a broadcast.
func Lock(tx *postgres.Tx, broadcast id.ID) { emails.LockBroadcast(tx, broadcast) }

func (s *Service) lockRow(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	Lock(tx, i)
	return table.Lock(ctx, tx, i, false)
}

// Schedule schedules a draft, or a scheduled broadcast anew, to be sent at a time; nil: at its send_at, or at once if
// it has none. A validation fault names what is missing; the error is an already_started fault if it was sent already.
func (s *Service) Schedule(ctx context.Context, tx *postgres.Tx, i id.ID, at *wire.Time) (Row, error) {
	row, err := s.lockRow(ctx, tx, i)
	if err != nil {
		return row, err
	}
	b := &row.Value
	if b.Status != Draft && b.Status != Scheduled {
		return row, startedFault("The broadcast was sent already, or cancelled.")
	}

	if at != nil {
		b.SendAt = at
	}
	if b.SendAt == nil {
		now := wire.Now()
		b.SendAt = &now
	}
	row.Edit++
	b.UpdatedAt = wire.Now()

	return row, s.queueSchedule(ctx, tx, &row)
}

// queueSchedule checks a locked broadcast, freezes its mail, and queues its schedule with the job.
func (s *Service) queueSchedule(ctx context.Context, tx *postgres.Tx, row *Row) error {
	b := &row.Value
	if b.MailboxID != nil {
		mailboxes.LockUse(tx, *b.MailboxID)
	}
	frozen, err := s.freezeMail(ctx, tx, b)
	if err != nil {
		return err
	}
	start, err := b.startTime(ctx, tx)
	if err != nil {
		return err
	}

	b.Status = Scheduled
	if !start.After(time.Now()) {
		b.Status = Preparing
	}
	b.run++
	tx.Queue(`UPDATE broadcast SET status = $3, send_at = $4, frozen = $5, run = $6, updated_at = $7, edit = $8
		WHERE org_id = $1 AND id = $2`, tx.Org(), b.ID, b.Status, b.SendAt, frozen, b.run, b.UpdatedAt, row.Edit)

	return s.Prepare(ctx, tx, b.ID, b.run, start)
}

// earliest is the time zone in which a day begins first.
const earliest = "Pacific/Kiritimati"

// startTime returns when the first contact may be due.
func (b *Broadcast) startTime(ctx context.Context, tx *postgres.Tx) (time.Time, error) {
	if !b.LocalTime {
		return b.SendAt.Time, nil
	}
	home, err := orgZone(ctx, tx)
	if err != nil {
		return time.Time{}, err
	}
	zone, err := time.LoadLocation(earliest)
	if err != nil {
		return time.Time{}, fmt.Errorf("load time zone: %w", err)
	}
	return schedule.Local(b.SendAt.Time, home, zone), nil
}

// orgZone returns the time zone of the org of tx.
func orgZone(ctx context.Context, tx *postgres.Tx) (*time.Location, error) {
	var name string
	if _, err := org.Setting(ctx, tx, "time_zone", &name); err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(name) // "" is UTC
	if err != nil {
		return time.UTC, nil //nolint:nilerr // a zone that this version does not know
	}
	return zone, nil
}

// freezeMail returns the stored form of the mail as it is sent, or a validation fault with everything that keeps the
// broadcast from being sent.
func (s *Service) freezeMail(ctx context.Context, tx *postgres.Tx, b *Broadcast) (string, error) {
	settings, err := orgsending.Read(ctx, tx)
	if err != nil {
		return "", err
	}
	mail, err := b.resolveTemplate(ctx, tx)
	if err != nil {
		return "", err
	}
	if err := s.checkGates(ctx, tx, b, mail, settings); err != nil {
		return "", err
	}

	raw, err := json.Marshal(mail.withPostalAddress(*settings.PostalAddress))
	if err != nil {
		return "", fmt.Errorf("encode mail: %w", err)
	}

	return string(raw), nil
}

// frozen is a mail as it is sent.
type frozen struct {
	Blocks []compose.Block `json:"blocks"` // of the template
	steps.Email
}

// variantSource returns the parts of a variant; "": of a mail without variants.
func (m *frozen) variantSource(variant string) compose.Source {
	out := m.Source(variant)
	if out.HTML == "" {
		out.Blocks = m.Blocks
	}
	return out
}

// resolveTemplate returns the mail with the parts of its template.
func (b *Broadcast) resolveTemplate(ctx context.Context, tx *postgres.Tx) (*frozen, error) {
	step := b.Email.asStep()
	m := &frozen{Email: *step.Email}
	if b.Email.TemplateID == nil {
		return m, nil
	}
	row, err := templates.Get(ctx, tx, *b.Email.TemplateID, false)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Invalid("email/template_id", "not_found", "There is no such template any more.")
	}
	if err != nil {
		return nil, err
	}

	from := row.Value.Source()
	if m.Subject == "" {
		m.Subject = from.Subject
	}
	if m.HTML == "" {
		m.HTML, m.Blocks = from.HTML, from.Blocks
	}
	if m.Text == "" {
		m.Text = from.Text
	}

	return m, nil
}

// checkGates checks the mail by the rules of a sequence's activation, and the audience.
func (s *Service) checkGates(ctx context.Context, tx *postgres.Tx, b *Broadcast, mail *frozen,
	settings *orgsending.Settings,
) error {
	g := &sequences.Gates{
		AllowPrivate: s.AllowPrivate, Lint: func(source compose.Source) ([]compose.Finding, error) {
			if source.HTML == "" {
				source.Blocks = mail.Blocks
			}
			return templates.Lint(ctx, tx, source)
		},
	}
	if settings.PostalAddress != nil {
		g.PostalAddress = *settings.PostalAddress
	}
	all := &sequences.Sequence{Steps: []steps.Step{{Key: "broadcast", Kind: "email", Email: &mail.Email}}}
	if b.MailboxID != nil {
		all.MailboxIDs = []id.ID{*b.MailboxID}
	}
	err := g.Check(ctx, tx, all)
	f := fault.Of(err)
	if err != nil && f == nil {
		return err
	}

	if f == nil {
		f = &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields."}
	}
	for i := range f.Fields {
		p := &f.Fields[i].Pointer
		*p = strings.Replace(strings.Replace(*p, "#/steps/0/", "#/", 1), "#/mailbox_ids", "#/mailbox_id", 1)
		*p = strings.Replace(*p, "#/mailbox_id/0", "#/mailbox_id", 1)
	}
	if b.Segment == nil && b.Filter == nil {
		f.Fields = append(f.Fields, fault.FieldError{
			Pointer: "#/segment", Code: "required", Detail: "A broadcast needs a segment or a filter.",
		})
	}
	if strings.TrimSpace(mail.Subject) == "" && len(mail.Variants) == 0 {
		f.Fields = append(f.Fields, fault.FieldError{
			Pointer: "#/email/subject", Code: "required", Detail: "A mail needs a subject.",
		})
	}
	if len(f.Fields) == 0 {
		return nil
	}

	return f
}

// Update applies p to a broadcast that is a draft or scheduled. Otherwise the error is an already_started fault. One
// that is scheduled is checked again, as Schedule does.
func (s *Service) Update(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *Patch) (Change, error) {
	ch, err := updateEditable(ctx, tx, i, match, p)
	if err != nil || !ch.Changed() || ch.Value.Status != Scheduled {
		return ch, err
	}
	if ch.Value.SendAt == nil {
		return ch, fault.Invalid("send_at", "required", "A scheduled broadcast needs a time.")
	}
	return ch, s.queueSchedule(ctx, tx, &ch.Row)
}

// Pause stops the sending of a broadcast, and returns a paused one unchanged.
func (s *Service) Pause(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	row, err := s.lockRow(ctx, tx, i)
	b := &row.Value
	if err != nil || b.Status == Paused {
		return row, err
	}
	if b.Status != Scheduled && b.Status != Preparing && b.Status != Sending {
		return row, fault.New(fault.Conflict, "Only a broadcast that is scheduled or being sent can be paused.")
	}

	b.resumes, b.Status = b.Status, Paused
	b.run++
	b.queueStatus(tx)
	return row, nil
}

// Stopped pauses a broadcast whose job will not run again. A job of an earlier run is of no matter.
func Stopped(ctx context.Context, tx *postgres.Tx, i id.ID, run int) error {
	s := &Service{}
	row, err := s.lockRow(ctx, tx, i)
	if err == nil && row.Value.run == run {
		_, err = s.Pause(ctx, tx, i)
	}
	if fault.Of(err) != nil {
		return nil //nolint:nilerr // it is archived, or over
	}
	return err
}

// Resume returns a paused broadcast to the status before, and one that is under way unchanged.
func (s *Service) Resume(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	row, err := s.lockRow(ctx, tx, i)
	if err != nil {
		return row, err
	}
	b, at := &row.Value, time.Now()
	switch b.Status {
	case Paused:
	case Scheduled, Preparing, Sending:
		return row, nil
	default:
		return row, fault.New(fault.Conflict, "Only a paused broadcast can be resumed.")
	}

	b.Status, b.resumes = b.resumes, ""
	if b.Status == Scheduled {
		if at, err = b.startTime(ctx, tx); err != nil {
			return row, err
		}
	}
	b.run++
	b.queueStatus(tx)
	waiting, err := emails.WaitingOf(ctx, tx, b.ID)
	if err != nil {
		return row, err
	}

	for _, w := range waiting {
		if err := s.Send(ctx, tx, w.Email, w.Mailbox); err != nil {
			return row, err
		}
	}

	return row, s.Prepare(ctx, tx, b.ID, b.run, at)
}

// Cancel stops a broadcast for good. Cancelling a cancelled one changes nothing; the error is a too_late fault if all
// of it was sent.
func (s *Service) Cancel(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	row, err := s.lockRow(ctx, tx, i)
	b := &row.Value
	if err != nil || b.Status == Cancelled {
		return row, err
	}
	if b.Status == Sent {
		return row, fault.New(fault.TooLate, "All of the broadcast was sent.")
	}

	b.Status, b.resumes = Cancelled, ""
	b.run++
	b.queueStatus(tx)
	emails.CancelBroadcast(tx, b.ID)

	return row, nil
}

// queueStatus queues the status of a locked broadcast.
func (b *Broadcast) queueStatus(tx *postgres.Tx) {
	b.Computed++
	tx.Queue(`UPDATE broadcast SET status = $3, resumes = $4, run = $5, completed_at = $6, computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), b.ID, b.Status, b.resumes, b.run, b.CompletedAt)
}
