package emails

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// lockEmail returns an email with its row locked until the end of tx.
func lockEmail(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	var r Row
	states.LockOf(tx, i)
	err := tx.QueryRow(ctx, `SELECT `+columns+` FROM email WHERE org_id = $1 AND id = $2 FOR UPDATE`,
		[]any{tx.Org(), i}, r.targets()...)
	if postgres.None(err) {
		return r, fault.New(fault.NotFound, absent)
	}
	if err != nil {
		return r, fmt.Errorf("lock email: %w", err)
	}
	return r, nil
}

// Cancel stops an email that is not being transmitted yet. Cancelling a cancelled email changes nothing. Any other
// status is a too_late fault.
func Cancel(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	r, err := lockEmail(ctx, tx, i)
	if err != nil || r.Status == Cancelled {
		return r, err
	}
	if r.Status != Scheduled && r.Status != Planned {
		return r, fault.New(fault.TooLate, "The email is being transmitted, or is settled.")
	}
	r.Status, r.StatusReason, r.UpdatedAt = Cancelled, new(ByPerson), wire.Now()
	r.Edit++
	tx.Queue(`UPDATE email SET status = 'cancelled', status_reason = $3, updated_at = $4, edit = $5
		WHERE org_id = $1 AND id = $2`, tx.Org(), i, ByPerson, r.UpdatedAt, r.Edit)
	return r, r.notSent(ctx, tx, states.Unsent{Reason: ByPerson})
}

// Resolve settles an unknown email by the word of a person, who knows whether the mail was sent. It is never sent
// again: an email that was not sent has failed, and can be written anew. by is the person, "user/<id>".
func (s *Service) Resolve(ctx context.Context, tx *postgres.Tx, i id.ID, sent bool, by string) (Row, error) {
	r, err := lockEmail(ctx, tx, i)
	if err != nil {
		return r, err
	}
	if r.Status != Unknown {
		return r, fault.New(fault.NotUnknown, "Only an email with the status unknown can be resolved.")
	}
	now := wire.Now()
	if wait := s.tooEarly(&r, now.Time); wait > 0 {
		f := fault.New(fault.TooEarly,
			"The server may still answer, or evidence may be found. Resolve the email later.")
		f.RetryAfter = wait
		return r, f
	}

	v := Evidence{Kind: Person, Result: Sent, At: now, By: by}
	r.StatusReason = nil
	if r.Status = Sent; !sent {
		v.Result, r.Status, r.StatusReason = NotSent, Failed, new(NotSent)
	} else {
		r.SentAt = r.MarkedAt
	}
	r.Evidence, r.UpdatedAt = append(r.Evidence, v), now
	r.Edit++

	return r, recordOutcome(ctx, tx, &r)
}

func (s *Service) tooEarly(r *Row, now time.Time) time.Duration {
	if r.MarkedAt == nil {
		return 0
	}
	return r.MarkedAt.Add(s.resolveAfter()).Sub(now)
}

// recordOutcome writes the status, the evidence and the counters of r, and announces what became of the email.
func recordOutcome(ctx context.Context, tx *postgres.Tx, r *Row) error {
	reason := ""
	if r.StatusReason != nil {
		reason = *r.StatusReason
	}
	tx.Queue(`UPDATE email SET status = $3, status_reason = $4, sent_at = $5, evidence = $6, updated_at = $7, edit = $8,
			computed = $9 WHERE org_id = $1 AND id = $2`,
		tx.Org(), r.ID, r.Status, reason, r.SentAt, r.Evidence, r.UpdatedAt, r.Edit, r.Computed)
	switch r.Status {
	case Sent:
		if err := announceOutcome(ctx, tx, events.EmailSent{Email: r.Event()}); err != nil {
			return err
		}
		return r.goOn(ctx, tx, time.Now(), Sent)
	case Failed:
		if err := announceOutcome(ctx, tx, events.EmailFailed{Email: r.Event()}); err != nil {
			return err
		}
		return r.notSent(ctx, tx, states.Unsent{Failed: true, Reason: reason})
	}

	return nil
}
