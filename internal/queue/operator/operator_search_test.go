package operator_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// fill makes n dead jobs of seven orgs and three kinds. Job i died i seconds after epoch.
func (s *station) fill(n int) {
	s.t.Helper()
	s.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, state, last_error, created_at)
		SELECT ('00000000-0000-7000-8000-' || lpad((i % 7)::text, 12, '0'))::uuid, ('00000000-0000-7000-9000-' ||
		lpad(i::text, 12, '0'))::uuid,
			'kind.' || i % 3, '{"id":1}', CASE WHEN i % 2 = 0 THEN 'bulk' ELSE 'default' END, 3, 'dead',
			'Attempt failed: dial tcp 10.0.0.' || i || ': ' || CASE WHEN i = 3 THEN 'Refused BY PEER é'
			ELSE 'reset' END, '2026-01-01T00:00:00Z'
		FROM generate_series(1, $1::int) i`, n)
	s.exec(`UPDATE job_death SET died_at = '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs =>
		right(id::text, 12)::int)`)
}

func place(i int) operator.Key {
	return operator.Key{Org: number(0x8000, i%7), ID: number(0x9000, i)}
}

func number(at uint16, i int) id.ID {
	out, err := id.Parse(fmt.Sprintf("00000000-0000-7000-%x-%012d", at, i))
	if err != nil {
		panic(err)
	}
	return out
}

// pages reads a search to its end.
func (s *station) pages(f operator.Filter, limit int) (keys []operator.Key) {
	s.t.Helper()
	var after *operator.Place
	for {
		jobs, next, err := s.operator.Search(s.t.Context(), f, limit, after)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, j := range jobs {
			keys = append(keys, operator.Key{Org: j.Org, ID: j.ID})
		}
		if next == nil {
			return keys
		}
		if len(jobs) != limit {
			s.t.Fatalf("a page of %d before the last, want %d", len(jobs), limit)
		}
		after = next
	}
}

func TestASearchFindsWhatFitsEveryFieldNewestFirst(t *testing.T) {
	t.Parallel()
	s := operate(t)
	const n = 300
	s.fill(n)
	operator.ReadThrough(s.operator, 40) // so that both searches for texts are used
	org, from, to := number(0x8000, 2), time.Date(2026, 1, 1, 0, 1, 40, 0, time.UTC),
		time.Date(2026, 1, 1, 0, 4, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		filter operator.Filter
		fits   func(i int) bool
	}{
		"all":  {operator.Filter{}, func(int) bool { return true }},
		"kind": {operator.Filter{Kind: "kind.1"}, func(i int) bool { return i%3 == 1 }},
		"org":  {operator.Filter{Org: &org}, func(i int) bool { return i%7 == 2 }},
		"org and kind": {operator.Filter{Org: &org, Kind: "kind.2"}, func(i int) bool {
			return i%7 == 2 && i%3 == 2
		}},
		"lane": {operator.Filter{Lane: queue.Bulk}, func(i int) bool { return i%2 == 0 }},
		"time": {operator.Filter{After: &from, Before: &to}, func(i int) bool {
			return i >= 100 && i < 240
		}},
		"a common text": {operator.Filter{Error: "DIAL tcp"}, func(int) bool { return true }},
		// not ASCII
		"a rare text":          {operator.Filter{Error: "refused by peer É"}, func(int) bool { return false }},
		"a rare text in ASCII": {operator.Filter{Error: "refused by peer é"}, func(i int) bool { return i == 3 }},
		"the end of a text":    {operator.Filter{Error: "7: reset"}, func(i int) bool { return i%10 == 7 }},
		"two letters":          {operator.Filter{Error: "Rs"}, func(int) bool { return false }},
		"one letter":           {operator.Filter{Error: "F", Kind: "kind.0"}, func(i int) bool { return i%3 == 0 }},
		"text and the rest": {operator.Filter{Error: "0.1", Org: &org, Before: &to}, func(i int) bool {
			return i%7 == 2 && i < 240 && strings.HasPrefix(fmt.Sprint(i), "1")
		}},
		"a pattern is a text": {operator.Filter{Error: "%"}, func(int) bool { return false }},
		"open ones":           {operator.Filter{State: operator.Open}, func(int) bool { return false }},
	} {
		var want []operator.Key
		for i := n; i > 0; i-- {
			if tc.fits(i) {
				want = append(want, place(i))
			}
		}
		for _, limit := range []int{7, 1000} {
			if diff := cmp.Diff(want, s.pages(tc.filter, limit)); diff != "" {
				t.Errorf("%s, pages of %d: %s", name, limit, diff)
			}
		}
	}
}

func TestOpenJobsAreFoundByTheirState(t *testing.T) {
	t.Parallel()
	s := operate(t)
	rows := map[string]operator.Key{}
	for name := range states {
		s.exec(`UPDATE job SET dedupe_key = NULL`)
		rows[name] = s.row(name)
	}
	for _, state := range operator.States() {
		want := []operator.Key{rows[string(state)]}
		if state == operator.Open {
			want = []operator.Key{rows["waiting"], rows["retry"], rows["pushed"], rows["running"]}
			slices.SortFunc(want, func(a, b operator.Key) int { return strings.Compare(b.ID.String(), a.ID.String()) })
		}
		if diff := cmp.Diff(want, s.pages(operator.Filter{State: state}, 2)); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
	}
	retries := operator.Filter{State: operator.Retry, Error: "NO", Kind: "test.kind", Org: &s.org}
	if got := s.pages(retries, 5); len(got) != 1 {
		t.Errorf("by everything: %v", got)
	}
	for name, k := range rows {
		j, err := s.operator.Show(t.Context(), k)
		if err != nil || j == nil {
			t.Errorf("%s is shown as %+v, %v", name, j, err)
			continue
		}
		if string(j.State) != name || string(j.Args) != "{}" {
			t.Errorf("%s: state %s, args %s; want %s, {}", name, j.State, j.Args, name)
		}
		if (j.DiedAt != nil) != (name == "dead") {
			t.Errorf("%s: died at %v", name, j.DiedAt)
		}
	}
	if j, err := s.operator.Show(t.Context(), operator.Key{Org: s.org, ID: id.New()}); err != nil || j != nil {
		t.Errorf("one that is not there: %+v, %v", j, err)
	}
	other := operator.Key{Org: id.New(), ID: id.New()}
	s.exec(
		`INSERT INTO job (org_id, id, kind, args, lane, max_attempts)
			VALUES ($1, $2, 'test.kind', '{}', 'default', 8)`, other.Org, other.ID)
	want := []operator.Key{other, rows["dead"], rows["retry"]}
	got, err := s.operator.Locate(t.Context(), other.ID, rows["dead"].ID, id.New(), rows["retry"].ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("by id alone: %v %s", err, diff)
	}
}

func TestTheRunOfATxKindIsShownAndCountedAsRunning(t *testing.T) {
	t.Parallel()
	s := operate(t)
	k := s.row("pushed")
	s.exec(`UPDATE job SET dedupe_key = NULL`)
	other := s.row("pushed")
	said := func() string {
		t.Helper()
		j, err := s.operator.Show(t.Context(), k)
		if err != nil || j == nil {
			t.Fatal(j, err)
		}
		lanes, err := s.store.Backlogs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts := lanes[slices.Index(queue.Lanes(), queue.Default)].Counts
		return fmt.Sprint(j.State, " ", len(s.pages(operator.Filter{State: operator.Running}, 5)),
			len(s.pages(operator.Filter{State: operator.Queued}, 5)), " ",
			counts[store.StageRunning], counts[store.StagePushed])
	}
	end := errors.New("the run ends, as if its worker were killed")
	err := s.db.App.Tx(t.Context(), k.Org, func(tx *postgres.Tx) error {
		if _, err := s.store.Lock(t.Context(), tx, k.ID); err != nil {
			return err
		}
		err := tx.Savepoint(t.Context(), func() error {
			_, err := tx.Exec(t.Context(), `UPDATE job SET last_error = 'its work writes' WHERE id = $1`, other.ID)
			if got := said(); got != "running 2 0 2 0" {
				t.Errorf("while both are written to: %s", got)
			}
			return errors.Join(err, end)
		})
		if got := said(); got != "running 1 1 1 1" {
			t.Errorf("in its run: %s", got)
		}
		return err
	})
	if !errors.Is(err, end) {
		t.Fatal(err)
	}
	if got := said(); got != "pushed 0 2 0 2" {
		t.Errorf("after it: %s", got)
	}
}

// Without an index these searches scan a million rows.
func TestSearchesOfDeadJobsGoByAnIndex(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.fill(3000)
	s.exec(`UPDATE job_death SET kind = 'rare' WHERE right(id::text, 2) = '07'`)
	s.exec(`ANALYZE job_death`)
	const newest = ` ORDER BY d.died_at DESC, d.id DESC LIMIT 51`
	for _, tc := range []struct{ where, index string }{
		{newest, "job_death_newest"},
		{` WHERE d.kind = 'rare'` + newest, "job_death_kind"},
		{` WHERE d.lane = 'critical'` + newest, "job_death_lane"},
		{` WHERE d.org_id = '00000000-0000-7000-8000-000000000002'` + newest, "job_death_org"},
		{
			` WHERE d.org_id = '00000000-0000-7000-8000-000000000002' AND d.kind = 'kind.1'` + newest,
			"job_death_org_kind",
		},
		{
			` WHERE d.died_at >= '2026-01-01T00:20:00Z' AND d.died_at < '2026-01-01T00:21:00Z'` + newest,
			"job_death_newest",
		},
		{` WHERE job_grams(d.error) @> job_grams(lower('Refused'::text COLLATE "C"))
			AND position(lower('Refused'::text COLLATE "C") IN d.error) > 0`, "job_death_error"},
	} {
		var plan []string
		err := s.db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
			rows, err := tx.Query(t.Context(), `EXPLAIN SELECT d.org_id, d.id, d.died_at FROM job_death d`+tc.where)
			if err != nil {
				return err
			}
			plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(plan, "\n"); !regexp.MustCompile(tc.index+`\b`).MatchString(got) ||
			strings.Contains(got, "Seq Scan") {
			t.Errorf("%s\ngoes by\n%s", tc.where, got)
		}
	}
}

func TestADropByFilterTakesWhatFitsAndNothingElse(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.fill(1400)
	by := operator.By{Actor: "ada", Reason: "a bad release"}
	if _, _, err := s.operator.DropMatching(t.Context(), by, operator.Filter{State: operator.Dead},
		time.Minute); !errors.Is(err, operator.ErrUnfiltered) {
		t.Errorf("a drop of everything: %v", err)
	}
	if _, _, err := s.operator.DropMatching(t.Context(), operator.By{Actor: "ada"}, operator.Filter{Lane: queue.Bulk},
		time.Minute); !errors.Is(err, operator.ErrUnreasoned) {
		t.Errorf("a drop without a reason: %v", err)
	}
	n, more, err := s.operator.DropMatching(t.Context(), by, operator.Filter{Lane: queue.Bulk}, 0)
	if n != 500 || !more || err != nil {
		t.Errorf("no time at all: %d, %v, %v; want one batch", n, more, err)
	}
	n, more, err = s.operator.DropMatching(t.Context(), by, operator.Filter{Lane: queue.Bulk}, time.Minute)
	if n != 200 || more || err != nil {
		t.Errorf("the rest: %d, %v, %v; want 200 and no more", n, more, err)
	}
	if left := s.ask(`SELECT count(*) FILTER (WHERE lane = 'default') || ' and ' || count(*) FILTER (WHERE lane <>
		'default') FROM job`); left != "700 and 0" {
		t.Errorf("left: %s", left)
	}
	if said := s.ask(`SELECT sum(count) || ' ' || min(scope) || ' ' || min(reason) FROM job_act`); said !=
		`700 {"lane":"bulk"} a bad release` {
		t.Errorf("the audit has %s", said)
	}
}

// redrive starts a redrive of f and returns a function that executes one step.
func (s *station) redrive(f operator.Filter, rate int) (*operator.Redrive, func() (full, more bool)) {
	s.t.Helper()
	asked := 0
	r, err := s.operator.StartRedrive(s.t.Context(), operator.By{Actor: "ada", Reason: "mended"}, f, rate,
		func(context.Context, *postgres.Tx, id.ID) error {
			asked++
			return nil
		})
	if err != nil || asked != 1 {
		s.t.Fatal(err, asked)
	}
	return r, func() (bool, bool) {
		s.t.Helper()
		full, more, err := s.operator.StepRedrive(s.t.Context(), r.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		return full, more
	}
}

// since sets the time up to which a redrive's rate has been used.
func (s *station) since(r *operator.Redrive, ago string) {
	s.t.Helper()
	s.exec(`UPDATE job_redrive SET stepped_at = clock_timestamp() - $2::interval WHERE id = $1`, r.ID, ago)
}

func TestARedriveKeepsItsRateAndEndsWithTheLastThatFits(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.fill(1400)
	r, step := s.redrive(operator.Filter{Lane: queue.Bulk}, 100)
	if r.Total != 700 {
		t.Errorf("%d fit, want 700", r.Total)
	}
	// A statement takes time, in which the rate allows more jobs; hence lower and upper limits.
	for _, tc := range []struct {
		ago       string
		low, high int
	}{{"1 second", 100, 150}, {"500 milliseconds", 50, 100}, {"1 hour", 200, 200}, {"0 seconds", 0, 50}} {
		before := s.ready()
		s.since(r, tc.ago)
		if _, more := step(); !more {
			t.Fatal("it ended early")
		}
		if n := s.ready() - before; n < tc.low || n > tc.high {
			t.Errorf("%s after the last step %d were moved, want %d to %d", tc.ago, n, tc.low, tc.high)
		}
	}
	// Oldest first, reset, and without a slot: the feeder assigns slots.
	if odd := s.ask(`SELECT count(*) FROM job WHERE state = 'ready' AND (attempt, losses) <> (0, 0)
		OR state = 'ready' AND wake_at IS NOT NULL OR lane <> 'bulk' AND state = 'ready'`); odd != "0" {
		t.Errorf("%s rows are not as they should be", odd)
	}
	if out := s.ask(`SELECT ((SELECT max(id::text) FROM job WHERE state = 'ready') < (SELECT min(id::text)
		FROM job WHERE state = 'dead' AND lane = 'bulk'))::text`); out != "true" {
		t.Error("they were not moved in their order")
	}
	// A job that dies again stays dead, and so does a job while a run holds its lock.
	s.exec(`UPDATE job SET state = 'dead' WHERE (id) IN (SELECT id FROM job WHERE state = 'ready' LIMIT 1)`)
	for more := true; more; {
		s.since(r, "2 seconds")
		_, more = step()
	}
	if n := s.ready(); n != 699 {
		t.Errorf("%d run again, want 699", n)
	}
	if said := s.ask(`SELECT done || ' ' || (ended_at IS NOT NULL) || ' ' || cancelled FROM job_redrive`); said !=
		"700 true false" {
		t.Errorf("it says %s", said)
	}
	if said := s.ask(
		`SELECT sum(count) || ' ' || sum(cardinality(jobs)) || ' ' || min(actor) FROM job_act
			WHERE act = 'redrive'`); said != "700 700 ada" {
		t.Errorf("the audit says %s", said)
	}
	if _, more := step(); more {
		t.Error("an ended one goes on")
	}
}

func (s *station) ready() (n int) {
	s.t.Helper()
	if err := s.sql.QueryRow(s.t.Context(), `SELECT count(*) FROM job WHERE state = 'ready'`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestACancelledRedriveMovesNothingMore(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.fill(100)
	r, step := s.redrive(operator.Filter{Error: "reset"}, 10)
	s.since(r, "1 second")
	step()
	before := s.ready()
	for _, want := range []bool{true, false} {
		if done, err := s.operator.CancelRedrive(t.Context(), operator.By{Actor: "bob"}, r.ID); err != nil ||
			done != want {
			t.Errorf("cancel: %v, %v; want %v", done, err, want)
		}
	}
	s.since(r, "1 second")
	if _, more := step(); more || s.ready() != before {
		t.Errorf("it went on: %d, before %d", s.ready(), before)
	}
	all, err := s.operator.Redrives(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := operator.Filter{State: operator.Dead, Error: "reset"}
	want := []operator.Redrive{{Cancelled: true, Done: before, Total: 99, Filter: by}}
	if diff := cmp.Diff(want, all, cmpopts.IgnoreFields(want[0], "ID", "Actor", "Reason", "Rate", "CreatedAt",
		"SteppedAt", "EndedAt")); diff != "" {
		t.Fatalf("redrives (-want +got):\n%s", diff)
	}
	if all[0].EndedAt == nil {
		t.Error("the cancelled redrive has no end")
	}
	if said := s.ask(
		`SELECT string_agg(actor || ' ' || act, ', ' ORDER BY id) FROM job_act WHERE act <> 'redrive'`); said !=
		"ada redrive.start, bob redrive.cancel" {
		t.Errorf("the audit says %s", said)
	}
	for rate, want := range map[int]error{0: operator.ErrRate, operator.MaxRate + 1: operator.ErrRate} {
		if _, err := s.operator.StartRedrive(t.Context(), operator.By{}, operator.Filter{}, rate, nil); !errors.Is(err,
			want) {
			t.Errorf("rate %d: %v", rate, err)
		}
	}
	if _, err := s.operator.StartRedrive(t.Context(), operator.By{}, operator.Filter{State: operator.Open}, 1,
		nil); !errors.Is(err, operator.ErrNotDead) {
		t.Errorf("open jobs: %v", err)
	}
}

func TestARedriveGoesOnWhenTheClockOfPostgresWasSetBack(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.fill(1400)
	r, step := s.redrive(operator.Filter{Lane: queue.Bulk}, 100)
	s.since(r, "-1 hour")
	if _, more := step(); !more {
		t.Fatal("it ended early")
	}
	if ready := s.ask(`SELECT bool_and(stepped_at <= clock_timestamp())::text FROM job_redrive`); ready != "true" {
		t.Error("it waits for an hour")
	}
}
