package worker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// call is a call-out kind in the webhooks lane, like the kinds with concurrency keys.
var call = queue.Define[none]("test.call", queue.Options{Lane: queue.Webhooks})

// addLine adds n jobs of a key in one transaction, and returns how many of the key's jobs hold a slot.
func (h *house) addLine(org, line id.ID, n int) int {
	h.t.Helper()
	h.addFor(org,
		slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(call, none{}, queue.ConcurrencyKey(line))},
			n)...)
	return h.slots(line)
}

func (h *house) slots(line id.ID) int {
	h.t.Helper()
	return h.count("SELECT count(*) FROM job WHERE line = $1 AND wake_at IS NOT NULL", line)
}

func (h *house) feed(limit int) []queue.Ref {
	h.t.Helper()
	refs, err := h.feeder().Round(h.t.Context(), queue.Webhooks, limit)
	if err != nil {
		h.t.Fatal(err)
	}
	return refs
}

// tell changes a key's settings in a transaction of its org.
func (h *house) tell(what func(*postgres.Tx)) {
	h.t.Helper()
	if err := h.db.App.Tx(h.t.Context(), h.org, func(tx *postgres.Tx) error {
		what(tx)
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
}

// setSlots sets how many jobs of the key may be in Redis or running, as a later release or an operator may.
func setSlots(tx *postgres.Tx, key id.ID, slots int) {
	tx.Queue(`INSERT INTO job_line (org_id, id, slots) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, id) DO UPDATE SET slots = excluded.slots`, tx.Org(), key, slots)
}

func TestALineHoldsItsSlotsAndNoMore(t *testing.T) {
	t.Parallel()
	h := open(t)
	line := id.New()
	if n := h.addLine(h.org, line, 30); n != queue.Slots {
		t.Errorf("%d pushed at once, want %d", n, queue.Slots)
	}
	if refs := h.feed(100); len(refs) != 0 {
		t.Errorf("fed %d to a full line", len(refs))
	}
	h.tell(func(tx *postgres.Tx) { setSlots(tx, line, 13) })
	if refs := h.feed(100); len(refs) != 3 {
		t.Errorf("fed %d with 3 more slots", len(refs))
	}
	h.exec("DELETE FROM job_line WHERE id = $1", line)
	h.exec("DELETE FROM job WHERE wake_at IS NOT NULL")
	if n := h.addLine(h.org, line, 1); n != 0 {
		t.Errorf("a new job went past %d that wait", 30-13)
	}
	if refs := h.feed(100); len(refs) != queue.Slots {
		t.Errorf("fed %d, want %d", len(refs), queue.Slots)
	}
}

func TestFullLinesAlwaysLeaveRoomForAnotherOfTheirOrg(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, full := range []int{1, 6, 12} {
		h.exec("DELETE FROM job")
		for range full {
			h.addLine(h.org, id.New(), 20)
		}
		for len(h.feed(1000)) > 0 {
		}
		held := h.count("SELECT count(*) FROM job WHERE wake_at IS NOT NULL")
		if held >= queue.Lines {
			t.Errorf("%d lines hold %d slots, want fewer than %d", full, held, queue.Lines)
		}
		healthy, other := id.New(), id.New()
		want := 1
		if full <= 6 {
			want = queue.Slots
		}
		if n := h.addLine(h.org, healthy, 20); n < want {
			t.Errorf("beside %d full lines that hold %d a healthy one got %d, want %d", full, held, n, want)
		}
		if n := h.addLine(id.New(), other, 20); n != queue.Slots {
			t.Errorf("a line of another org got %d", n)
		}
	}
}

func TestAHeldLineSpendsNothingAndIsThenProbedByOneJobAtATime(t *testing.T) {
	t.Parallel()
	h := open(t)
	line := id.New()
	h.addLine(h.org, line, 20)
	all := h.jobs()
	running, err := h.store().Claim(t.Context(), h.org, all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	h.tell(func(tx *postgres.Tx) { queue.OpenCircuit(tx, line, time.Hour) })
	if n := h.slots(line); n != 1 {
		t.Errorf("%d slots beside a hold, want the running job's alone", n)
	}
	// A job that got a slot while the circuit was being opened.
	h.exec("UPDATE job SET wake_at = now() + interval '3 s' WHERE id = $1", all[1].ID)
	if _, err := h.store().Claim(t.Context(), h.org, all[1].ID); !errors.Is(err, store.ErrMissed) {
		t.Errorf("claimed: %v", err)
	}
	h.exec("UPDATE job SET wake_at = now() WHERE id = $1", all[1].ID)
	if found, err := h.store().Wake(t.Context(), 10, time.Time{}); err != nil || len(found.Refs) != 0 {
		t.Errorf("woke %v, %v", found, err)
	}
	if n := h.addLine(h.org, line, 1); n != 1 {
		t.Errorf("%d slots after an addition", n)
	}
	if refs := h.feed(10); len(refs) != 0 {
		t.Errorf("fed %d", len(refs))
	}
	// The present run ends, and the open period passes.
	if err := h.store().Finish(t.Context(), running, store.Completion{Outcome: store.Done}); err != nil {
		t.Fatal(err)
	}
	h.exec("UPDATE job_line SET held_until = now()")
	if n := h.addLine(h.org, line, 1); n != 0 {
		t.Errorf("%d slots given beside the probe", n)
	}
	for range 3 {
		refs := h.feed(10)
		if len(refs) != 1 {
			t.Fatalf("%d probes at once", len(refs))
		}
		if more := h.feed(10); len(more) != 0 {
			t.Fatal("a probe beside a probe")
		}
		probe, err := h.store().Claim(t.Context(), h.org, refs[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.store().Finish(t.Context(), probe, store.Completion{Outcome: store.Done}); err != nil {
			t.Fatal(err)
		}
	}
	h.tell(func(tx *postgres.Tx) { queue.CloseCircuit(tx, line) })
	if refs := h.feed(50); len(refs) != queue.Slots {
		t.Errorf("a freed line got %d slots", len(refs))
	}
	if n := h.count("SELECT count(*) FROM job WHERE attempt > 0"); n != 0 {
		t.Errorf("%d attempts spent", n)
	}
}

func TestARetryThatComesDueInAHeldLineWaits(t *testing.T) {
	t.Parallel()
	h := open(t)
	line := id.New()
	h.addLine(h.org, line, 1)
	c, err := h.store().Claim(t.Context(), h.org, h.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.store().Finish(t.Context(), c, store.Completion{Outcome: store.Failed, Error: "no"}); err != nil {
		t.Fatal(err)
	}
	feed := func() int {
		if _, _, err := h.feeder().Waiting(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(h.feed(10))
	}
	h.tell(func(tx *postgres.Tx) { queue.OpenCircuit(tx, line, time.Hour) })
	if n := feed(); n != 0 || h.only().Attempt != 1 {
		t.Errorf("fed %d: %+v", n, h.only())
	}
	h.tell(func(tx *postgres.Tx) { queue.CloseCircuit(tx, line) })
	if n := feed(); n != 1 {
		t.Errorf("fed %d of a freed line", n)
	}
}

func TestALineWithARateGetsItsSlotsEvenly(t *testing.T) {
	t.Parallel()
	h := open(t)
	line, rate := id.New(), 40
	h.tell(func(tx *postgres.Tx) {
		queue.SetKeyRate(tx, line, &rate)
		setSlots(tx, line, 90)
	})
	began := time.Now()
	if n := h.addLine(h.org, line, 300); n != 0 {
		t.Errorf("%d pushed past the feeder", n)
	}
	fed := 0
	for last := began; time.Since(began) < 2*time.Second; {
		n, now := len(h.feed(100)), time.Now()
		if fair := rate*6/10 + int(now.Sub(last).Seconds()*float64(rate)); n > fair { // the machine may be slow
			t.Errorf("%d slots at once", n)
		}
		fed, last = fed+n, now
		h.exec("DELETE FROM job WHERE wake_at IS NOT NULL")
		<-time.After(10 * time.Millisecond)
	}
	took := time.Since(began).Seconds()
	if limit := 1 + int(took*float64(rate)) + 1; fed > limit || fed < limit/2 {
		t.Errorf("%d slots in %.2f s, want up to %d", fed, took, limit)
	}
	h.tell(func(tx *postgres.Tx) { queue.SetKeyRate(tx, line, nil) })
	if n := len(h.feed(1000)); n != queue.Lines/2 {
		t.Errorf("without a rate %d slots", n)
	}
}
