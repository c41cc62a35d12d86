package enrolments_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

const day = 24 * time.Hour

func TestAnEnrolmentSendsItsStepsInOrderAndIsFinished(t *testing.T) {
	t.Parallel()
	o := open(t)
	second := mail("second", 3)
	second.Email.Thread, second.Email.Subject = steps.Reply, ""
	ada := o.person("ada@example.com")
	e := o.enrolled(o.sequence(nil, mail("first", 0), second), ada)
	if o.tick(); o.state(e) != "sending first" {
		t.Fatal(o.state(e))
	}
	if n := o.deliver(); n != 1 || o.state(e) != "active second" {
		t.Fatalf("%d sent, %s", n, o.state(e))
	}
	if o.tick(); o.deliver() != 0 {
		t.Fatal("the follow-up was sent before its delay was over")
	}
	o.passes(3*day + time.Second)
	if o.tick(); o.deliver() != 1 || o.state(e) != "finished second completed" {
		t.Fatal(o.state(e))
	}
	if o.passes(30 * day); true {
		o.tick()
	}
	if got := o.one(`SELECT string_agg(e.step || ' ' || e.subject || ' ' || (c.in_reply_to = f.message_id)::text, ', '
		ORDER BY e.id) FROM email e JOIN email_content c ON c.email_id = e.id, email f WHERE f.step = 'first'`); got !=
		"first Hello false, second Re: Hello true" {
		t.Error(got)
	}
	if got := o.one(`SELECT count(DISTINCT thread_id) FROM email`); got != "1" {
		t.Errorf("%s threads", got)
	}
	if got := o.announced(); got != "enrolled step_completed step_completed finished" {
		t.Error(got)
	}
	if got := o.history(e); got != ">active first user/1, active>sending first due, sending>active second sent, "+
		"active>sending second due, sending>finished second sent" {
		t.Error(got)
	}
}

// reply stops what a reply of the contact stops.
func (o *office) reply(contact id.ID, enrolment *id.ID) {
	o.Helper()
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		r := &states.Reply{Message: id.New(), Contact: &contact, Enrolment: enrolment, At: time.Now()}
		r.LockFor(tx)
		return r.Human(ctx, tx, "reply")
	})
}

func TestAReplyEndsTheEnrolmentBeforeTheNextStep(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person("ada@example.com")
	e := o.enrolled(o.sequence(nil, mail("first", 0), mail("second", 1)), ada)
	o.tick()
	o.deliver()
	o.passes(day + time.Second)
	o.tick() // the second mail is enqueued
	if o.reply(ada, nil); o.state(e) != "replied second reply" {
		t.Fatal(o.state(e))
	}
	if n := o.deliver(); n != 0 {
		t.Error("a mail was sent after the reply")
	}
	if got := o.one(`SELECT status || ' ' || status_reason FROM email WHERE step = 'second'`); got !=
		"cancelled enrolment_ended" {
		t.Error(got)
	}
	if got := o.announced(); got != "enrolled step_completed replied" {
		t.Error(got)
	}
}

func TestALateReplyToAFinishedEnrolmentCounts(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person("ada@example.com")
	e := o.enrolled(o.sequence(nil, mail("first", 0)), ada)
	o.tick()
	if o.deliver(); o.state(e) != "finished first completed" {
		t.Fatal(o.state(e))
	}
	if o.reply(ada, &e); o.state(e) != "replied first reply" {
		t.Error(o.state(e))
	}
	if got := o.announced(); got != "enrolled step_completed finished replied" {
		t.Error(got)
	}
}

func TestAMarkThatComesFirstLetsTheMailGoAndTheReplyEndTheRest(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada, e, out := o.transmitting(1)
	o.reply(ada, &e)
	o.accept(out)
	if o.state(e) != "replied first reply" || o.one(`SELECT status FROM email`) != emails.Sent {
		t.Error(o.state(e))
	}
	o.passes(2 * day)
	if o.tick(); o.deliver() != 0 {
		t.Error("a mail was sent after the reply")
	}
}

func TestASuppressionEndsEnrolmentsOfTheAddress(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq := o.sequence(nil, mail("first", 0))
	ada, eve := o.enrolled(seq, o.person("Ada@example.com")), o.enrolled(seq, o.person("eve@other.example"))
	add := func(n suppression.New) {
		o.must(func(ctx context.Context, tx *postgres.Tx) error {
			_, _, err := o.emails.Suppressions.Add(ctx, tx, n)
			return err
		})
	}
	o.exec(`UPDATE contact SET email_folded = lower(email)`)
	add(suppression.New{Email: "ada@EXAMPLE.com", Purpose: suppression.Marketing, Reason: suppression.Unsubscribe})
	if o.state(ada) != "unsubscribed first unsubscribe" || o.state(eve) != "active first" {
		t.Error(o.state(ada), o.state(eve))
	}
	add(suppression.New{Domain: "other.example", Purpose: suppression.All, Reason: suppression.HardBounce})
	if o.state(eve) != "bounced first hard_bounce" {
		t.Error(o.state(eve))
	}
	if got := o.announced(); got != "enrolled enrolled stopped stopped" {
		t.Error(got)
	}
}

func TestContactsAreSkippedForAReason(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq, other := o.sequence(nil, mail("first", 0)), o.sequence(nil, mail("first", 0))
	fine, elsewhere := o.person("fine@example.com"), o.person("elsewhere@example.com")
	archived, suppressed := o.person("archived@example.com"), o.person("suppressed@example.com")
	before, unknown, unconfirmed := o.person("before@example.com"), id.New(), o.person("unconfirmed@example.com")
	o.exec(`UPDATE contact SET archived_at = now() WHERE id = $1`, archived)
	o.exec(`INSERT INTO consent_request (org_id, contact_id) VALUES ($1, $2)`, o.org, unconfirmed)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, _, err := o.emails.Suppressions.Add(ctx, tx, suppression.New{
			Email: "suppressed@example.com", Purpose: suppression.All, Reason: suppression.Manual,
		})
		return err
	})
	o.put(other, elsewhere)
	o.put(seq, before)
	o.exec(`UPDATE enrolment SET state = 'finished', due_at = NULL, ended_at = now() WHERE contact_id = $1`, before)
	got := map[string]string{}
	all := []id.ID{fine, fine, elsewhere, archived, suppressed, before, unknown, unconfirmed}
	names := []string{"fine", "again", "elsewhere", "archived", "suppressed", "before", "unknown", "unconfirmed"}
	for i, r := range o.put(seq, all...) {
		got[names[i]] = r.Result
		if r.Reason != nil {
			got[names[i]] = *r.Reason
		}
	}
	for name, want := range map[string]string{
		"fine": enrolments.Enrolled, "again": enrolments.AlreadyOpen, "elsewhere": enrolments.ActiveElsewhere,
		"archived": enrolments.Archived, "suppressed": enrolments.SuppressedOne, "before": enrolments.FinishedBefore,
		"unknown": enrolments.NotFound, "unconfirmed": enrolments.NoConsent,
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	if r := o.put(seq, fine)[0]; r.Reason == nil || *r.Reason != enrolments.AlreadyOpen {
		t.Errorf("a second time: %+v", r)
	}
}

func TestAPausedEnrolmentSendsItsStepAfterItIsResumed(t *testing.T) {
	t.Parallel()
	o := open(t)
	e := o.enrolled(o.sequence(nil, mail("first", 0)), o.person("ada@example.com"))
	o.tick()
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.Pause(ctx, tx, e, "user/1")
		return err
	})
	if n := o.deliver(); n != 0 || o.state(e) != "paused first paused_by_user" {
		t.Fatalf("%d sent, %s", n, o.state(e))
	}
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.Resume(ctx, tx, e, "user/1")
		return err
	})
	if o.tick(); o.deliver() != 1 || o.state(e) != "finished first completed" {
		t.Error(o.state(e))
	}
	if got := o.one(`SELECT string_agg(status, ' ' ORDER BY id) FROM email`); got != "cancelled sent" {
		t.Error(got)
	}
}

func TestAPauseWhileTheMailIsTransmittedKeepsTheNextStep(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, e, out := o.transmitting(2)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.Pause(ctx, tx, e, "user/1")
		return err
	})
	if o.accept(out); o.state(e) != "paused second paused_by_user" {
		t.Fatal(o.state(e))
	}
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.Resume(ctx, tx, e, "user/1")
		return err
	})
	if o.tick(); o.deliver() != 0 {
		t.Error("the follow-up was sent before its delay was over")
	}
	o.passes(2*day + time.Second)
	if o.tick(); o.deliver() != 1 {
		t.Error(o.state(e))
	}
}

func TestAnAbsenceEndsByItself(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person("ada@example.com")
	e := o.enrolled(o.sequence(nil, mail("first", 0), mail("second", 1)), ada)
	o.tick()
	o.deliver()
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		r := &states.Reply{Message: id.New(), Contact: &ada, At: time.Now()}
		return r.Away(ctx, tx, nil)
	})
	if o.state(e) != "paused second out_of_office" {
		t.Fatal(o.state(e))
	}
	o.passes(6 * day)
	if o.tick(); o.deliver() != 0 {
		t.Fatal("a mail was sent during the absence")
	}
	o.passes(day + time.Minute)
	o.tick()
	if o.tick(); o.deliver() != 1 || o.state(e) != "finished second completed" {
		t.Error(o.state(e))
	}
}

func TestAnUnknownMailIsTreatedAsSentOnceItIsFinal(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, e, out := o.transmitting(1)
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return out.Doubt(ctx, tx, emails.NoReply) })
	if o.state(e) != "sending first" {
		t.Fatal(o.state(e))
	}
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return emails.GiveUp(ctx, tx, out.ID) })
	if o.state(e) != "active second" {
		t.Error(o.state(e))
	}
	if got := o.one(`SELECT status FROM email`); got != emails.Unknown {
		t.Error(got)
	}
}

func TestAnAbsenceDuringTheTransmissionEndsByItself(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, e, out := o.transmitting(1)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		back := time.Now().Add(3 * day)
		return (&states.Reply{Message: id.New(), Enrolment: &e, At: time.Now()}).Away(ctx, tx, &back)
	})
	if o.accept(out); o.state(e) != "paused second out_of_office" {
		t.Fatal(o.state(e))
	}
	o.passes(3*day + time.Minute)
	o.tick()
	if o.tick(); o.deliver() != 1 || o.state(e) != "finished second completed" {
		t.Error(o.state(e))
	}
}

func TestAMailOfASequenceThatWasArchivedIsNotSent(t *testing.T) {
	t.Parallel()
	o := open(t)
	e := o.enrolled(o.sequence(nil, mail("first", 0)), o.person("ada@example.com"))
	o.tick()
	o.exec(`UPDATE sequence SET status = 'archived'`)
	if n := o.deliver(); n != 0 || o.state(e) != "removed first archived" {
		t.Errorf("%d sent, %s", n, o.state(e))
	}
}

func TestAnAbsenceThatEndsWhileTheMailFailsDoesNotWaitForTheMail(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, e, out := o.transmitting(1)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		return (&states.Reply{Message: id.New(), Enrolment: &e, At: time.Now()}).Away(ctx, tx, nil)
	})
	o.passes(7*day + time.Minute)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		if err := o.emails.Fail(ctx, tx, out, emails.Rejected, &transport.Result{}); err != nil {
			return err
		}
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		return o.tx(func(ctx context.Context, tx *postgres.Tx) error { // the outcome is not committed yet
			tx.Queue(`SET LOCAL lock_timeout = '2s'`)
			return o.engine.Tick(ctx, tx)
		})
	})
	o.tick()
	if o.tick(); o.state(e) != "failed first rejected" {
		t.Error(o.state(e))
	}
}

func TestAMarkThatTheEnrolmentRefusesLeavesTheGapOfTheMailboxFree(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.exec(`UPDATE mailbox SET gap_min = 600, gap_max = 600`)
	ada := o.person("ada@example.com")
	o.put(o.sequence(nil, mail("first", 0)), ada)
	o.tick()
	out := o.begun()
	o.exec(`UPDATE sequence SET status = 'paused'`)
	if r := refusal(o.mark(out)); r == nil || r.Reason != states.SequencePaused {
		t.Fatalf("the mark: %+v", r)
	}
	if o.one(`SELECT next_slot_at > now() + interval '1 minute' FROM mailbox`) == "true" {
		t.Error("a mail that was not sent began a gap")
	}
}

func TestAStepThatFailsTakesNoGroupFromTheNextOne(t *testing.T) {
	t.Parallel()
	o := open(t)
	send, failed := o.engine.Send, false
	o.engine.Send = func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error {
		if !failed {
			failed = true
			return errors.New("no job")
		}
		return send(ctx, tx, email, mailbox)
	}
	o.put(o.sequence(nil, mail("first", 0), steps.Step{
		Key: "call", Kind: steps.KindTask, Task: &steps.Task{Title: "Call"},
	}), o.people(2)...)
	if o.tick(); o.deliver() != 1 {
		t.Fatal("not one of the two steps failed")
	}
	if o.tick(); o.one(`SELECT count(*) FROM task`) != "1" {
		t.Error("the step after the mail was not executed")
	}
}
