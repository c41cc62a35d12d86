package enrolments_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var races = flag.Int("races", 150, "races between a mark and a reply")

// TestAReplyThatIsCommittedBeforeTheMarkStopsTheNextStep races the mark of a step's email against a reply of the
// contact. Once the reply is committed, an email whose mark is not committed yet must never get it.
func TestAReplyThatIsCommittedBeforeTheMarkStopsTheNextStep(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq := o.sequence(nil, mail("first", 0), mail("second", 1))
	stopped, sent := 0, 0
	most := 4 * time.Millisecond
	for i := range *races {
		if i%20 == 19 && (stopped == 0 || sent == 0) { // the machine is busy, and one of both always comes first
			most = min(2*most, time.Second)
		}
		contact := o.person(fmt.Sprintf("race%d@example.com", i))
		e := o.enrolled(seq, contact)
		o.tick()
		out := o.begun()
		if out == nil {
			t.Fatal("no mail")
		}
		var (
			first bool // the reply was committed while the mark was not
			err   error
		)
		testkit.Race(i, most, func() { err = o.mark(out) }, func() {
			o.must(func(ctx context.Context, tx *postgres.Tx) error {
				r := &states.Reply{Message: id.New(), Contact: &contact, Enrolment: &e, At: time.Now()}
				r.LockFor(tx)
				return r.Human(ctx, tx, "reply")
			})
			first = o.one(`SELECT status FROM email WHERE id = $1`, out.ID) != emails.Transmitting
		})
		status := o.one(`SELECT status FROM email WHERE id = $1`, out.ID)
		switch {
		case o.state(e) != "replied first reply":
			t.Fatalf("race %d: %s", i, o.state(e))
		case err == nil && first:
			t.Fatalf("race %d: the email was marked after the reply was committed", i)
		case err == nil && status == emails.Transmitting:
			sent++
		case refusal(err) != nil && status == emails.Cancelled:
			stopped++
		default:
			t.Fatalf("race %d: %v, %s", i, err, status)
		}
	}
	if t.Logf("%d stopped, %d marked first", stopped, sent); stopped == 0 || sent == 0 {
		t.Error("the races have one end only")
	}
}
