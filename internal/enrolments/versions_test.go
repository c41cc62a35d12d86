package enrolments_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

var moved = flag.Int("moved", 60, "enrolments that are moved between versions while they are under way")

// version adds an activated version with the steps to a sequence.
func (o *office) version(sequence id.ID, number int, list ...steps.Step) {
	o.Helper()
	steps.Complete(list)
	o.exec(`INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at, activated_at)
		SELECT org_id, sequence_id, $3, settings, now(), now() FROM sequence_version
		WHERE org_id = $1 AND sequence_id = $2 AND number = 1`, o.org, sequence, number)
	for n, step := range list {
		o.exec(`INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, o.org, sequence, number, n, step.Key, step.Kind, encoded(o.T, step))
	}
}

// moves starts a move and executes it until nothing, or only emails on their way, are left.
func (o *office) moves(r *enrolments.MoveRequest) (m *enrolments.VersionMove, left int) {
	o.Helper()
	o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		m, err = enrolments.StartMove(ctx, tx, r)
		return err
	})
	for left = enrolments.MoveMore; left == enrolments.MoveMore; {
		o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
			left, err = enrolments.StepMove(ctx, tx, m.ID)
			return err
		})
	}
	o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		m, err = enrolments.GetMove(ctx, tx, m.ID)
		return err
	})
	return m, left
}

func TestAnEnrolmentIsMovedToTheStepThatIsLeftAndRunsNoneTwice(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := o.sequence(nil, mail("a", 0), mail("b", 3), mail("c", 3))
	o.version(sequence, 2, mail("a", 0), mail("x", 1), mail("c", 3))
	o.version(sequence, 3, mail("a", 0))
	waiting := o.enrolled(sequence, o.person("waiting@example.com"))
	o.tick()
	o.deliver() // a is sent, and b is next
	fresh := o.enrolled(sequence, o.person("fresh@example.com"))
	dry, _ := o.moves(&enrolments.MoveRequest{Sequence: sequence, From: 1, To: 2, DryRun: true, By: "user/1"})
	if dry.Moved != 2 || dry.Finished != 0 || o.one(`SELECT count(*) FROM enrolment WHERE version = 1`) != "2" {
		t.Errorf("a dry run: %+v", dry)
	}
	m, left := o.moves(&enrolments.MoveRequest{Sequence: sequence, From: 1, To: 2, By: "user/1"})
	if m.Status != enrolments.Completed || m.Moved != 2 || m.Finished != 0 || left != enrolments.MoveOver {
		t.Errorf("moved %+v, left %d", m, left)
	}
	if got := o.state(waiting); got != "active c" {
		t.Errorf("the one whose step is gone is %s", got)
	}
	if got := o.state(fresh); got != "active a" {
		t.Errorf("the fresh one is %s", got)
	}
	// Back to a step that has run: it is left out, and so are all behind it that have.
	m, _ = o.moves(&enrolments.MoveRequest{
		Sequence: sequence, From: 2, To: 1, Chosen: map[string]string{"c": "a"}, By: "user/1",
	})
	if got := o.state(waiting); got != "active b" || m.Moved != 2 {
		t.Errorf("the one that was moved back is %s: %+v", got, m)
	}
	m, _ = o.moves(&enrolments.MoveRequest{Sequence: sequence, From: 1, To: 3, By: "user/1"})
	if got := o.state(waiting); got != "finished b moved" || m.Finished != 1 {
		t.Errorf("the one without a step is %s: %+v", got, m)
	}
}

func TestAMailOnItsWayIsAwaitedByAMove(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := o.sequence(nil, mail("a", 0), mail("b", 3))
	o.version(sequence, 2, mail("a", 0), mail("b", 1), mail("c", 1))
	one := o.enrolled(sequence, o.person("one@example.com"))
	o.tick()
	m, left := o.moves(&enrolments.MoveRequest{Sequence: sequence, From: 1, To: 2, By: "user/1"})
	if left != enrolments.MoveWait || m.Status != enrolments.Running || m.Moved != 0 {
		t.Errorf("while its mail is on its way: %+v, left %d", m, left)
	}
	o.deliver()
	o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		left, err = enrolments.StepMove(ctx, tx, m.ID)
		return err
	})
	if got := o.one(`SELECT concat_ws(' ', version, step) FROM enrolment WHERE id = $1`, one); got != "2 b" ||
		left != enrolments.MoveOver {
		t.Errorf("afterwards it is at %s, left %d", got, left)
	}
}

func TestAMoveNeedsVersionsAndStepsThatExist(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := o.sequence(nil, mail("a", 0))
	o.version(sequence, 2, mail("b", 0))
	o.exec(`UPDATE sequence_version SET activated_at = NULL WHERE number = 2`)
	for want, r := range map[string]enrolments.MoveRequest{
		"#/to not_allowed":       {From: 1, To: 1},
		"#/from unknown_version": {From: 7, To: 1},
		"#/to not_activated":     {From: 1, To: 2},
	} {
		r.Sequence = sequence
		err := o.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, err := enrolments.StartMove(ctx, tx, &r)
			return err
		})
		if f := fault.Of(err); f == nil || f.Fields[0].Pointer+" "+f.Fields[0].Code != want {
			t.Errorf("%+v: %v, want %s", r, err, want)
		}
	}
	o.exec(`UPDATE sequence_version SET activated_at = now()`)
	for _, chosen := range []map[string]string{{"a": "x"}, {"x": "b"}} {
		err := o.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, err := enrolments.StartMove(ctx, tx, &enrolments.MoveRequest{
				Sequence: sequence, From: 1, To: 2, Chosen: chosen,
			})
			return err
		})
		if f := fault.Of(err); f == nil || f.Fields[0].Code != "step_unknown" {
			t.Errorf("%v: %v", chosen, err)
		}
	}
}

// ticks lets the engine execute what is due, as far as the mailbox may have mails under way.
func (o *office) ticks() {
	o.Helper()
	for before := -1; before != len(o.mails); {
		before = len(o.mails)
		o.exec(`UPDATE send_group SET wake_at = now() WHERE wake_at > now()`)
		o.tick()
	}
}

// TestMovesOfManyUnderWayRepeatNoStep moves enrolments to random versions while they go through their steps. No
// enrolment gets two mails of one step, and none is lost.
func TestMovesOfManyUnderWayRepeatNoStep(t *testing.T) {
	t.Parallel()
	o := open(t)
	r := rand.New(rand.NewPCG(5, 1))
	keys := []string{"a", "b", "c", "d", "e", "f"}
	random := func() (list []steps.Step) {
		for _, i := range r.Perm(len(keys))[:2+r.IntN(4)] {
			list = append(list, mail(keys[i], 1))
		}
		return list
	}
	sequence := o.sequence(nil, random()...)
	const versions = 8
	for all := o.people(*moved); len(all) > 0; { // a transaction has at most 4,096 events
		part := all[:min(len(all), 1000)]
		all = all[len(part):]
		o.put(sequence, part...)
	}
	for n := 2; n <= versions; n++ {
		o.passes(time.Duration(20+r.IntN(40)) * time.Hour)
		for range r.IntN(1 + *moved/250) {
			o.ticks()
			o.deliver()
		}
		o.ticks()
		if r.IntN(2) == 0 {
			o.deliver()
		}
		o.version(sequence, n, random()...)
		m, left := o.moves(&enrolments.MoveRequest{Sequence: sequence, From: n - 1, To: n, By: "user/1"})
		for o.deliver(); left == enrolments.MoveWait; {
			o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
				left, err = enrolments.StepMove(ctx, tx, m.ID)
				return err
			})
		}
	}
	for range len(keys) + 1 {
		o.passes(25 * time.Hour)
		for o.ticks(); o.deliver() > 0; o.ticks() {
			continue
		}
	}
	if got := o.one(`SELECT count(*) FROM (SELECT FROM email WHERE status <> 'cancelled'
		GROUP BY enrolment_id, step HAVING count(*) > 1) AS twice`); got != "0" {
		t.Errorf("%s steps were run twice", got)
	}
	if got, want := o.one(`SELECT count(*) FROM enrolment WHERE state = 'finished'`), fmt.Sprint(*moved); got != want {
		t.Errorf("%s enrolments are finished, want %s: %s", got, want,
			o.one(`SELECT string_agg(DISTINCT state || ' ' || step, ', ') FROM enrolment`))
	}
	if got := o.one(`SELECT count(*) FROM email WHERE status = 'sent'`); got == "0" {
		t.Error("nothing was sent: the test proves nothing")
	}
}

func TestAMoveAwaitsTheMailOfAPausedEnrolment(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := o.sequence(nil, mail("a", 0), mail("b", 1), mail("d", 1))
	o.version(sequence, 2, mail("a", 0), mail("c", 1), mail("d", 1))
	e := o.enrolled(sequence, o.person("ada@example.com"))
	o.tick()
	out := o.begun()
	if err := o.mark(out); err != nil {
		t.Fatal(err)
	}
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.Pause(ctx, tx, e, "user/1")
		return err
	})
	m, left := o.moves(&enrolments.MoveRequest{Sequence: sequence, From: 1, To: 2, By: "user/1"})
	if left != enrolments.MoveWait || m.Moved != 0 {
		t.Errorf("while the mail is on its way: %+v, left %d", m, left)
	}
	o.accept(out)
	o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		left, err = enrolments.StepMove(ctx, tx, m.ID)
		return err
	})
	if left != enrolments.MoveOver || o.state(e) != "paused d paused_by_user" {
		t.Errorf("left %d, %s", left, o.state(e))
	}
}
