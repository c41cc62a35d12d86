package enrolments_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
)

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

// both enrols contacts in two sequences at the same time, in opposite orders, and returns the results by contact.
func (o *office) both(one, other id.ID, all []id.ID) (a, b map[id.ID]string) {
	o.Helper()
	a, b = map[id.ID]string{}, map[id.ID]string{}
	begin := make(chan struct{})
	enrol := func(sequence id.ID, all []id.ID, into map[id.ID]string) {
		<-begin
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
	var done sync.WaitGroup
	done.Go(func() { enrol(one, all, a) })
	done.Go(func() { enrol(other, turned, b) })
	close(begin)
	done.Wait()
	return a, b
}

// TestOfTwoSequencesThatExcludeEachOtherOneEnrolsAContact races pairs of enrolments, each of one contact in two
// sequences: one of both wins, and the other one says so.
func TestOfTwoSequencesThatExcludeEachOtherOneEnrolsAContact(t *testing.T) {
	t.Parallel()
	o := open(t)
	one, other := o.sequence(nil, mail("first", 0)), o.sequence(nil, mail("first", 0))
	first, pairs := 0, 0
	for until := time.Now().Add(time.Second); pairs == 0 || pairs < 10_000 && time.Now().Before(until); {
		for _, contact := range o.crowd(50) {
			pairs++
			a, b := o.both(one, other, []id.ID{contact})
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
		a, b := o.both(one, other, all)
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
