package removal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/mailboxes/removal"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAMailboxInUseIsKeptAndTheFaultNamesWhatUsesIt(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person()
	welcome := o.sequence("Welcome", o.box)
	o.sequence("Unused", o.box)
	enrolment, err := o.enrolled(welcome, ada)
	if err != nil {
		t.Fatal(err)
	}
	news := o.broadcast("News", "paused")
	for _, status := range []string{"draft", "sent", "cancelled"} {
		o.broadcast("Other", status)
	}
	email, err := o.write(o.box, ada)
	if err != nil {
		t.Fatal(err)
	}

	_, _, err = o.remove(nil)
	f := fault.Of(err)
	if f == nil || f.Code != fault.InUse || f.Code.Status() != 409 {
		t.Fatalf("the removal of a mailbox in use returns %v", err)
	}
	want := []removal.User{{"sequence", welcome, "Welcome"}, {"broadcast", news, "News"}, {"email", email, "Hello"}}
	if diff := cmp.Diff(want, f.More["used_by"]); diff != "" {
		t.Errorf("used_by (-want +got):\n%s", diff)
	}
	if want := "1 sequence with open enrolments, 1 unfinished broadcast, 1 unsent mail."; !strings.Contains(f.Detail,
		want) {
		t.Errorf("the detail is %q", f.Detail)
	}
	if !o.isLive(o.box) {
		t.Error("the mailbox was deleted")
	}

	// Once nothing uses it, it goes.
	o.exec(`UPDATE enrolment SET ended_at = now(), state = 'finished', due_at = NULL WHERE id = $1`, enrolment)
	o.exec(`UPDATE broadcast SET status = 'cancelled' WHERE id = $1`, news)
	o.exec(`UPDATE email SET status = 'sent' WHERE id = $1`, email)
	if changed, _, err := o.remove(nil); !changed || err != nil || o.isLive(o.box) {
		t.Errorf("the removal of an unused mailbox: %v, %v", changed, err)
	}
	if changed, _, err := o.remove(nil); changed || err != nil {
		t.Errorf("a repeated removal: %v, %v", changed, err)
	}
}

func TestAnotherMailboxTakesOverAllThatADeletedOneHasToSend(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person()
	welcome := o.sequence("Welcome", o.box, o.heir)
	both := o.sequence("Alone", o.box)
	due, err := o.enrolled(both, ada)
	if err != nil {
		t.Fatal(err)
	}
	draft, news := o.broadcast("Draft", "draft"), o.broadcast("News", "sending")
	email, err := o.write(o.box, ada)
	if err != nil {
		t.Fatal(err)
	}
	message := o.text(`SELECT message_id FROM email WHERE id = $1`, email)
	o.exec(`UPDATE mailbox SET reply_to = 'answers@in.shop.example' WHERE id = $1`, o.heir)

	changed, moved, err := o.remove(&o.heir)
	if err != nil || !changed {
		t.Fatalf("removed %v, %v", changed, err)
	}
	if diff := cmp.Diff(removal.Moved{Enrolments: 1, Broadcasts: 2, Emails: 1}, moved); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]id.ID{email}, o.jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	for what, sql := range map[string]string{
		"enrolment": `SELECT mailbox_id FROM enrolment WHERE id = '` + due.String() + `'`,
		"group": `SELECT g.mailbox_id FROM enrolment n JOIN send_group g ON g.org_id = n.org_id AND g.id = n.grp
			WHERE g.wake_at IS NOT NULL AND n.id = '` + due.String() + `'`,
		"draft":     `SELECT mailbox_id FROM broadcast WHERE id = '` + draft.String() + `'`,
		"broadcast": `SELECT mailbox_id FROM broadcast WHERE id = '` + news.String() + `'`,
		"email":     `SELECT mailbox_id FROM email WHERE id = '` + email.String() + `'`,
		"successor": `SELECT reassigned_to FROM mailbox WHERE id = '` + o.box.String() + `'`,
		"sequence": `SELECT settings -> 'mailbox_ids' ->> 0 FROM sequence_version WHERE sequence_id = '` +
			both.String() + `'`,
	} {
		if got := o.text(sql); got != o.heir.String() {
			t.Errorf("the mailbox of the %s is %s", what, got)
		}
	}
	if got := o.text(`SELECT settings -> 'mailbox_ids' FROM sequence_version WHERE sequence_id = $1`,
		welcome); got != `["`+o.heir.String()+`"]` {
		t.Errorf("a sequence that had both mailboxes has %s", got)
	}

	content := o.text(`SELECT concat_ws(' ', from_email, from_name, split_part(reply_to, '@', 2),
		length(split_part(reply_to, '@', 1)), list_unsubscribe[1], array_length(list_unsubscribe,
			1)) FROM email_content`)
	want := "new@shop.example Of new@shop.example in.shop.example 64 https://api.example/t/u/1 2"
	if content != want || o.text(`SELECT message_id FROM email WHERE id = $1`, email) != message {
		t.Errorf("the email is %s, want %s", content, want)
	}
	if got := o.text(`SELECT list_unsubscribe[2] FROM email_content`); !strings.Contains(got, "in.shop.example") {
		t.Errorf("the address that ends mails is %s", got)
	}
}

func TestOnlyAnotherActiveMailboxTakesOver(t *testing.T) {
	t.Parallel()
	o := open(t)
	if _, err := o.write(o.box, o.person()); err != nil {
		t.Fatal(err)
	}
	unknown := id.New()
	for what, to := range map[string]*id.ID{"itself": &o.box, "unknown": &unknown} {
		if _, _, err := o.remove(to); !fault.Is(err, fault.MailboxNotActive) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, state := range []string{
		`status = 'unverified'`, `status = 'disabled'`, `status = 'held'`,
		`status = 'held', held_until = now() + interval '1 hour'`, `status = 'active', archived_at = now()`,
	} {
		o.exec(`UPDATE mailbox SET `+state+` WHERE id = $1`, o.heir)
		if _, _, err := o.remove(&o.heir); !fault.Is(err, fault.MailboxNotActive) {
			t.Errorf("%s: %v", state, err)
		}
	}
	if !o.isLive(o.box) {
		t.Error("the mailbox was deleted")
	}
}

func TestAMailThatIsQueuedWhileItsMailboxIsDeletedIsNeverLeftBehind(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person()
	for n := range 24 {
		o.box = o.mailbox(fmt.Sprintf("race%d@shop.example", n))
		sequence := o.sequence(fmt.Sprintf("Race %d", n), o.box)
		var to *id.ID
		if n%3 == 0 {
			to = &o.heir
		}
		var wrote, removed error
		testkit.Race(n, 4*time.Millisecond, func() {
			if n%2 == 0 {
				_, wrote = o.write(o.box, ada)
			} else {
				_, wrote = o.enrolled(sequence, ada)
			}
		}, func() { _, _, removed = o.remove(to) })

		if removed != nil && !fault.Is(removed, fault.InUse) {
			t.Fatalf("removal %d: %v", n, removed)
		}
		if wrote != nil && fault.Of(wrote) == nil {
			t.Fatalf("writing %d: %v", n, wrote)
		}
		if (wrote == nil) == (removed == nil) && to == nil {
			t.Errorf("race %d: written %v, removed %v: exactly one of the two succeeds", n, wrote, removed)
		}
		left := o.text(`SELECT (SELECT count(*) FROM email e JOIN mailbox m ON m.id = e.mailbox_id
				WHERE m.archived_at IS NOT NULL AND e.status = 'planned')
			+ (SELECT count(*) FROM enrolment e JOIN mailbox m ON m.id = e.mailbox_id
				WHERE m.archived_at IS NOT NULL AND e.ended_at IS NULL)`)
		if left != "0" {
			t.Fatalf("race %d: %s things wait for a mailbox that is deleted", n, left)
		}
	}
}

func TestARemovalWhoseSessionIsKilledHasChangedNothing(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person()
	if _, err := o.enrolled(o.sequence("Welcome", o.box), ada); err != nil {
		t.Fatal(err)
	}
	if _, err := o.write(o.box, ada); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		return o.text(`SELECT json_build_array((SELECT json_agg(n) FROM enrolment n), (SELECT json_agg(e) FROM email e),
			(SELECT json_agg(c) FROM email_content c), (SELECT json_agg(v) FROM sequence_version v),
			(SELECT json_agg(m ORDER BY m.id) FROM mailbox m), (SELECT count(*) FROM send_group))`)
	}
	before := state()

	o.service.Send = func(ctx context.Context, tx *postgres.Tx, _, _ id.ID, _ bool, _ time.Time) error {
		var pid int
		if err := tx.QueryRow(ctx, `SELECT pg_backend_pid()`, nil, &pid); err != nil {
			return err
		}
		o.exec(`SELECT pg_terminate_backend($1)`, pid)
		return nil
	}
	if _, _, err := o.remove(&o.heir); err == nil {
		t.Fatal("the removal succeeded without its session")
	}
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("a removal that was cut short has changed something:\n%s", diff)
	}
}

func TestAMailThatWasNotSentAfterAllFollowsTheMailboxThatTookOver(t *testing.T) {
	t.Parallel()
	o := open(t)
	email, err := o.write(o.box, o.person())
	if err != nil {
		t.Fatal(err)
	}
	o.exec(`UPDATE email SET status = 'transmitting'`)
	if _, _, err := o.remove(nil); !fault.Is(err, fault.InUse) {
		t.Fatalf("a mailbox with a mail under way: %v", err)
	}
	if _, _, err := o.remove(&o.heir); err != nil {
		t.Fatal(err)
	}
	if got := o.text(`SELECT mailbox_id FROM email`); got != o.box.String() {
		t.Errorf("a mail that is being transmitted has the mailbox %s", got)
	}
	o.exec(`UPDATE email SET status = 'planned'`)

	out, err := o.emails.Begin(t.Context(), o.App, o.org, email, id.New())
	if err != nil || out == nil || out.Mailbox.ID != o.heir || out.From() != "new@shop.example" {
		t.Fatalf("it begins as %+v, %v", out, err)
	}
}

func TestAMailOfADeletedMailboxWithoutASuccessorWaits(t *testing.T) {
	t.Parallel()
	o := open(t)
	email, err := o.write(o.box, o.person())
	if err != nil {
		t.Fatal(err)
	}
	o.exec(`UPDATE mailbox SET archived_at = now() WHERE id = $1`, o.box)
	if _, err := o.emails.Begin(t.Context(), o.App, o.org, email, id.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("it begins with %v", err)
	}
	if got := o.text(`SELECT status FROM email`); got != emails.Planned {
		t.Errorf("it is %s", got)
	}
	if _, moved, err := o.remove(&o.heir); err != nil || moved.Emails != 1 {
		t.Errorf("another removal with a successor moves %+v, %v", moved, err)
	}
}

func TestEnrolmentsAndSequencesOfAMailboxThatDoesNotSendSayWhatToDo(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := o.sequence("Welcome", o.box)
	if _, err := o.enrolled(sequence, o.person()); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{
		`status = 'active', archived_at = ` +
			`now()`: mailboxes.MailboxGone,
		`status = 'disabled', status_reason = 'bounce_rate'`: "bounce_rate",
		`status = 'disabled', status_reason = ''`:            "disabled",
		`status = 'held', status_reason = 'held_by_user'`:    mailboxes.ByPerson,
		`status = 'held', status_reason = 'sending_limit', held_until = now() + interval '1 ` +
			`hour'`: mailboxes.SendingLimit,
		`status = 'unverified', status_reason = ''`: "unverified",
		`status = 'active', status_reason = ''`:     "",
	} {
		o.exec(`UPDATE mailbox SET archived_at = NULL, held_until = NULL WHERE id = $1`, o.box)
		o.exec(`UPDATE mailbox SET `+state+` WHERE id = $1`, o.box)
		o.must(func(ctx context.Context, tx *postgres.Tx) error {
			all, err := enrolments.List(ctx, tx, &enrolments.Filter{Sequence: &sequence}, id.ID{}, 10)
			if err != nil {
				return err
			}
			waits, err := enrolments.Waits(ctx, tx, all)
			if err != nil {
				return err
			}
			if len(waits) != 1 {
				return errors.New("the sequence has no enrolment")
			}
			checkWait(t, state, want, waits[0])
			return nil
		})
	}
}

func checkWait(t *testing.T, state, want string, w mailboxes.Wait) {
	t.Helper()
	if want == "" {
		if w.StatusReason != nil {
			t.Errorf("%s: it waits for %s", state, *w.StatusReason)
		}
		return
	}
	if w.StatusReason == nil || *w.StatusReason != want || w.StatusDetail == nil || *w.StatusDetail == "" ||
		w.StatusAction == nil || *w.StatusAction == "" {
		t.Errorf("%s: the wait is %+v, want %s with a detail and an action", state, w, want)
	}
}
