package emails

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// FinalReply is what a run knows of an email after its mark: the server's reply to the final dot, or that no dot was
// written. It is kept until it is written (internal/emails/replyjournal), and has no address and nothing of the mail.
type FinalReply struct {
	Org     id.ID           `json:"org"`
	Email   id.ID           `json:"email"`
	Job     id.ID           `json:"job"`
	Fence   id.ID           `json:"fence"` // of the run that marked the email
	Verdict Verdict         `json:"verdict"`
	Reply   transport.Reply `json:"reply"`
	Hold    bool            `json:"hold,omitempty"` // as in transport.Result
	At      time.Time       `json:"at"`             // by the clock of the process
}

// Verdict is the meaning of a FinalReply.
type Verdict string

// The verdicts.
const (
	TookMail    Verdict = "accepted" // 2yz
	RefusedMail Verdict = "refused"  // 5yz: it will not take the mail
	PutOff      Verdict = "put_off"  // 4yz: it may take the mail later
	NoDot       Verdict = "no_dot"   // the mark may have been committed, and the dot was not written
)

// FinalReplyOf returns what r says about an email that may be marked. It returns false if r leaves that open, or if the
// email was not marked.
func FinalReplyOf(o *Outgoing, r *transport.Result) (FinalReply, bool) {
	out := FinalReply{Org: o.Org, Email: o.ID, Fence: o.Fence, Reply: r.Reply, Hold: r.Hold, At: time.Now()}
	if o.Job != nil {
		out.Job = *o.Job
	}
	_, unmarked := errors.AsType[*RefusedError](r.Err)
	switch {
	case r.Outcome == transport.MarkRefused && !unmarked:
		out.Verdict = NoDot
	case r.Stage != transport.Dot:
		return out, false
	case r.Outcome == transport.Sent:
		out.Verdict = TookMail
	case r.Outcome == transport.NotSentPermanent && Diagnose(r).About == diagnosis.Sender:
		out.Verdict = PutOff // the mail waits for its mailbox
	case r.Outcome == transport.NotSentPermanent:
		out.Verdict = RefusedMail
	case r.Outcome == transport.NotSentTemporary:
		out.Verdict = PutOff
	default:
		return out, false
	}

	return out, true
}

// Result returns the result of the dialogue.
func (f *FinalReply) Result() transport.Result {
	r := transport.Result{Stage: transport.Dot, Reply: f.Reply, Hold: f.Hold}
	switch f.Verdict {
	case TookMail:
		r.Outcome = transport.Sent
	case RefusedMail:
		r.Outcome = transport.NotSentPermanent
	case PutOff:
		r.Outcome = transport.NotSentTemporary
	default:
		r.Outcome, r.Stage = transport.MarkRefused, transport.Data
	}
	return r
}

// Replayed is the effect of a FinalReply.
type Replayed string

// The effects.
const (
	ReplayedSent   Replayed = Sent
	ReplayedFailed Replayed = Failed
	// Obsolete: the email is settled, belongs to another run, or is gone. Nothing was written.
	Obsolete Replayed = "obsolete"
	// Waits: the email is transmitting, and the next run of its job decides. Nothing was written.
	Waits Replayed = "waits"
)

// Replay writes the final reply of a run that could not write it. It changes an email that is unknown, or still
// transmitting, by the mark of that run, to sent or to failed, and nothing else. The run's completion is written with
// it, so that the outcome is written once, even if a commit of the run is still under way.
//
// Of an email that the server put off, or whose dot was not written, the job may try again while it is transmitting, so
// the reply waits. An unknown one was put off for the last time.
func Replay(ctx context.Context, tx *postgres.Tx, f *FinalReply) (Replayed, error) {
	if f.Verdict == TookMail || f.Verdict == RefusedMail {
		queue.EndLostRun(tx, f.Job, f.Fence) // before the email, as completions of many runs do
	}
	r, err := lockEmail(ctx, tx, f.Email)
	if fault.Is(err, fault.NotFound) {
		return Obsolete, nil
	}
	if err != nil {
		return "", err
	}

	marked := false
	if err := tx.QueryRow(ctx, `SELECT fence IS NOT DISTINCT FROM $3 FROM email WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), f.Email, f.Fence}, &marked); err != nil {
		return "", fmt.Errorf("read the run of an email: %w", err)
	}

	switch {
	case !marked, r.Status != Transmitting && r.Status != Unknown:
		return Obsolete, nil
	case f.Verdict == TookMail:
		return ReplayedSent, r.acceptLate(ctx, tx, f)
	case f.Verdict == RefusedMail:
		return ReplayedFailed, r.failLate(ctx, tx, f, Rejected)
	case r.Status == Transmitting:
		return Waits, nil
	case f.Verdict == PutOff:
		return ReplayedFailed, r.failLate(ctx, tx, f, Exhausted)
	}

	return Obsolete, nil // no dot: the search for evidence may send the email again
}

// acceptLate is Outgoing.Accept for a locked email.
func (r *Row) acceptLate(ctx context.Context, tx *postgres.Tx, f *FinalReply) error {
	at := f.At
	if r.MarkedAt != nil && at.Before(r.MarkedAt.Time) {
		at = r.MarkedAt.Time
	}
	tx.Queue(`UPDATE email SET status = 'sent', status_reason = '', sent_at = least($3, clock_timestamp()),
			smtp_reply = $4, server_id = $5, computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), r.ID, at, f.storedReply(), serverID(f.Reply.Text))
	r.StatusReason = nil
	o := Outgoing{Row: *r, Org: tx.Org()}
	if err := announceOutcome(ctx, tx, events.EmailSent{Email: o.asEvent(Sent, "", f.Reply)}); err != nil {
		return err
	}

	return r.goOn(ctx, tx, at, Sent)
}

// failLate is Service.Fail for a locked email that was refused after its dot.
func (r *Row) failLate(ctx context.Context, tx *postgres.Tx, f *FinalReply, reason string) error {
	tx.Queue(`UPDATE email SET status = 'failed', status_reason = $3, smtp_reply = $4, marked_at = NULL,
			computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), r.ID, reason, f.storedReply())
	o := Outgoing{Row: *r, Org: tx.Org()}
	if err := announceOutcome(ctx, tx, events.EmailFailed{Email: o.asEvent(Failed, reason, f.Reply)}); err != nil {
		return err
	}
	return r.notSent(ctx, tx, states.Unsent{Failed: true, Reason: reason})
}

// storedReply returns the reply as the row has it. What a file of another program had put in place of it is still a
// text.
func (f *FinalReply) storedReply() string {
	return strings.ReplaceAll(strings.ToValidUTF8(f.Reply.String(), "?"), "\x00", "")
}
