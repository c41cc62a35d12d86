package enrolments_test

import (
	"context"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var racing = flag.Duration("racing", time.Second, "how long two sequences race for contacts")

func notExclusive(s *sequences.Settings) { s.Exclusive = false }

// crowd inserts n contacts.
func (o *office) crowd(n int) []id.ID {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	rows, err := o.sql.Query(o.Context(), `INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name,
			last_name_folded, stage, created_at, updated_at)
		SELECT $1, i, i || '@example.com', i || '@example.com', 'A', 'B', 'b', 'lead', now(), now()
		FROM (SELECT gen_random_uuid() AS i FROM generate_series(1, $2)) AS made RETURNING id`, o.org, n)
	if err != nil {
		o.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		o.Fatal(err)
	}
	return all
}

// both enrols contacts in two sequences at the same time, in opposite orders, and returns the results by contact. The
// sequence that begins depends on n.
func (o *office) both(n int, one, other id.ID, all []id.ID) (a, b map[id.ID]string) {
	o.Helper()
	a, b = map[id.ID]string{}, map[id.ID]string{}
	enrol := func(sequence id.ID, all []id.ID, into map[id.ID]string) {
		if err := o.tx(func(ctx context.Context, tx *postgres.Tx) error {
			results, err := o.enrol.Enrol(ctx, tx, &enrolments.Request{Sequence: sequence}, all)
			for _, r := range results {
				if into[r.ContactID] = r.Result; r.Reason != nil {
					into[r.ContactID] = *r.Reason
				}
			}
			return err
		}); err != nil {
			o.Error(err)
		}
	}
	turned := slices.Clone(all)
	slices.Reverse(turned)
	testkit.Race(n, time.Millisecond, func() { enrol(one, all, a) }, func() { enrol(other, turned, b) })
	return a, b
}

// TestOfTwoSequencesThatExcludeEachOtherOneEnrolsAContact races pairs of enrolments, each of one contact in two
// sequences: one of both wins, and the other one says so.
func TestOfTwoSequencesThatExcludeEachOtherOneEnrolsAContact(t *testing.T) {
	t.Parallel()
	o := open(t)
	one, other := o.sequence(nil, mail("first", 0)), o.sequence(nil, mail("first", 0))
	first, pairs := 0, 0
	for until := time.Now().Add(*racing); pairs == 0 || pairs < 10_000 && time.Now().Before(until); {
		for _, contact := range o.crowd(50) {
			pairs++
			a, b := o.both(pairs, one, other, []id.ID{contact})
			switch {
			case a[contact] == enrolments.Enrolled && b[contact] == enrolments.ActiveElsewhere:
				first++
			case b[contact] == enrolments.Enrolled && a[contact] == enrolments.ActiveElsewhere:
			default:
				t.Fatalf("pair %d: %s and %s", pairs, a[contact], b[contact])
			}
		}
	}
	t.Logf("%d pairs, of which the first sequence won %d", pairs, first)
	if got := o.one(`SELECT count(*) - count(DISTINCT contact_id) FROM enrolment`); got != "0" {
		t.Errorf("%s contacts are in both", got)
	}
}

func TestLargeEnrolmentsThatExcludeEachOtherShareTheContacts(t *testing.T) {
	t.Parallel()
	o := open(t)
	one, other := o.sequence(nil, mail("first", 0)), o.sequence(nil, mail("first", 0))
	for round := range 3 {
		all := o.crowd(500)
		a, b := o.both(round, one, other, all)
		for _, contact := range all {
			pair := []string{a[contact], b[contact]}
			if slices.Sort(pair); pair[0] != enrolments.ActiveElsewhere || pair[1] != enrolments.Enrolled {
				t.Fatalf("round %d: %v", round, pair)
			}
		}
	}
}

func TestAContactIsInOneExcludingSequenceAndInOthersThatDoNotExclude(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.person("ada@example.com")
	others, alone := o.sequence(notExclusive, mail("first", 0)), o.sequence(nil, mail("first", 0))
	another := o.sequence(nil, mail("first", 0))
	e := o.enrolled(alone, ada)
	o.enrolled(others, ada)
	if r := o.put(another, ada)[0]; r.Reason == nil || *r.Reason != enrolments.ActiveElsewhere {
		t.Errorf("a second one that excludes: %+v", r)
	}
	o.exec(`UPDATE enrolment SET state = 'finished', due_at = NULL, ended_at = now()`)
	o.enrolled(another, ada)
	if o.state(e) != "finished first" {
		t.Error(o.state(e))
	}
}

func TestAnEmailThatIsSentAgainOpensNoSecondEnrolmentThatExcludesTheFirst(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada, eve := o.person("ada@example.com"), o.person("eve@example.com")
	one, other := o.sequence(nil, mail("first", 0)), o.sequence(nil, mail("first", 0))
	failed := func(sequence, contact id.ID) (enrolment, email id.ID) {
		enrolment = o.enrolled(sequence, contact)
		o.tick()
		o.exec(`UPDATE enrolment SET state = 'failed', reason = 'job_stopped', ended_at = now() WHERE id = $1`,
			enrolment)
		o.exec(`UPDATE email SET status = 'failed', status_reason = 'job_stopped' WHERE enrolment_id = $1`, enrolment)
		email, err := id.Parse(o.one(`SELECT id FROM email WHERE enrolment_id = $1`, enrolment))
		if err != nil {
			t.Fatal(err)
		}
		return enrolment, email
	}
	first, firstMail := failed(one, ada)
	isOpen := o.enrolled(other, ada)
	older, olderMail := failed(one, eve)
	newer, newerMail := failed(other, eve)
	o.must(func(_ context.Context, tx *postgres.Tx) error {
		states.Revived(tx, []id.ID{firstMail, olderMail, newerMail})
		return nil
	})
	for what, c := range map[string]struct {
		enrolment id.ID
		want      string
	}{
		"another one is open": {first, "failed first job_stopped"}, "the open one": {isOpen, "sending first"},
		"the older one": {older, "failed first job_stopped"}, "the newer one": {newer, "sending first"},
	} {
		if got := o.state(c.enrolment); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
