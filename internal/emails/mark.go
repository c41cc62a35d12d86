package emails

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// RefusedError is a mark that was not given. The email is certainly not sent by this run.
type RefusedError struct {
	// Settled reports that the run is over: the email was cancelled, or belongs to another run. Otherwise it waits.
	Settled bool
	Reason  string
	At      time.Time     // while it waits: when to try again; zero: when a person has changed something
	Wait    time.Duration // until At, by the clock that At is of
	// WholeMailbox reports that no other email of the mailbox can be sent before At either.
	WholeMailbox bool
}

func (r *RefusedError) Error() string { return "email not marked: " + r.Reason }

// markSQL returns the compare-and-set of the mark, with what may have stopped the email since it was read, and more
// conditions. It returns one row with the result of count if it has set the mark.
func markSQL(more, count string) string {
	return `
WITH marked AS (
	UPDATE email e SET status = 'transmitting', status_reason = '', fence = $3, attempt = attempt + 1,
		marked_at = clock_timestamp(), computed = computed + 1, mime_sha256 = $8
	WHERE org_id = $1 AND id = $2 AND status = 'planned'
		AND ` + held + `
		AND NOT ` + suppression.Blocked("$1", "$4::bytea[]", "$5::bytea[]", "$6") + `
		AND ` + live + ` AND ` + broadcastRuns + `
		AND EXISTS (SELECT FROM org o WHERE o.id = $1 AND o.suspended_at IS NULL AND ` + writable + `)` + more + `
	RETURNING true
)
SELECT ` + count + ` FROM marked`
}

// uncapped is the condition that the mailbox of an email e sends, and that no cap counts its one-to-one mails.
const uncapped = ` AND EXISTS (SELECT FROM mailbox m WHERE m.org_id = $1 AND m.id = e.mailbox_id AND ` +
	mailboxes.SendsUncapped + `) AND ` + orgsending.Uncapped

// held is the condition that the run holds its job.
const held = `($7::uuid IS NULL OR EXISTS (SELECT FROM job j WHERE j.org_id = $1 AND j.id = $7 AND j.owner = $3))`

// planOnce precedes a mark. By default Postgres plans it again for each list of hashes, which takes longer than to
// execute it. Its one plan must not be that of a table of jobs that was empty.
const planOnce = `SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
	set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`

// live is the condition that the contact of an email e is not archived. A test mail has no contact. The emails of a
// purged contact, which have none either, are cancelled.
//
// Its subquery is scalar, as that of broadcastRuns: an EXISTS beside an OR may become a hashed subplan, which reads all
// rows for each mail.
const live = `(e.contact_id IS NULL OR coalesce((SELECT c.archived_at IS NULL FROM contact c WHERE c.org_id = $1
	AND c.id = e.contact_id), false))`

// writable is the condition that an org is not read-only.
const writable = `o.paused_at IS NULL AND (o.writes_until IS NULL OR o.writes_until > clock_timestamp())`

// These roll a mark back: the plan has no email left; the compare-and-set did not find the email as it should be.
var (
	errTaken   = errors.New("the plan's emails of the month are used up")
	errStopped = errors.New("the mark is refused")
)

// refusedCode is the SQLSTATE of the SQL function refuse.
const refusedCode = "FW001"

// Mark commits that the email is being transmitted. After a nil error the final dot may be written, and must be within
// a minute. A *RefusedError says why the mark was not given. After any other error the dot must not be written either:
// whether the mark was committed is not known, and the outcome Unmarked takes it back.
//
// count is an SQL expression that counts the email in the quota of the org $1, in the same transaction, and is false if
// the quota is used up; "true" counts nothing.
func (s *Service) Mark(ctx context.Context, db *postgres.DB, o *Outgoing, mime []byte, count string) error {
	refused, err := o.awaitRate(ctx, db)
	if err != nil {
		return err
	} else if refused != nil {
		return refused
	}
	sum := sha256.Sum256(mime)
	marked, err := o.markAtOnce(ctx, db, sum[:], count)
	if marked || err != nil {
		return err
	}

	err = db.Tx(ctx, o.Org, func(tx *postgres.Tx) (err error) {
		refused, err = o.markTransmitting(ctx, tx, sum[:], count)
		return err
	})
	if errors.Is(err, errTaken) {
		err = db.Tx(ctx, o.Org, func(tx *postgres.Tx) error { return o.cancelEmail(ctx, tx, PlanLimit) })
		refused = &RefusedError{Settled: true, Reason: PlanLimit}
	} else if errors.Is(err, errStopped) {
		err = db.Tx(ctx, o.Org, func(tx *postgres.Tx) (err error) {
			refused, err = o.explainRefusal(ctx, tx)
			return err
		})
	}
	switch {
	case err != nil:
		return fmt.Errorf("mark email: %w", err)
	case refused != nil:
		return refused
	}

	return nil
}

// markAtOnce sets the mark of an email that no cap counts, in one round trip. It returns false, and has changed
// nothing, for any other email and for one that may not be marked.
func (o *Outgoing) markAtOnce(ctx context.Context, db *postgres.DB, sum []byte, count string) (marked bool, err error) {
	if o.automated || o.Mailbox.DailyCap != nil {
		return false, nil
	}
	err = db.Tx(ctx, o.Org, func(tx *postgres.Tx) error {
		tx.Queue(planOnce)
		o.keys.Guard(tx)
		orgsending.Guard(tx)
		sql := markSQL(uncapped, `CASE WHEN `+count+` THEN true ELSE refuse('emails_month', '') END`)
		tx.Queue(sql, o.markArgs(sum)...).Exec(func(tag pgconn.CommandTag) error {
			marked = tag.RowsAffected() == 1
			return nil
		})
		return nil
	})
	if postgres.Code(err) == refusedCode {
		return false, nil // mark refuses it, too
	}
	if err != nil {
		return false, fmt.Errorf("mark email: %w", err)
	}

	return marked, nil
}

// markArgs returns the arguments of the conditions of a mark, and others.
func (o *Outgoing) markArgs(others ...any) []any {
	return append([]any{o.Org, o.ID, o.Fence, o.keys.Org, o.keys.Platform, o.Purpose == Marketing, o.Job}, others...)
}

// awaitRate waits for the next moment of a mailbox with a rate.
func (o *Outgoing) awaitRate(ctx context.Context, db *postgres.DB) (*RefusedError, error) {
	if o.Mailbox.RatePerSecond == nil {
		return nil, nil
	}
	slot, err := mailboxes.TakeRate(ctx, db, o.Org, o.MailboxID)
	if err != nil {
		return nil, err
	}
	if !slot.Free {
		return &RefusedError{Reason: slot.Reason, At: slot.At, Wait: time.Until(slot.At)}, nil
	}

	moment := time.NewTimer(time.Until(slot.At))
	defer moment.Stop()
	select {
	case <-moment.C:
		return nil, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the rate of the mailbox: %w", ctx.Err())
	}
}

func (o *Outgoing) markTransmitting(ctx context.Context, tx *postgres.Tx, sum []byte, count string) (
	*RefusedError, error,
) {
	tx.Queue(planOnce)
	o.keys.Guard(tx)
	caps := orgsending.ReadCaps(tx)
	slot, err := mailboxes.TakeSlot(ctx, tx, o.MailboxID, o.automated)
	var taken func()
	if err == nil && slot.Free {
		slot, taken, err = caps.Take(ctx, tx, o.cappedMail())
		if !slot.Free && o.automated {
			mailboxes.ReturnSlot(tx, o.MailboxID)
		}
	}
	if err != nil {
		return nil, err
	}

	if !slot.Free {
		return o.refuseUntil(ctx, tx, slot)
	}

	if o.EnrolmentID != nil {
		reason, err := states.MayTransmit(ctx, tx, o.stepMail())
		if err != nil {
			return nil, err
		}
		if reason != "" {
			mailboxes.ReturnSlot(tx, o.MailboxID)
			return &RefusedError{Settled: true, Reason: reason}, o.cancelEmail(ctx, tx, reason)
		}
	}
	taken()
	if o.BroadcastID != nil {
		guardBroadcast(tx, *o.BroadcastID)
	}
	var allowed bool
	switch err := tx.QueryRow(ctx, markSQL("", count), o.markArgs(sum), &allowed); {
	case postgres.None(err):
		return nil, errStopped
	case err != nil:
		return nil, fmt.Errorf("set mark: %w", err)
	case !allowed:
		return nil, errTaken
	}

	return nil, nil
}

// cappedMail returns what the caps of the org depend on.
func (o *Outgoing) cappedMail() *orgsending.Mail {
	_, domain := compare.SplitAddress(o.To)
	return &orgsending.Mail{Domain: domain, Automated: o.automated, Sandbox: o.Mailbox.Kind == mailboxes.Sandbox}
}

// refuseUntil returns the refusal of a mail without a free slot. Emails that wait for a known time are due from then
// on, so that the wait does not make them late.
func (o *Outgoing) refuseUntil(ctx context.Context, tx *postgres.Tx, slot mailboxes.Slot) (*RefusedError, error) {
	// Reasons that not all mails have.
	own := []string{mailboxes.ByGap, mailboxes.ByRamp, mailboxes.ServerSilent, orgsending.ByDomain}
	r := &RefusedError{Reason: slot.Reason, At: slot.At, WholeMailbox: !slices.Contains(own, slot.Reason)}
	if slot.At.IsZero() {
		return r, nil
	}
	if err := tx.QueryRow(ctx, `SELECT $1::timestamptz - clock_timestamp()`, []any{slot.At}, &r.Wait); err != nil {
		return nil, fmt.Errorf("read clock: %w", err)
	}

	switch {
	case r.WholeMailbox:
		tx.Queue(`UPDATE email SET due_at = $3 WHERE org_id = $1 AND mailbox_id = $2 AND status = 'planned'
			AND due_at < $3`, tx.Org(), o.MailboxID, slot.At)
	default:
		tx.Queue(`UPDATE email SET due_at = $3 WHERE org_id = $1 AND id = $2 AND status = 'planned' AND due_at < $3`,
			tx.Org(), o.ID, slot.At)
	}

	return r, nil
}

// WaitForMailbox queues that the planned emails of the mailbox are due in d, so that the wait does not make them late.
func (o *Outgoing) WaitForMailbox(tx *postgres.Tx, d time.Duration) {
	tx.Queue(`UPDATE email SET due_at = now() + $3::interval WHERE org_id = $1 AND mailbox_id = $2
		AND status = 'planned' AND due_at < now() + $3::interval`, tx.Org(), o.MailboxID, d)
}

// explainRefusal finds out why the mark was refused, and cancels the email unless another run has it. If the reason is
// gone, the email waits for its next run.
func (o *Outgoing) explainRefusal(ctx context.Context, tx *postgres.Tx) (*RefusedError, error) {
	var own, lost, suspended, writes, lives, runs, blocked bool
	states.LockOf(tx, o.ID)
	err := tx.QueryRow(ctx, `
		SELECT e.status = 'planned' AND `+held+`, e.status = 'transmitting' AND e.fence IS DISTINCT FROM $3 AND NOT
			EXISTS (SELECT FROM job j WHERE j.org_id = $1 AND j.owner = e.fence),
			EXISTS (SELECT FROM org o WHERE o.id = $1 AND o.suspended_at IS NOT NULL),
			EXISTS (SELECT FROM org o WHERE o.id = $1 AND `+writable+`),
			`+live+`, `+broadcastRuns+`, `+suppression.Blocked("$1", "$4::bytea[]", "$5::bytea[]", "$6")+`
		FROM email e WHERE org_id = $1 AND id = $2 FOR UPDATE`, o.markArgs(), &own, &lost, &suspended, &writes, &lives,
		&runs, &blocked)
	if err == nil && lost { // its next run finds that it is marked
		return &RefusedError{Reason: "a run that is gone has marked the email", At: time.Now()}, nil
	}

	if postgres.None(err) || err == nil && !own {
		return &RefusedError{Settled: true, Reason: "the email is settled, or another run has it"}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read why the mark is refused: %w", err)
	}

	if suspended { // the email waits: its job is held until the org is resumed
		return &RefusedError{Reason: "the organization is suspended"}, nil
	}

	if !runs { // the email waits, and gets a job when the broadcast is resumed
		return &RefusedError{Settled: true, Reason: BroadcastPaused}, nil
	}

	reason := Suppressed
	switch {
	case !writes:
		reason = OrgReadOnly
	case !lives:
		reason = ContactArchived
	case !blocked:
		return &RefusedError{Reason: "what stopped the email has ended", At: time.Now()}, nil
	}

	return &RefusedError{Settled: true, Reason: reason}, o.cancelEmail(ctx, tx, reason)
}
