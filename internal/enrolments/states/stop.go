package states

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Reply is an incoming mail of a person, or of a program that answers for one.
type Reply struct {
	Message   id.ID  // zero: none
	Contact   *id.ID // who has sent it; nil: no contact has the address
	Email     *id.ID // the email that it answers; nil: none
	Enrolment *id.ID // of that email; nil: none
	At        time.Time
	Settles   bool // a person has said what the mail is, of which that was in doubt
}

// messageID returns the message, or nil if a provider has reported the bounce.
func (r *Reply) messageID() *id.ID {
	if r.Message.IsZero() {
		return nil
	}
	return &r.Message
}

// lateReply is how long after its end a finished enrolment becomes replied by an answer to one of its emails.
const lateReply = 30 * 24 * time.Hour

// LockFor queues the locks of the enrolments that a reply may end, which precede the lock of the email.
func (r *Reply) LockFor(tx *postgres.Tx) {
	tx.Queue(`SELECT FROM enrolment n WHERE n.org_id = $1 AND (n.contact_id = $2::uuid AND `+Open+`
		OR n.id = $3::uuid) ORDER BY n.id FOR UPDATE`, tx.Org(), r.Contact, r.Enrolment)
}

// Human ends the open enrolments of the contact and of the email, and those of colleagues whose sequences are to end by
// a reply of the company. An answer to an email of a finished enrolment makes it replied. reason is reply, or what else
// the mail is.
func (r *Reply) Human(ctx context.Context, tx *postgres.Tx, reason string) error {
	c := Cause{Text: reason, Email: r.Email, Message: r.messageID()}
	to := To{State: Replied, Reason: reason}
	if _, err := Move(ctx, tx, to, c, `(n.contact_id = $8::uuid AND n.started_at IS NOT NULL OR n.id = $9::uuid)
		AND n.stop_reply AND `+Open+`
		OR n.id = $9::uuid AND n.state = 'finished' AND n.ended_at > $10::timestamptz AND n.stop_reply`, r.Contact,
		r.Enrolment, r.At.Add(-lateReply)); err != nil {
		return err
	}

	if r.Contact == nil {
		return nil
	}

	c.Text = "company_reply"
	_, err := Move(ctx, tx, To{State: Replied, Reason: c.Text}, c, `n.stop_company AND `+Open+`
		AND n.contact_id IN (SELECT o.id FROM contact me JOIN contact o ON o.org_id = $1 AND o.company_id =
			me.company_id
			AND o.id <> me.id WHERE me.org_id = $1 AND me.id = $8)`, *r.Contact)

	return err
}

// awayFor is how long an automatic reply without a date pauses an enrolment.
const awayFor = 7 * 24 * time.Hour

// Away pauses the open enrolments of the contact and of the email until a day, or for a week.
func (r *Reply) Away(ctx context.Context, tx *postgres.Tx, until *time.Time) error {
	at := r.At.Add(awayFor)
	if until != nil && until.After(r.At) {
		at = *until
	}
	_, err := Move(ctx, tx, To{State: Paused, Reason: "out_of_office", ResumeAt: &at},
		Cause{Text: "out_of_office", Email: r.Email, Message: r.messageID()},
		`(n.contact_id = $8::uuid AND n.started_at IS NOT NULL OR n.id = $9::uuid) AND (n.state IN ('pending', 'active',
			'sending') OR $10 AND n.state = 'paused' AND n.reason = '`+ReplyUnsure+`')`, r.Contact, r.Enrolment,
		r.Settles)
	return err
}

// softWithin is the time in which softBounces of a contact's emails end its enrolments.
const (
	softWithin  = 72 * time.Hour
	softBounces = 3
)

// SoftBounce ends the enrolment of an email that has bounced for now, if it is one of three within 72 hours. The fact
// must be written already.
func (r *Reply) SoftBounce(ctx context.Context, tx *postgres.Tx) error {
	_, err := Move(ctx, tx, To{State: Bounced, Reason: "soft_bounces"},
		Cause{Text: "soft_bounces", Email: r.Email, Message: r.messageID()}, `n.id = $8::uuid AND `+Open+`
		AND $9 <= (SELECT count(*) FROM email e WHERE e.org_id = $1 AND e.contact_id = n.contact_id
			AND e.bounced = 'soft' AND e.marked_at > $10::timestamptz)
		AND NOT EXISTS (SELECT FROM email e WHERE e.org_id = $1 AND e.contact_id = n.contact_id
			AND e.delivered_at > $10::timestamptz)`, r.Enrolment, softBounces, r.At.Add(-softWithin))
	return err
}

// HardBounce ends the enrolment of an email that has bounced for good.
func (r *Reply) HardBounce(ctx context.Context, tx *postgres.Tx) error {
	_, err := Move(ctx, tx, To{State: Bounced, Reason: "hard_bounce"},
		Cause{Text: "hard_bounce", Email: r.Email, Message: r.messageID()}, `n.id = $8::uuid AND `+Open, r.Enrolment)
	return err
}

// Suppressed ends the open enrolments of the contacts with the addresses, which are folded as those of contacts are. An
// archived contact has no open enrolments.
// reason is the reason of the suppression.
func Suppressed(ctx context.Context, tx *postgres.Tx, addresses []string, reason string) error {
	if len(addresses) == 0 {
		return nil
	}
	_, err := Move(ctx, tx, suppressedTo(reason), Cause{Text: "suppression"}, `n.contact_id IN (SELECT c.id
		FROM unnest($8::text[]) AS a (email) CROSS JOIN LATERAL (SELECT id FROM contact WHERE org_id = $1
			AND archived_at IS NULL AND email_folded = a.email LIMIT 1) c) AND `+Open,
		addresses)
	return err
}

// SuppressedDomains is Suppressed for the contacts with an address of a domain. It reads every open enrolment.
func SuppressedDomains(ctx context.Context, tx *postgres.Tx, domains []string, reason string) error {
	if len(domains) == 0 {
		return nil
	}
	_, err := Move(ctx, tx, suppressedTo(reason), Cause{Text: "suppression"}, Open+` AND EXISTS (SELECT FROM contact c
		WHERE c.org_id = $1 AND c.id = n.contact_id AND split_part(c.email_folded, '@', 2) = ANY ($8::text[]))`,
		domains)
	return err
}

func suppressedTo(reason string) To {
	if reason == "hard_bounce" {
		return To{State: Bounced, Reason: reason}
	}
	return To{State: Unsubscribed, Reason: reason}
}

// Archived ends the open enrolments of contacts that were archived or merged into another one.
func Archived(ctx context.Context, tx *postgres.Tx, contacts []id.ID, reason string) error {
	if len(contacts) == 0 {
		return nil
	}
	_, err := Move(ctx, tx, To{State: Removed, Reason: reason}, Cause{Text: reason},
		`n.contact_id = ANY ($8::uuid[]) AND `+Open, contacts)
	return err
}

// DealWon ends the open enrolments of a contact whose sequences are to end by a won deal.
func DealWon(ctx context.Context, tx *postgres.Tx, contact id.ID) error {
	_, err := Move(ctx, tx, To{State: GoalMet, Reason: "deal_won"}, Cause{Text: "deal_won"},
		`n.contact_id = $8 AND n.stop_deal AND `+Open, contact)
	return err
}

// TaskDone lets the enrolments that wait for a task go on. A paused one goes on when it is resumed.
func TaskDone(ctx context.Context, tx *postgres.Tx, task id.ID) error {
	return dueNow(ctx, tx, `task_id = $2 AND state IN ('active', 'paused') AND due_at IS NULL AND kept_due_at IS NULL`,
		task)
}

// Noticed lets a condition that waits be decided again: a fact about an email of the enrolment is new.
func Noticed(ctx context.Context, tx *postgres.Tx, enrolment id.ID) error {
	return dueNow(ctx, tx, `id = $2 AND state = 'active' AND until_at IS NOT NULL AND due_at > clock_timestamp()`,
		enrolment)
}

// dueGroup is a group with a step that is due.
type dueGroup struct {
	ID int64
	At time.Time
}

// dueNow makes the enrolments that where selects due, the paused ones once they are resumed. Its argument is $2.
func dueNow(ctx context.Context, tx *postgres.Tx, where string, arg id.ID) error {
	// The earlier one of the two clocks: Postgres's may be ahead and be set back.
	now := time.Now()
	rows, err := tx.Query(ctx, `UPDATE enrolment SET
			due_at = CASE WHEN state <> 'paused' THEN least(clock_timestamp(), $3) END,
			kept_due_at = CASE WHEN state = 'paused' THEN least(clock_timestamp(), $3) END
		WHERE org_id = $1 AND `+where+` RETURNING grp, least(clock_timestamp(), $3)`, tx.Org(), arg, now)
	if err != nil {
		return fmt.Errorf("make step due: %w", err)
	}

	groups, err := pgx.CollectRows(rows, pgx.RowToStructByPos[dueGroup])
	if err != nil {
		return fmt.Errorf("make step due: %w", err)
	}

	for _, g := range groups {
		Due(tx, g.ID, g.At)
	}

	return nil
}

// Erase queues the removal of a contact's enrolments.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM enrolment_history h USING enrolment n WHERE n.org_id = $1 AND n.contact_id = $2 AND
		h.org_id = $1
		AND h.enrolment_id = n.id`, tx.Org(), contact)
	tx.Queue(`DELETE FROM enrolment WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
	tx.Queue(`DELETE FROM enrolment_result WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
	tx.Queue(`DELETE FROM segment_entry WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}
