package operator_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// station is an operator, rows to act on, and an inspector of asynq.
type station struct {
	t        *testing.T
	db       *testkit.Database
	sql      *pgxpool.Pool // superuser
	store    *store.Store
	operator *operator.Operator
	inspect  *asynq.Inspector
	enqueue  *dispatch.Enqueuer
	org      id.ID
}

func operate(t *testing.T) *station {
	t.Helper()
	s := &station{t: t, db: testkit.DB(t), org: id.New()}
	client, err := redisx.Open(testkit.Redis(t), redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if s.sql, err = pgxpool.New(t.Context(), s.db.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.sql.Close)
	s.store = store.New(s.db.App, s.db.System)
	s.operator, s.inspect, s.enqueue = operator.New(s.store, client), asynq.NewInspectorFromRedisClient(client),
		dispatch.NewEnqueuer(client)
	return s
}

func (s *station) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.sql.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *station) ask(sql string, args ...any) string {
	s.t.Helper()
	var said *string
	if err := s.sql.QueryRow(s.t.Context(), sql, args...).Scan(&said); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		s.t.Fatalf("%s: %v", sql, err)
	}
	if said == nil {
		return "none"
	}
	return *said
}

// states is the rows that an action may meet, as differences from a new row, and their state in asynq.
var states = map[string]struct{ set, asynq string }{
	"waiting": {"wake_at = NULL, run_at = now() + interval '1 hour', dedupe_key = 'k'", ""},
	"retry":   {"wake_at = NULL, run_at = now() + interval '1 hour', attempt = 2, last_error = 'no'", ""},
	"pushed":  {"wake_at = now() + interval '3 seconds', dedupe_key = 'k'", "pending"},
	"running": {"wake_at = now() + interval '20 seconds', owner = gen_random_uuid()", "pending"},
	"dead":    {"wake_at = NULL, state = 'dead', attempt = 8, losses = 3, last_error = 'no'", "archived"},
}

// row adds a job in a state.
func (s *station) row(state string) operator.Key {
	s.t.Helper()
	k := operator.Key{Org: s.org, ID: id.New()}
	if state == "none" {
		return k
	}
	s.exec(
		`INSERT INTO job (org_id, id, kind, args, lane, max_attempts)
			VALUES ($1, $2, 'test.kind', '{}', 'default', 8)`, k.Org, k.ID)
	s.exec(`UPDATE job SET `+states[state].set+` WHERE id = $1`, k.ID)
	if states[state].asynq != "" {
		for _, err := range s.enqueue.Enqueue(s.t.Context(), s.ref(k)) {
			if err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if states[state].asynq == "archived" {
		if err := s.inspect.ArchiveTask("default", s.ref(k).TaskID()); err != nil {
			s.t.Fatal(err)
		}
	}
	return k
}

func (s *station) ref(k operator.Key) queue.Ref {
	return queue.Ref{ID: k.ID, Org: k.Org, Kind: "test.kind", Lane: queue.Default, MaxAttempts: 8}
}

// look describes a job in one line: state, failed attempts, whether wake_at is now, later (set) or NULL, dedupe key,
// and task.
func (s *station) look(k operator.Key) string {
	s.t.Helper()
	row := s.ask(`SELECT state || ' ' || attempt || ' ' || losses || CASE WHEN wake_at <= now() THEN ' now'
		WHEN wake_at IS NULL THEN ' null' ELSE ' set' END
		|| coalesce(' ' || dedupe_key, '') || CASE WHEN (SELECT count(*) FROM job_death d
		WHERE d.id = job.id) <> (state = 'dead')::int THEN ' AND ITS DEATH IS WRONG' ELSE '' END
		FROM job WHERE id = $1`, k.ID)
	task := "-"
	if info, err := s.inspect.GetTaskInfo("default", s.ref(k).TaskID()); err == nil {
		task = info.State.String()
	}
	return row + "; " + task
}

func (s *station) act(name string, keys ...operator.Key) []operator.Result {
	s.t.Helper()
	act := map[string]func(context.Context, operator.By, ...operator.Key) ([]operator.Result, error){
		"run": s.operator.Run, "archive": s.operator.Archive, "drop": s.operator.Drop,
	}[name]
	got, err := act(s.t.Context(), operator.By{Actor: "ada", Reason: "because"}, keys...)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func TestEveryActDoesInEveryStateWhatItSays(t *testing.T) {
	t.Parallel()
	s := operate(t)
	for _, tc := range []struct {
		act, state string
		want       operator.Result
		row        string
	}{
		{"run", "waiting", operator.Acted, "ready 0 0 now k; pending"},
		{"run", "retry", operator.Acted, "ready 2 0 now; pending"},
		{"run", "pushed", operator.Acted, "ready 0 0 now k; pending"},
		{"run", "running", operator.Held, "ready 0 0 set; pending"},
		{"run", "dead", operator.Acted, "ready 0 0 now; pending"},
		{"run", "none", operator.Gone, "none; -"},
		{"archive", "waiting", operator.Acted, "dead 0 0 set; -"},
		{"archive", "retry", operator.Acted, "dead 2 0 set; -"},
		{"archive", "pushed", operator.Acted, "dead 0 0 set; archived"},
		{"archive", "running", operator.Held, "ready 0 0 set; pending"},
		{"archive", "dead", operator.Unfit, "dead 8 3 null; archived"},
		{"archive", "none", operator.Gone, "none; -"},
		{"drop", "waiting", operator.Acted, "none; -"},
		{"drop", "retry", operator.Acted, "none; -"},
		{"drop", "pushed", operator.Acted, "none; -"},
		{"drop", "running", operator.Held, "ready 0 0 set; pending"},
		{"drop", "dead", operator.Acted, "none; -"},
		{"drop", "none", operator.Gone, "none; -"},
	} {
		s.org = id.New()
		k := s.row(tc.state)
		if got := s.act(tc.act, k); got[0] != tc.want || s.look(k) != tc.row {
			t.Errorf("%s of one that is %s: %s, %q; want %s, %q", tc.act, tc.state, got[0], s.look(k), tc.want, tc.row)
		}
		audit, want := s.ask(
			`SELECT actor || ' ' || act || ' ' || count || ' ' || reason FROM job_act WHERE $1 = ANY (jobs)`, k.ID),
			"none"
		if tc.want == operator.Acted {
			want = "ada " + tc.act + " 1 because"
		}
		if audit != want {
			t.Errorf("%s of one that is %s: the audit says %q, want %q", tc.act, tc.state, audit, want)
		}
	}
	if said := s.ask(`SELECT DISTINCT last_error FROM job WHERE state = 'dead' AND attempt < 8`); said !=
		"archived by ada: because" {
		t.Errorf("an archived job says %q", said)
	}
}

func TestOneCallActsOnManyJobsAndAnswersEach(t *testing.T) {
	t.Parallel()
	s := operate(t)
	var keys []operator.Key
	var want []operator.Result
	for i := range 1203 {
		state, result := "waiting", operator.Acted
		switch i % 400 {
		case 7:
			state, result = "running", operator.Held
		case 8:
			state, result = "none", operator.Gone
		}
		if state == "waiting" {
			k := operator.Key{Org: id.New(), ID: id.New()}
			s.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts)
				VALUES ($1, $2, 'test.kind', '{}', 'default', 8)`, k.Org, k.ID)
			keys = append(keys, k)
		} else {
			keys = append(keys, s.row(state))
		}
		want = append(want, result)
	}
	keys, want = append(keys, keys[1202]), append(want, operator.Acted) // the same job twice
	if diff := cmp.Diff(want, s.act("drop", keys...)); diff != "" {
		t.Error(diff)
	}
	if n := s.ask(`SELECT sum(count) || ' in ' || count(*) FROM job_act`); n != "1197 in 3" {
		t.Errorf("the audit has %s", n)
	}
	_, err := s.operator.Drop(t.Context(), operator.By{Actor: "ada"}, keys[0])
	if !errors.Is(err, operator.ErrUnreasoned) {
		t.Errorf("a drop without a reason: %v", err)
	}
}

func TestAnActLeavesAJobAloneThatARunHoldsByItsLock(t *testing.T) {
	t.Parallel()
	s := operate(t)
	k := s.row("pushed")
	run, err := s.sql.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Exec(t.Context(), `SELECT FROM job WHERE id = $1 FOR UPDATE`, k.ID); err != nil {
		t.Fatal(err)
	}
	before := s.look(k)
	for _, act := range []string{"run", "archive", "drop"} {
		if got := s.act(act, k); got[0] != operator.Held || s.look(k) != before {
			t.Errorf("%s: %s, %q", act, got[0], s.look(k))
		}
	}
	// A short lock is not a run's.
	over := time.AfterFunc(60*time.Millisecond, func() { _ = run.Rollback(context.WithoutCancel(t.Context())) })
	defer over.Stop()
	if got := s.act("archive", k); got[0] != operator.Acted {
		t.Errorf("after the lock: %s", got[0])
	}
}

func TestFiftyRedrivesOfOneJobAtOnceMakeOneTask(t *testing.T) {
	t.Parallel()
	s := operate(t)
	k := s.row("dead")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := s.operator.Run(t.Context(), operator.By{Actor: "ada"}, k); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := s.look(k); got != "ready 0 0 now; pending" {
		t.Error(got)
	}
	if info, err := s.inspect.GetQueueInfo("default"); err != nil {
		t.Error(err)
	} else if info.Size != 1 || info.Pending != 1 {
		t.Errorf("size %d, pending %d; want 1 and 1", info.Size, info.Pending)
	}
}

func TestWhatIsPausedIsNotPushedByRunNow(t *testing.T) {
	t.Parallel()
	s := operate(t)
	pause := func(scope, name string) {
		t.Helper()
		changed, err := s.operator.Pause(t.Context(), operator.By{Actor: "ada"}, scope, name)
		if err != nil || !changed {
			t.Fatal(changed, err)
		}
	}
	pushed, dead := s.row("pushed"), s.row("dead")
	s.exec(`UPDATE job SET dedupe_key = NULL`)
	pause("kind", "test.kind")
	if got := s.look(pushed); got != "ready 0 0 null; pending" {
		t.Errorf("a pushed job of a paused kind: %q, want it without a slot", got)
	}
	if _, err := s.store.Claim(t.Context(), pushed.Org, pushed.ID); !errors.Is(err, store.ErrMissed) {
		t.Errorf("it was claimed: %v", err)
	}
	s.act("run", dead)
	if got := s.look(dead); got != "ready 0 0 now; archived" {
		t.Errorf("run now of a paused job: %q", got)
	}
	if found, err := s.store.Wake(t.Context(), 10, time.Time{}); err != nil || len(found.Refs) != 0 {
		t.Errorf("the relay woke %+v, %v", found, err)
	}
	pause("lane", "bulk")
	if err := s.inspect.PauseQueue("bulk"); err == nil {
		t.Error("asynq was not told of the pause")
	}
	for _, want := range []bool{true, false} {
		if changed, err := s.operator.Resume(t.Context(), operator.By{Actor: "ada"}, "kind", "test.kind"); err != nil ||
			changed != want {
			t.Errorf("resume: %v, %v; want %v", changed, err, want)
		}
	}
	if n := s.ask(`SELECT string_agg(act || ' ' || scope, ', ' ORDER BY id) FROM job_act`); n !=
		"pause kind test.kind, run , pause lane bulk, resume kind test.kind" {
		t.Errorf("the audit has %q", n)
	}
	for _, bad := range [][2]string{{"lane", "slow"}, {"org", "acme"}, {"kind", ""}, {"team", "x"}} {
		if _, err := s.operator.Pause(t.Context(), operator.By{}, bad[0], bad[1]); !errors.Is(err, operator.ErrScope) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestAnActNeedsNoRedis(t *testing.T) {
	t.Parallel()
	s := operate(t)
	away, err := redisx.Open("redis://127.0.0.1:1", redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = away.Close() })
	for name, o := range map[string]*operator.Operator{
		"without": operator.New(s.store, nil),
		"away":    operator.New(s.store, away),
	} {
		s.operator = o
		for _, act := range []string{"run", "archive", "drop"} {
			if got := s.act(act, s.row("pushed")); got[0] != operator.Acted {
				t.Errorf("%s, %s: %s", name, act, got[0])
			}
			s.exec(`DELETE FROM job`)
		}
		if changed, err := o.Pause(t.Context(), operator.By{Actor: "ada"}, "lane", "bulk"); err != nil || !changed {
			t.Errorf("%s: pause: %v %v", name, changed, err)
		}
		if changed, err := o.Resume(t.Context(), operator.By{Actor: "ada"}, "lane", "bulk"); err != nil || !changed {
			t.Errorf("%s: resume: %v %v", name, changed, err)
		}
	}
}

func TestAnOrgsWeightIsSetAndTakenBack(t *testing.T) {
	t.Parallel()
	s := operate(t)
	for _, step := range []struct {
		weight  int
		changed bool
		err     error
	}{
		{3, true, nil},
		{3, false, nil},
		{100, true, nil},
		{0, false, operator.ErrWeight},
		{101, false, operator.ErrWeight},
	} {
		if changed, err := s.operator.SetWeight(t.Context(), operator.By{Actor: "ada"}, s.org,
			step.weight); changed != step.changed || !errors.Is(err, step.err) {
			t.Errorf("%d: %v, %v", step.weight, changed, err)
		}
	}
	if _, err := s.operator.SetWeight(t.Context(), operator.By{}, id.ID{}, 2); !errors.Is(err, operator.ErrNoOrg) {
		t.Errorf("nobody: %v", err)
	}
	all, err := s.operator.Weights(t.Context())
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]operator.Weight{{Org: s.org, Weight: 100}}, all); diff != "" {
		t.Errorf("weights (-want +got):\n%s", diff)
	}
	if changed, err := s.operator.SetWeight(t.Context(), operator.By{Actor: "ada"}, s.org, 1); err != nil || !changed {
		t.Errorf("back to 1: %v, %v", changed, err)
	}
	if all, err := s.operator.Weights(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if n := s.ask(`SELECT count(*)::text FROM job_act WHERE act = 'weight'`); n != "3" {
		t.Errorf("%s in the audit, want 3", n)
	}
}
