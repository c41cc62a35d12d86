package emails_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var (
	races = flag.Int("races", 300, "races between a mark and a suppression")
	days  = flag.Int("days", 3, "simulated days of the test of the cap")
)

// TestASuppressionThatIsCommittedBeforeTheMarkStopsTheEmail races a mark against a suppression of its address. Once the
// suppression is committed, an email whose mark is not committed yet must never get it.
func TestASuppressionThatIsCommittedBeforeTheMarkStopsTheEmail(t *testing.T) {
	t.Parallel()
	o := open(t)
	stopped, sent := 0, 0
	most := 5 * time.Millisecond
	for i := range *races {
		if i%20 == 19 && (stopped == 0 || sent == 0) { // the machine is busy, and one of both always comes first
			most = min(2*most, time.Second)
		}
		to := fmt.Sprintf("race%d@example.com", i)
		contact := o.person(to)
		email := o.written(func(n *emails.New) { n.ContactID, n.ToEmail, n.Purpose = contact, to, emails.Marketing })
		out := o.begun(email)
		var (
			first bool // the suppression was committed while the mark was not
			err   error
		)
		testkit.Race(i, most, func() { err = o.mark(out) }, func() {
			o.must(func(tx *postgres.Tx) error {
				_, _, err := o.emails.Suppressions.Add(context.WithoutCancel(t.Context()), tx, suppression.New{
					Email: to, Purpose: suppression.Marketing, Reason: suppression.Unsubscribe,
				})
				return err
			})
			first = o.status(email) != emails.Transmitting
		})
		switch got := o.status(email); {
		case err == nil && first:
			t.Fatalf("race %d: the email was marked after the suppression was committed", i)
		case err == nil && got == emails.Transmitting:
			sent++
		case refusal(err) != nil && got == "cancelled suppressed":
			stopped++
		default:
			t.Fatalf("race %d: %v, status %s", i, err, got)
		}
	}
	if t.Logf("%d stopped, %d marked first", stopped, sent); stopped == 0 || sent == 0 {
		t.Error("the races have one end only")
	}
}

// TestNoMoreMailsThanTheCapAreMarkedInAny24Hours lets 8 workers mark emails of a mailbox with a cap for some simulated
// days. Time passes by moving the times of the rows back; the log has the times as they would be.
func TestNoMoreMailsThanTheCapAreMarkedInAny24Hours(t *testing.T) {
	t.Parallel()
	const limit, workers, step = 10, 8, 5 * time.Hour
	o := open(t)
	o.exec(`UPDATE mailbox SET daily_cap = $1`, limit)
	var (
		passed time.Duration
		mu     sync.Mutex
		log    []time.Time
	)
	var queue []id.ID
	for passed < time.Duration(*days)*24*time.Hour {
		for len(queue) < 3*workers {
			queue = append(queue, o.written(nil))
		}
		var all sync.WaitGroup
		for w := range workers {
			mine := queue[3*w : 3*w+3]
			all.Go(func() {
				for _, email := range mine {
					out, err := o.emails.Begin(t.Context(), o.App, o.org, email, id.New())
					if err != nil || out == nil {
						continue
					}
					if o.mark(out) != nil {
						continue
					}
					mu.Lock()
					log = append(log, time.Now().Add(passed))
					mu.Unlock()
					if err := o.tx(func(tx *postgres.Tx) error {
						return out.Accept(t.Context(), tx, accepted)
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		queue = nil
		d := step + time.Duration(rand.IntN(60))*time.Minute
		o.passes(d)
		passed += d
	}
	for i := limit; i < len(log); i++ {
		if log[i].Sub(log[i-limit]) < 24*time.Hour {
			t.Errorf("mails %d to %d were marked within %s", i-limit, i, log[i].Sub(log[i-limit]))
		}
	}
	if want := limit * *days * 2 / 3; len(log) < want {
		t.Errorf("only %d mails were marked, want at least %d", len(log), want)
	}
}

// TestTheRateOfARelayHoldsUnderSeveralWorkers lets 8 workers mark emails of a relay. Each mark comes at its moment or
// later, so no mark comes before all moments up to its own: a machine may be slow.
func TestTheRateOfARelayHoldsUnderSeveralWorkers(t *testing.T) {
	t.Parallel()
	const rate, workers, each = 20, 8, 6
	o := open(t)
	o.exec(`UPDATE mailbox SET kind = 'smtp', daily_cap = NULL, rate_per_second = $1, gap_min = 0, gap_max = 0`, rate)
	all := make([]*emails.Outgoing, workers*each)
	for i := range all {
		all[i] = o.begun(o.written(nil))
	}
	var began time.Time
	if err := o.sql.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&began); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			for _, out := range all[w*each : (w+1)*each] {
				if err := o.mark(out); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	var marks int
	var least time.Duration // between the moment of a mark and the mark
	err := o.sql.QueryRow(t.Context(), `SELECT count(*), min(d) FROM (
		SELECT marked_at - $1::timestamptz
			- (row_number() OVER (ORDER BY marked_at) - 1) * make_interval(secs => 1.05 / $2::float8) AS d
		FROM email) x`, began, rate).Scan(&marks, &least)
	if err != nil {
		t.Fatal(err)
	}
	if marks != workers*each || least < 0 {
		t.Errorf("%d marks, of which one is %s too early", marks, -least)
	}
	t.Logf("%d marks, each at least %s after its moment", marks, least)
}
