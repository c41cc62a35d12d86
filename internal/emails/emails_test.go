package emails_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/wire"
)

var accepted = transport.Reply{Code: 250, Enhanced: "2.0.0", Text: "queued as 1"}

func TestAnEmailIsPlannedMarkedAndSentOnce(t *testing.T) {
	t.Parallel()
	o := open(t)
	email := o.written(nil)
	out := o.marked(email)
	if got := o.status(email); got != emails.Transmitting {
		t.Fatalf("status %s after the mark", got)
	}
	if err := o.mark(out); refusal(err) == nil || !refusal(err).Settled {
		t.Errorf("a second mark: %v", err)
	}
	o.must(func(tx *postgres.Tx) error { return out.Accept(t.Context(), tx, accepted) })
	if got := o.status(email); got != emails.Sent || o.events("email.sent") != 1 {
		t.Errorf("status %s, %d events", got, o.events("email.sent"))
	}
	if again := o.begun(email); again != nil {
		t.Errorf("a sent email was taken again: %+v", again.Row)
	}
}

func refusal(err error) *emails.RefusedError {
	r, _ := errors.AsType[*emails.RefusedError](err)
	return r
}

func TestOneOfTwoRunsMarksAnEmail(t *testing.T) {
	t.Parallel()
	o := open(t)
	email := o.written(nil)
	first, second := o.begun(email), o.begun(email)
	if err := o.mark(first); err != nil {
		t.Error(err)
	}
	// The first run has no job that would record what becomes of its mail, so the second must go on.
	if r := refusal(o.mark(second)); r == nil || r.Settled || r.At.IsZero() {
		t.Errorf("the second run: %+v", r)
	}
	o.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, owner) VALUES ($1, $2, 'email.send', '{}',
		'default', 1, $3)`, o.org, id.New(), first.Fence)
	if r := refusal(o.mark(second)); r == nil || !r.Settled {
		t.Errorf("the second run while the first holds a job: %+v", r)
	}
	third := o.begun(email)
	if third == nil || !third.Lost {
		t.Fatalf("a marked email whose run is gone is not lost: %+v", third)
	}
	o.must(func(tx *postgres.Tx) error { return third.Doubt(t.Context(), tx, emails.Interrupted) })
	if got := o.status(email); got != "unknown interrupted" || o.events("email.unknown") != 1 {
		t.Errorf("status %s", got)
	}
}

func TestARunThatLostItsJobCannotMark(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]any{"without a cap": nil, "with a cap": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			o.exec(`UPDATE mailbox SET daily_cap = $1`, limit)
			first, second := o.begun(o.written(nil)), o.begun(o.written(nil))
			job := id.New()
			o.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, owner) VALUES ($1, $2, 'email.send',
				'{}', 'default', 1, $3)`, o.org, job, second.Fence)
			first.Job, second.Job = &job, &job
			if err := o.mark(first); refusal(err) == nil || o.status(first.ID) != emails.Planned {
				t.Errorf("the run that lost its job: %v, %s", err, o.status(first.ID))
			}
			if err := o.mark(second); err != nil {
				t.Errorf("the run that holds the job: %v", err)
			}
		})
	}
}

func TestEveryAttemptSendsTheSameBytes(t *testing.T) {
	t.Parallel()
	o := open(t)
	full, err := o.write(func(n *emails.New) { n.Subject = "Grüße" })
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for range 2 {
		out := o.begun(full.ID)
		mime, err := out.MIME(t.Context(), o.App)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(mime))
		o.exec(`UPDATE mailbox SET from_name = 'Other'`)
	}
	if all[0] != all[1] || !strings.Contains(all[0], "Message-ID: <"+full.MessageID+">\r\n") ||
		!strings.HasSuffix(full.MessageID, "@shop.example") {
		t.Errorf("%s\n%s", all[0], all[1])
	}
}

func TestWhatIsCommittedBeforeTheMarkStopsTheEmail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql, want string
	}{
		"archived":  {`UPDATE contact SET archived_at = now()`, "cancelled contact_archived"},
		"paused":    {`UPDATE org SET paused_at = now()`, "cancelled org_read_only"},
		"suspended": {`UPDATE org SET suspended_at = now()`, "planned"},
		"trial":     {`UPDATE org SET writes_until = now() - interval '1 s'`, "cancelled org_read_only"},
		"disabled":  {`UPDATE mailbox SET status = 'disabled'`, "planned"},
		"held":      {`UPDATE mailbox SET status = 'held', held_until = now() + interval '1 h'`, "planned"},
		"cancelled": {`UPDATE email SET status = 'cancelled'`, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			email := o.written(nil)
			out := o.begun(email)
			o.exec(c.sql)
			err := o.mark(out)
			if got := o.status(email); refusal(err) == nil || got != c.want ||
				refusal(err).Settled == (c.want == "planned") {
				t.Errorf("%v, status %s, want %s", err, got, c.want)
			}
		})
	}
}

func TestAnEmailWhoseObstacleIsGoneBeforeItIsCancelledWaits(t *testing.T) {
	t.Parallel()
	o := open(t)
	email := o.written(nil)
	out := o.begun(email) // its contact was archived at the mark, and is not any more when the reason is looked for
	o.must(func(tx *postgres.Tx) error {
		r, err := out.Stop(t.Context(), tx)
		if err == nil && (r == nil || r.Settled || r.At.IsZero()) {
			t.Errorf("the mark: %+v", r)
		}
		return err
	})
	if got := o.status(email); got != emails.Planned {
		t.Error(got)
	}
	if err := o.mark(out); err != nil {
		t.Error(err)
	}
}

func TestASuppressionRefusesTheEmailsOfItsPurpose(t *testing.T) {
	t.Parallel()
	o := open(t)
	personal := o.written(nil)
	marketing := o.written(func(n *emails.New) { n.Purpose = emails.Marketing })
	outs := []*emails.Outgoing{o.begun(personal), o.begun(marketing)}
	suppress := func(n suppression.New) {
		o.must(func(tx *postgres.Tx) error {
			_, _, err := o.emails.Suppressions.Add(t.Context(), tx, n)
			return err
		})
	}
	suppress(suppression.New{
		Email: "ADA@example.com", Purpose: suppression.Marketing,
		Reason: suppression.Unsubscribe,
	})
	if err := o.mark(outs[1]); refusal(err) == nil || o.status(marketing) != "cancelled suppressed" {
		t.Errorf("marketing: %v, %s", err, o.status(marketing))
	}
	if err := o.mark(outs[0]); err != nil {
		t.Errorf("personal: %v", err)
	}
	suppress(suppression.New{Domain: "example.com", Purpose: suppression.All, Reason: suppression.Manual})
	_, err := o.write(nil)
	if f := fault.Of(err); f == nil || f.Code != fault.Suppressed || f.More["reason"] != "manual" {
		t.Errorf("%v", err)
	}
}

func TestADefiniteRefusalAfterTheDotGivesTheSlotOfTheCapBack(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.exec(`UPDATE mailbox SET daily_cap = 1`)
	first, second := o.written(nil), o.written(nil)
	out := o.marked(first)
	later := o.begun(second)
	err := o.mark(later)
	if r := refusal(err); r == nil || r.Settled || !r.WholeMailbox || time.Until(r.At) < 23*time.Hour {
		t.Fatalf("%+v", r)
	}
	o.must(func(tx *postgres.Tx) error {
		out.Unmarked(tx, transport.Reply{Code: 451, Text: "later"})
		return nil
	})
	if err := o.mark(later); err != nil || o.status(first) != emails.Planned {
		t.Errorf("%v, %s", err, o.status(first))
	}
}

func TestAnEmailThatIsADayLateIsNotSentUnlessItWaitedForItsMailbox(t *testing.T) {
	t.Parallel()
	o := open(t)
	late := o.written(nil)
	o.passes(25 * time.Hour)
	if out := o.begun(late); out != nil || o.status(late) != "cancelled late" {
		t.Errorf("%v, %s", out, o.status(late))
	}
	o.exec(`UPDATE mailbox SET daily_cap = 1`)
	o.marked(o.written(nil))
	waits, behind := o.written(nil), o.written(nil)
	if err := o.mark(o.begun(waits)); refusal(err) == nil {
		t.Fatal("the cap is exceeded")
	}
	o.passes(25 * time.Hour)
	for _, email := range []id.ID{waits, behind} {
		if out := o.begun(email); out == nil {
			t.Errorf("%s", o.status(email))
		}
	}
}

func TestAHardRefusalOfTheRecipientSuppressesTheAddress(t *testing.T) {
	t.Parallel()
	o := open(t)
	email := o.written(nil)
	out := o.begun(email)
	o.must(func(tx *postgres.Tx) error {
		return o.emails.Fail(t.Context(), tx, out, emails.Rejected, &transport.Result{
			Stage: transport.Rcpt, Reply: transport.Reply{Code: 550, Enhanced: "5.1.1", Text: "no such user"},
		})
	})
	if got := o.status(email); got != "failed rejected" || o.events("email.failed") != 1 {
		t.Errorf("status %s", got)
	}
	if _, err := o.write(nil); !fault.Is(err, fault.Suppressed) {
		t.Errorf("%v", err)
	}
}

func TestAnEmailCanBeCancelledUntilItIsMarked(t *testing.T) {
	t.Parallel()
	o := open(t)
	at := wire.At(time.Now().Add(time.Hour))
	scheduled := o.written(func(n *emails.New) { n.ScheduledAt = &at })
	if got := o.status(scheduled); got != emails.Scheduled {
		t.Errorf("status %s", got)
	}
	marked := o.written(nil)
	o.marked(marked)
	cancel := func(email id.ID) error {
		return o.tx(func(tx *postgres.Tx) error {
			_, err := emails.Cancel(t.Context(), tx, email)
			return err
		})
	}
	if err := errors.Join(cancel(scheduled), cancel(scheduled)); err != nil || o.begun(scheduled) != nil {
		t.Errorf("%v", err)
	}
	if err := cancel(marked); !fault.Is(err, fault.TooLate) {
		t.Errorf("%v", err)
	}
	if err := cancel(id.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
}

func TestAPersonResolvesAnUnknownEmailAndItIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, sent := range []bool{true, false} {
		o := open(t)
		email := o.written(nil)
		resolve := func() error {
			return o.tx(func(tx *postgres.Tx) error {
				_, err := o.emails.Resolve(t.Context(), tx, email, sent, "user/1")
				return err
			})
		}
		if err := resolve(); !fault.Is(err, fault.NotUnknown) {
			t.Errorf("%v", err)
		}
		out := o.marked(email)
		o.must(func(tx *postgres.Tx) error { return out.Doubt(t.Context(), tx, emails.NoReply) })
		if err := resolve(); !fault.Is(err, fault.TooEarly) || fault.Of(err).RetryAfter < 14*time.Minute {
			t.Errorf("%v", err)
		}
		o.passes(16 * time.Minute)
		if err := resolve(); err != nil {
			t.Error(err)
		}
		want := map[bool]string{true: "sent", false: "failed not_sent"}[sent]
		if got := o.status(email); got != want || o.begun(email) != nil {
			t.Errorf("status %s, want %s", got, want)
		}
	}
}

func TestASentFolderThatProvesItAllowsAResendAfterTwoAbsences(t *testing.T) {
	t.Parallel()
	o := open(t)
	email := o.written(nil)
	out := o.marked(email)
	o.must(func(tx *postgres.Tx) error { return out.Doubt(t.Context(), tx, emails.NoReply) })
	search := func(found bool) (resend bool) {
		o.must(func(tx *postgres.Tx) (err error) {
			resend, err = emails.Searched(t.Context(), tx, email, found, true)
			return err
		})
		return resend
	}
	if search(false) || o.status(email) != "unknown no_reply" {
		t.Errorf("after one absence: %s", o.status(email))
	}
	if !search(false) || o.status(email) != emails.Planned {
		t.Errorf("after two: %s", o.status(email))
	}
	again := o.marked(email)
	if again.MessageID != out.MessageID {
		t.Error("the resent mail has another Message-ID")
	}
	o.must(func(tx *postgres.Tx) error { return again.Doubt(t.Context(), tx, emails.NoReply) })
	if search(true) || o.status(email) != emails.Sent {
		t.Errorf("found: %s", o.status(email))
	}
}

func TestAnAnswerStaysInItsThread(t *testing.T) {
	t.Parallel()
	o := open(t)
	first, err := o.write(nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := o.write(func(n *emails.New) { n.InReplyTo = &first.ID })
	if err != nil {
		t.Fatal(err)
	}
	third := o.written(func(n *emails.New) { n.InReplyTo = &second.ID })
	mime, err := o.begun(third).MIME(t.Context(), o.App)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(mime), "\r\n ", " ")
	want := "References: <" + first.MessageID + "> <" + second.MessageID + ">\r\n"
	if second.ThreadID != first.ID || !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
	other := o.person("eve@example.com")
	if _, err := o.write(func(n *emails.New) { n.InReplyTo, n.ContactID = &first.ID, other }); fault.Of(err) == nil {
		t.Errorf("an answer to another contact's email: %v", err)
	}
}

func TestAnEmailOfAnEndedEnrolmentDoesNotBeginTheGapOfItsMailbox(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.exec(`UPDATE mailbox SET gap_min = 600, gap_max = 600`)
	ended, next := o.written(nil), o.written(nil)
	o.exec(`UPDATE email SET automated = true`)
	o.exec(`UPDATE email SET enrolment_id = gen_random_uuid(), step = 'first' WHERE id = $1`, ended)
	if r := refusal(o.mark(o.begun(ended))); r == nil || r.Reason != "enrolment_ended" {
		t.Fatalf("refused: %+v", r)
	}
	o.marked(next)
}

func TestEmailsThatASuspensionHeldUpAreNotLate(t *testing.T) {
	t.Parallel()
	o := open(t)
	held, late := o.written(nil), o.written(nil)
	o.exec(`UPDATE email SET due_at = now() - interval '30 hours' WHERE id = $1`, held)
	o.exec(`UPDATE email SET due_at = now() - interval '70 hours' WHERE id = $1`, late) // it was before the suspension
	o.must(func(tx *postgres.Tx) error {
		emails.ExcuseSince(tx, time.Now().Add(-40*time.Hour))
		return nil
	})
	for email, want := range map[id.ID]string{held: emails.Planned, late: "cancelled late"} {
		if _, err := o.emails.Begin(t.Context(), o.App, o.org, email, id.New()); err != nil {
			t.Fatal(err)
		}
		if got := o.status(email); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
