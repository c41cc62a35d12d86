package enrolments_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
)

// closed is a schedule whose window was closed an hour ago, by the clock of UTC.
func closed(s *sequences.Settings) {
	at := time.Now().UTC()
	s.Schedule.From, s.Schedule.To = at.Add(-3*time.Hour).Format("15:04"), at.Add(-time.Hour).Format("15:04")
	if s.Schedule.To < s.Schedule.From { // the window would span midnight
		s.Schedule.From, s.Schedule.To = at.Add(2*time.Hour).Format("15:04"), at.Add(4*time.Hour).Format("15:04")
	}
	if s.Schedule.To < s.Schedule.From {
		s.Schedule.To = "24:00"
	}
}

func TestAClosedWindowHoldsTheGroupAndRewritesNoEnrolment(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq := o.sequence(closed, mail("first", 0))
	o.put(seq, o.people(50)...)
	before := o.one(`SELECT string_agg(xmin::text || ctid::text, ' ' ORDER BY id) FROM enrolment`)
	for range 3 {
		o.tick()
	}
	if after := o.one(`SELECT string_agg(xmin::text || ctid::text, ' ' ORDER BY id) FROM enrolment`); after != before {
		t.Error("enrolments were rewritten")
	}
	if len(o.mails) != 0 || o.one(`SELECT bool_and(wake_at > now() + interval '1 minute') FROM send_group`) != "true" {
		t.Error("the group is not held until its window opens")
	}
	o.exec(`UPDATE schedule_zone SET opens_at = now() - interval '1 minute', closes_at = now() + interval '1 hour'`)
	o.exec(`UPDATE send_group SET wake_at = now()`)
	if o.tick(); len(o.mails) != 50 {
		t.Errorf("%d mails in the open window", len(o.mails))
	}
}

func TestAPausedSequenceHoldsItsEnrolments(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq := o.sequence(nil, mail("first", 0))
	e := o.enrolled(seq, o.person("ada@example.com"))
	o.tick()
	o.exec(`UPDATE sequence SET status = 'paused'`)
	if n := o.deliver(); n != 0 || o.state(e) != "active first" {
		t.Fatalf("%d sent, %s", n, o.state(e))
	}
	if o.tick(); len(o.mails) != 0 {
		t.Fatal("a paused sequence wrote a mail")
	}
	if r := o.put(seq, o.person("late@example.com"))[0]; o.state(*r.EnrolmentID) != "pending first" {
		t.Error(o.state(*r.EnrolmentID))
	}
	o.exec(`UPDATE sequence SET status = 'active'`)
	o.must(func(_ context.Context, tx *postgres.Tx) error {
		enrolments.WakeAll(tx, seq)
		return nil
	})
	if o.tick(); o.deliver() != 2 {
		t.Error("the resumed sequence did not send")
	}
}

func TestAnArchivedSequenceEndsItsEnrolments(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq := o.sequence(nil, mail("first", 0))
	e := o.enrolled(seq, o.person("ada@example.com"))
	o.exec(`UPDATE sequence SET status = 'archived'`)
	if o.tick(); o.state(e) != "removed first archived" {
		t.Error(o.state(e))
	}
}

func TestALargeSequenceThatIsArchivedEndsAllItsEnrolments(t *testing.T) {
	t.Parallel()
	o := open(t)
	for i, n := range []int{2100, 2100, 200} {
		seq := o.sequence(nil, mail("first", 0))
		e := o.enrolled(seq, o.person(fmt.Sprintf("large%d@example.com", i)))
		o.exec(`INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, grp, mailbox_id, zone,
				created_at, state_at)
			SELECT org_id, gen_random_uuid(), sequence_id, version, gen_random_uuid(), 'paused', step, grp, mailbox_id,
				zone, created_at, state_at
			FROM enrolment, generate_series(1, $2) WHERE id = $1`, e, n)
	}
	o.exec(`UPDATE sequence SET status = 'archived'`)
	for range 5 {
		o.tick()
	}
	if got := o.one(`SELECT count(*) FROM enrolment WHERE ended_at IS NULL`); got != "0" {
		t.Errorf("%s enrolments are open", got)
	}
}

func TestASequenceThatIsResumedDuringATickIsLookedAtNow(t *testing.T) {
	t.Parallel()
	o := open(t)
	other := o.sequence(nil, mail("first", 0))
	held := o.enrolled(other, o.person("held@example.com"))
	o.exec(`UPDATE sequence SET status = 'paused'`)
	o.put(o.sequence(nil, mail("first", 0)), o.person("ada@example.com"))
	send := o.engine.Send
	o.engine.Send = func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error {
		o.engine.Send = send // once: the next tick holds the status
		o.exec(`UPDATE sequence SET status = 'active' WHERE id = $1`, other)
		if err := o.tx(func(_ context.Context, tx *postgres.Tx) error {
			enrolments.WakeAll(tx, other)
			return nil
		}); err != nil {
			return err
		}
		return send(ctx, tx, email, mailbox)
	}
	o.tick()
	if o.tick(); o.state(held) != "sending first" {
		t.Error(o.state(held))
	}
}

func TestFollowUpsGoBeforeFirstStepsAndAGapLetsOneGo(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq := o.sequence(nil, mail("first", 0), mail("second", 1))
	old := o.enrolled(seq, o.person("old@example.com"))
	o.tick()
	o.deliver()
	o.passes(day + time.Second)
	o.exec(`UPDATE enrolment SET due_at = now()`)
	fresh := o.enrolled(seq, o.person("fresh@example.com"))
	o.exec(`UPDATE enrolment SET due_at = now() - interval '1 hour' WHERE id = $1`, fresh)
	o.exec(`UPDATE mailbox SET gap_min = 60, gap_max = 60`)
	o.tick()
	o.tick()
	if o.state(old) != "sending second" || o.state(fresh) != "active first" {
		t.Fatal(o.state(old), o.state(fresh))
	}
	o.deliver()
	if o.tick(); len(o.mails) != 0 {
		t.Error("a mail was written within the gap")
	}
	o.exec(`UPDATE mailbox SET next_slot_at = now()`)
	o.exec(`UPDATE send_group SET wake_at = now()`)
	if o.tick(); o.state(fresh) != "sending first" {
		t.Error(o.state(fresh))
	}
}

func TestACapLetsAsManyGoAsAreLeft(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.exec(`UPDATE mailbox SET daily_cap = 3`)
	o.put(o.sequence(nil, mail("first", 0)), o.people(5)...)
	o.tick()
	if n := o.deliver(); n != 3 {
		t.Fatalf("%d sent", n)
	}
	o.exec(`UPDATE send_group SET wake_at = now()`)
	if o.tick(); len(o.mails) != 0 {
		t.Error("mails were written beyond the cap")
	}
	o.passes(day + 2*time.Minute)
	if o.tick(); o.deliver() != 2 {
		t.Error("the rest was not sent a day later")
	}
}

func TestNoMoreEnrolmentsThanAllowedBeginInADay(t *testing.T) {
	t.Parallel()
	o := open(t)
	most := 2
	o.put(o.sequence(func(s *sequences.Settings) { s.MaxNewPerDay = &most }, mail("first", 0)), o.people(5)...)
	for _, want := range []int{2, 2, 1} {
		o.tick()
		o.exec(`UPDATE send_group SET wake_at = now()`)
		if o.tick(); len(o.mails) != want {
			t.Fatalf("%d mails, want %d", len(o.mails), want)
		}
		o.deliver()
		o.passes(day + time.Second)
	}
}

func TestTheZoneIsThatOfTheContactElseOfTheMailbox(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada, eve, kay := o.person("ada@example.com"), o.person("eve@example.com"), o.person("kay@example.com")
	o.exec(`UPDATE contact SET time_zone = 'America/New_York' WHERE id = $1`, ada)
	o.exec(`UPDATE contact SET time_zone = 'Mars/Olympus' WHERE id = $1`, kay) // there is no such zone
	seq := o.sequence(func(s *sequences.Settings) { s.Schedule.TimeZone = sequences.ContactZone }, mail("first", 0))
	o.put(seq, ada, eve, kay)
	if got := o.one(`SELECT string_agg(zone, ' ' ORDER BY zone) FROM enrolment`); got !=
		"America/New_York Europe/Berlin Europe/Berlin" {
		t.Error(got)
	}
}

func TestABatchEnrolsASegmentInPiecesAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	o := open(t)
	segment := id.New()
	o.exec(`INSERT INTO segment (org_id, id, key, name, kind, status, created_at, updated_at)
		VALUES ($1, $2, 'all', 'All', 'static', 'ready', now(), now())`, o.org, segment)
	o.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'c' || n || '@example.com', 'c' || n || '@example.com', 'A', 'B', 'b', 'lead',
			now() - interval '1 hour' + n * interval '1 ms', now() FROM generate_series(1, 9000) n`, o.org)
	o.exec(`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
		SELECT org_id, $1, false, created_at, id FROM contact`, segment)
	o.exec(`UPDATE contact SET archived_at = now() WHERE email = 'c7@example.com'`)
	start := func(seq id.ID) (b *enrolments.Batch) {
		o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
			b, err = o.enrol.StartBatch(ctx, tx, &enrolments.BatchRequest{
				Request: enrolments.Request{Sequence: seq, By: "user/1"}, Segment: &segment,
			})
			return err
		})
		return b
	}
	step := func(b *enrolments.Batch) (more bool) {
		o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
			more, err = o.enrol.StepBatch(ctx, tx, b.ID)
			return err
		})
		return more
	}
	b := start(o.sequence(nil, mail("first", 0)))
	for n := 1; step(b); n++ {
		if n > 9 {
			t.Fatal("the batch does not end")
		}
	}
	if got := o.one(`SELECT concat_ws(' ', status, done, total, enrolled, skipped) FROM enrolment_batch`); got !=
		`completed 9000 9000 8999 {"archived": 1}` {
		t.Error(got)
	}
	if got := o.one(`SELECT count(*) FROM enrolment WHERE batch_id = $1`, b.ID); got != "8999" {
		t.Error(got)
	}
	if got := o.announced(); strings.Count(got, "enrolled") != 8999 {
		t.Errorf("%d events", strings.Count(got, "enrolled"))
	}
	other := start(o.sequence(func(s *sequences.Settings) { s.Exclusive = false }, mail("first", 0)))
	step(other)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.CancelBatch(ctx, tx, other.ID)
		return err
	})
	if step(other) {
		t.Error("a cancelled batch goes on")
	}
	if got := o.one(`SELECT status || ' ' || done FROM enrolment_batch WHERE id = $1`, other.ID); got !=
		"cancelled 1000" {
		t.Error(got)
	}
}
