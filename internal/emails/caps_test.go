package emails_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// allow sets the caps of the org; 0 is none.
func (o *office) allow(daily, domain int) {
	o.Helper()
	field := func(n int) wire.Field[int] { return wire.Field[int]{Set: true, Null: n == 0, Value: n} }
	o.must(func(tx *postgres.Tx) error {
		_, _, err := orgsending.Update(o.Context(), tx,
			&orgsending.Patch{DailyCap: field(daily), DomainDailyCap: field(domain)},
			func(*orgsending.Settings) error { return nil })
		return err
	})
}

// relay makes the mailboxes of the org servers of its own, without a cap and a gap.
func (o *office) relay() {
	o.Helper()
	o.exec(`UPDATE mailbox SET kind = 'smtp', smtp_host = 'smtp.shop.example', daily_cap = NULL, gap_min = 0,
		gap_max = 0`)
}

// TestNoMoreMailsThanTheCapOfTheOrgAreMarkedInAny24Hours lets 8 workers mark emails of three mailboxes for some
// simulated days, in which the cap changes. Time passes by moving the times of the rows back.
func TestNoMoreMailsThanTheCapOfTheOrgAreMarkedInAny24Hours(t *testing.T) {
	t.Parallel()
	const limit, workers, step = 10, 8, 5 * time.Hour
	o := open(t)
	o.relay()
	boxes := []id.ID{o.mailbox, id.New(), id.New()}
	for i, box := range boxes[1:] {
		o.exec(`INSERT INTO mailbox SELECT (jsonb_populate_record(m, jsonb_build_object('id', $2::uuid,
			'from_folded', $3::text, 'inbound_hash', NULL))).* FROM mailbox m WHERE id = $1`, o.mailbox, box,
			fmt.Sprintf("box%d@shop.example", i))
	}
	o.allow(limit, 0)
	var (
		passed time.Duration
		mu     sync.Mutex
		log    []time.Time
		held   int
	)
	for passed < time.Duration(*days)*24*time.Hour {
		var queue []id.ID
		for i := range 3 * workers {
			email := o.written(nil)
			o.exec(`UPDATE email SET mailbox_id = $2 WHERE id = $1`, email, boxes[i%len(boxes)])
			queue = append(queue, email)
		}
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for _, email := range queue[3*w : 3*w+3] {
					out, err := o.emails.Begin(t.Context(), o.App, o.org, email, id.New())
					if err != nil || out == nil {
						continue
					}
					err = o.mark(out)
					mu.Lock()
					switch r := refusal(err); {
					case err == nil:
						log = append(log, time.Now().Add(passed))
					case r == nil || r.Reason != orgsending.ByCap || !r.WholeMailbox || !r.At.After(time.Now()):
						t.Errorf("held by %v", err)
					default:
						held++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if rand.IntN(3) == 0 { // the room that is known is forgotten
			o.allow(limit+1, 0)
			o.allow(limit, 0)
		}
		d := step + time.Duration(rand.IntN(60))*time.Minute
		o.passes(d)
		passed += d
	}
	for i := limit; i < len(log); i++ {
		if log[i].Sub(log[i-limit]) < 24*time.Hour {
			t.Errorf("mails %d to %d were marked within %s", i-limit, i, log[i].Sub(log[i-limit]))
		}
	}
	if want := limit * *days * 2 / 3; len(log) < want || held == 0 {
		t.Errorf("only %d mails were marked, want at least %d; %d were held", len(log), want, held)
	}
}

// TestTheCapOfADomainHoldsOnlyAutomatedMailToIt races 8 workers for the slots of each domain.
func TestTheCapOfADomainHoldsOnlyAutomatedMailToIt(t *testing.T) {
	t.Parallel()
	const limit, workers = 3, 8
	o := open(t)
	o.relay()
	o.allow(0, limit)
	automated := func(to string) *emails.Outgoing {
		t.Helper()
		email := o.written(func(n *emails.New) { n.ContactID, n.ToEmail = o.person(to), to })
		o.exec(`UPDATE email SET automated = true WHERE id = $1`, email)
		return o.begun(email)
	}
	for domain, want := range map[string]int{"acme.example": limit, "gmail.com": workers, "other.example": limit} {
		all := make([]*emails.Outgoing, workers)
		for i := range all {
			all[i] = automated(fmt.Sprintf("person%d@%s", i, domain))
		}
		var (
			done  sync.WaitGroup
			mu    sync.Mutex
			n     int
			until time.Time
		)
		for _, out := range all {
			done.Go(func() {
				err := o.mark(out)
				mu.Lock()
				defer mu.Unlock()
				if r := refusal(err); r != nil && r.Reason == orgsending.ByDomain && !r.WholeMailbox {
					until = r.At
				} else if n++; err != nil {
					t.Errorf("%s: %v", domain, err)
				}
			})
		}
		if done.Wait(); n != want {
			t.Errorf("%s: %d mails were marked, want %d", domain, n, want)
		}
		if left := time.Until(until); n < workers && (left < 23*time.Hour || left > 25*time.Hour) {
			t.Errorf("%s: held for %s", domain, left)
		}
	}
	var moved int
	if err := o.sql.QueryRow(t.Context(), `SELECT count(*) FROM email WHERE status = 'planned' AND due_at > now()
		+ interval '23 hours'`).Scan(&moved); err != nil || moved != 2*(workers-limit) {
		t.Errorf("%d mails are due a day later, %v", moved, err)
	}
	to := "grace@acme.example"
	personal := o.written(func(n *emails.New) { n.ContactID, n.ToEmail = o.person(to), to })
	if err := o.mark(o.begun(personal)); err != nil {
		t.Errorf("a one-to-one mail: %v", err)
	}
	o.passes(25 * time.Hour)
	if err := o.mark(automated("late@acme.example")); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

func TestACapIsNotSetWhileAMarkIsUnderWay(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.relay()
	o.allow(0, 0)
	first, second := o.begun(o.written(nil)), o.begun(o.written(nil))
	o.exec(`SELECT pg_advisory_lock(99)`)
	// The mark has been set, and its commit waits.
	var marking sync.WaitGroup
	var failed error
	marking.Go(func() {
		failed = o.emails.Mark(t.Context(), o.App, first, []byte("mime"),
			`pg_advisory_lock_shared(99) IS NOT NULL AND pg_advisory_unlock_shared(99)`)
	})
	o.until(`SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event = 'advisory')`)
	err := o.tx(func(tx *postgres.Tx) error {
		tx.Queue(`SET LOCAL lock_timeout = '100ms'`)
		_, _, err := orgsending.Update(t.Context(), tx, &orgsending.Patch{DailyCap: wire.Some(1)},
			func(*orgsending.Settings) error { return nil })
		return err
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "55P03" {
		t.Errorf("a cap was set while a mark was under way: %v", err)
	}
	o.exec(`SELECT pg_advisory_unlock(99)`)
	if marking.Wait(); failed != nil {
		t.Fatal(failed)
	}
	o.allow(1, 0)
	if r := refusal(o.mark(second)); r == nil || r.Reason != orgsending.ByCap {
		t.Errorf("a mark beyond a new cap: %+v", r)
	}
}
