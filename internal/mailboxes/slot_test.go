package mailboxes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestTheCapCountsTheMarksOf24Hours(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(func(p *mailboxes.Patch) { p.DailyCap = wire.Some(3) })
	o.mails(box, 5, 25*time.Hour, "") // these do not count any more
	o.mails(box, 2, 23*time.Hour, "")
	if s := o.slot(box, false); !s.Free {
		t.Errorf("the third mail is refused: %+v", s)
	}
	o.mails(box, 1, time.Hour, "")
	s := o.slot(box, false)
	// The oldest of the three was marked 23 hours and a second ago, and counts for 24 hours and a minute.
	if at := time.Until(s.At); s.Free || s.Reason != mailboxes.ByCap || at < 58*time.Minute || at > 62*time.Minute {
		t.Errorf("the fourth mail: %+v, in %s", s, at)
	}
}

func TestGapAndRampHoldOnlyAutomatedMail(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(func(p *mailboxes.Patch) {
		p.Ramp = wire.Some(mailboxes.RampPatch{Start: wire.Some(2)})
		p.Gap = wire.Some(mailboxes.GapPatch{Min: wire.Some(60), Max: wire.Some(90)})
	})
	if s := o.slot(box, true); !s.Free {
		t.Fatalf("the first automated mail: %+v", s)
	}
	if s := o.slot(box, true); s.Free || s.Reason != mailboxes.ByGap || time.Until(s.At) > 91*time.Second ||
		time.Until(s.At) < 50*time.Second {
		t.Errorf("within the gap: %+v", s)
	}
	o.exec(`UPDATE mailbox SET next_slot_at = NULL`)
	o.mails(box, 2, time.Hour, "")
	if s := o.slot(box, true); s.Free || s.Reason != mailboxes.ByRamp {
		t.Errorf("above the ramp: %+v", s)
	}
	if s := o.slot(box, false); !s.Free {
		t.Errorf("a one-to-one mail is held: %+v", s)
	}
}

func TestOnlyAnActiveMailboxHasSlots(t *testing.T) {
	t.Parallel()
	o := open(t)
	for name, c := range map[string]struct {
		sql  string
		want mailboxes.Slot
	}{
		"unverified":   {`status = 'unverified'`, mailboxes.Slot{Reason: "unverified"}},
		"disabled":     {`status = 'disabled'`, mailboxes.Slot{Reason: "disabled"}},
		"held":         {`status = 'held'`, mailboxes.Slot{Reason: "held"}},
		"archived":     {`archived_at = now()`, mailboxes.Slot{Reason: "disabled"}},
		"held over":    {`status = 'held', held_until = now() - interval '1 s'`, mailboxes.Slot{Free: true}},
		"held a while": {`status = 'held', held_until = '2100-01-01Z'`, mailboxes.Slot{Reason: "held"}},
	} {
		box := o.active(nil)
		o.exec(`UPDATE mailbox SET `+c.sql+` WHERE id = $1`, box)
		s := o.slot(box, false)
		if want := name == "held a while"; s.At.IsZero() == want {
			t.Errorf("%s: at %s", name, s.At)
		}
		if s.At = (time.Time{}); s != c.want {
			t.Errorf("%s: %+v", name, s)
		}
		o.exec(`UPDATE mailbox SET archived_at = now() WHERE id = $1`, box) // frees its address
	}
}

// TestMarksOfARelayDoNotWaitForEachOther takes a slot while another transaction holds one.
func TestMarksOfARelayDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	o := open(t)
	capped := o.active(nil)
	free := o.active(func(p *mailboxes.Patch) {
		relay(100)(p)
		p.FromEmail = wire.Some("relay@shop.example")
	})
	for name, c := range map[string]struct {
		box   id.ID
		waits bool
	}{"capped": {capped, true}, "relay": {free, false}} {
		o.must(func(tx *postgres.Tx) error {
			if _, err := mailboxes.TakeSlot(t.Context(), tx, c.box, false); err != nil {
				return err
			}
			patience := 20 * time.Second
			if c.waits {
				patience = 200 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := o.App.Tx(ctx, o.org, func(tx *postgres.Tx) error {
				_, err := mailboxes.TakeSlot(ctx, tx, c.box, false)
				return err
			})
			if waited := errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil; waited != c.waits {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
	}
}

// TestTheRateHoldsUnderSeveralWorkers reserves moments of a relay from 8 goroutines. None may be used before it, and no
// second may have more of them than the rate.
func TestTheRateHoldsUnderSeveralWorkers(t *testing.T) {
	t.Parallel()
	const rate, workers, each = 40, 8, 15
	o := open(t)
	box := o.active(relay(rate))
	var (
		all sync.WaitGroup
		mu  sync.Mutex
		log []time.Time
	)
	begun := time.Now()
	for range workers {
		all.Go(func() {
			for range each {
				s, err := mailboxes.TakeRate(t.Context(), o.App, o.org, box)
				if err != nil || !s.Free {
					t.Errorf("%+v, %v", s, err)
					return
				}
				mu.Lock()
				log = append(log, s.At)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	var next time.Time
	o.scan(`SELECT rate_next_at FROM mailbox`, &next)
	// 120 moments at 40 per second, the first one at once.
	if least := time.Duration(workers*each) * time.Second / rate; next.Sub(begun) < least {
		t.Errorf("%d moments were reserved in %s, want at least %s", workers*each, next.Sub(begun), least)
	}
	if most := 15 * time.Second; next.Sub(begun) > most {
		t.Errorf("the last moment lies %s ahead", next.Sub(begun))
	}
	if len(log) != workers*each {
		t.Errorf("%d moments", len(log))
	}
}

func TestAMomentTooFarAheadIsNotReserved(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(relay(1))
	o.exec(`UPDATE mailbox SET rate_next_at = now() + interval '1 minute'`)
	var before, after time.Time
	o.scan(`SELECT rate_next_at FROM mailbox`, &before)
	s, err := mailboxes.TakeRate(t.Context(), o.App, o.org, box)
	if err != nil || s.Free || s.Reason != mailboxes.ByRate || !s.At.After(time.Now()) {
		t.Errorf("%+v, %v", s, err)
	}
	if o.scan(`SELECT rate_next_at FROM mailbox`, &after); !after.Equal(before) {
		t.Errorf("the next moment moved from %s to %s", before, after)
	}
}

func TestTheQueueStartsTheMailsOfARelayEvenly(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(relay(7))
	var rate *int
	if o.scan(`SELECT rate FROM job_line WHERE id = $1`, &rate, box); rate == nil || *rate != 7 {
		t.Errorf("created with %v", rate)
	}
	if _, _, err := o.update(box, mailboxes.Patch{RatePerSecond: none[int](), DailyCap: wire.Some(10)}); err != nil {
		t.Fatal(err)
	}
	if o.scan(`SELECT rate FROM job_line WHERE id = $1`, &rate, box); rate != nil {
		t.Errorf("without a rate: %d", *rate)
	}
}

// The clock of Postgres was an hour ahead, and was set back: what it had reserved does not hold mails for an hour.
func TestSlotsOfAClockThatWasSetBackDoNotCount(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(func(p *mailboxes.Patch) {
		p.Gap = wire.Some(mailboxes.GapPatch{Min: wire.Some(60), Max: wire.Some(90)})
		p.RatePerSecond = wire.Some(1)
	})
	o.exec(`UPDATE mailbox SET next_slot_at = now() + interval '61 minutes', rate_next_at = now() + interval '1 hour'`)
	if s := o.slot(box, true); !s.Free {
		t.Errorf("the gap of a clock ahead holds: %+v", s)
	}
	s, err := mailboxes.TakeRate(t.Context(), o.App, o.org, box)
	if err != nil || !s.Free || time.Until(s.At) > time.Second {
		t.Errorf("the rate of a clock ahead holds: %+v, %v", s, err)
	}
	if s := o.slot(box, true); s.Free || s.Reason != mailboxes.ByGap {
		t.Errorf("there is no gap after the mail: %+v", s)
	}
}
