package ops_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// board is an ops listener with jobs.
type board struct {
	*testing.T
	listener *ops.Listener
	sql      *pgxpool.Pool // superuser
	redis    redis.UniversalClient
	server   *testkit.RedisServer
	inspect  *asynq.Inspector
	enqueue  *dispatch.Enqueuer
	org      id.ID
}

func newBoard(t *testing.T, change ...func(*ops.Options)) *board {
	t.Helper()
	b := &board{T: t, server: testkit.RealRedis(t), org: id.New()}
	kit := testkit.DB(t)
	b.listener = newOps(t, append([]func(*ops.Options){func(o *ops.Options) {
		o.DB, o.System, o.DatabaseURL, o.RedisURL = kit.App, kit.System, kit.URL, b.server.URL
	}}, change...)...)
	var err error
	if b.sql, err = pgxpool.New(t.Context(), kit.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.sql.Close)
	if b.redis, err = redisx.Open(b.server.URL, redisx.Worker); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.redis.Close() })
	b.inspect, b.enqueue = asynq.NewInspectorFromRedisClient(b.redis), dispatch.NewEnqueuer(b.redis)
	return b
}

// call sends a request like a program. A body that is not a string is sent as JSON.
func (b *board) call(method, path string, body any) *httptest.ResponseRecorder {
	b.Helper()
	var text string
	switch v := body.(type) {
	case nil:
	case string:
		text = v
	default:
		out, err := json.Marshal(v)
		if err != nil {
			b.Fatal(err)
		}
		text = string(out)
	}
	r := httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(text))
	r.Host = "127.0.0.1:9090"
	if text != "" {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	w := httptest.NewRecorder()
	b.listener.ServeHTTP(w, r)
	conforms(b.T, b.listener, r, w)
	return w
}

func (b *board) ask(sql string, args ...any) string {
	b.Helper()
	var said *string
	if err := b.sql.QueryRow(b.Context(), "SELECT ("+sql+")::text", args...).Scan(&said); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
	if said == nil {
		return "none"
	}
	return *said
}

func (b *board) exec(sql string, args ...any) {
	b.Helper()
	if _, err := b.sql.Exec(b.Context(), sql, args...); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

func ref(k operator.Key) queue.Ref {
	return queue.Ref{ID: k.ID, Org: k.Org, Kind: "test.kind", Lane: queue.Default, MaxAttempts: 8}
}

// job creates a row that differs from a new one by set; "" creates none.
func (b *board) job(set string) operator.Key {
	b.Helper()
	k := operator.Key{Org: b.org, ID: id.New()}
	if set != "" {
		b.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts)
			VALUES ($1, $2, 'test.kind', '{}', 'default', 8)`, k.Org, k.ID)
		b.exec(`UPDATE job SET `+set+` WHERE id = $1`, k.ID)
	}
	return k
}

// task adds k's task to a list of asynq.
func (b *board) task(k operator.Key, state string) {
	b.Helper()
	r := ref(k)
	for _, err := range b.enqueue.Enqueue(b.Context(), r) {
		if err != nil {
			b.Fatal(err)
		}
	}
	if state == "archived" {
		if err := b.inspect.ArchiveTask("default", r.TaskID()); err != nil {
			b.Fatal(err)
		}
	}
	if state == "retry" { // as asynq's own script does
		at := asynqx.Key("default", "")
		b.redis.LRem(b.Context(), at+"pending", 1, r.TaskID())
		b.redis.ZAdd(b.Context(), at+"retry", redis.Z{Score: 4e9, Member: r.TaskID()})
		if err := b.redis.HSet(b.Context(), at+"t:"+r.TaskID(), "state", "retry").Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// look returns a job's row and its task in one line.
func (b *board) look(k operator.Key) string {
	b.Helper()
	row := b.ask(`SELECT state || CASE WHEN owner IS NOT NULL THEN ' running' ELSE '' END FROM job WHERE id = $1`, k.ID)
	task := "-"
	if info, err := b.inspect.GetTaskInfo("default", ref(k).TaskID()); err == nil {
		task = info.State.String()
	}
	return row + "; " + task
}

const (
	waits   = "wake_at = NULL, attempt = 1, run_at = now() + interval '1 hour'"
	pushed  = "wake_at = now() + interval '3 seconds'"
	running = "wake_at = now() + interval '20 seconds', owner = gen_random_uuid()"
	dead    = "wake_at = NULL, state = 'dead', last_error = 'no'"
)

// one returns an action on one task, by the routes of asynqmon.
func one(verb, state string, k operator.Key) (method, path string) {
	path = fmt.Sprintf("/queues/api/queues/default/%s_tasks/%s", state, ref(k).TaskID())
	if verb == "delete" {
		return http.MethodDelete, path
	}
	return http.MethodPost, path + ":" + verb
}

func TestEveryWishOfTheDashboardIsGrantedInPostgresFirst(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	for _, tc := range []struct {
		row, list, verb string
		status          int
		want            string
	}{
		{waits, "retry", "run", 204, "ready; pending"},
		{waits, "retry", "archive", 204, "dead; archived"},
		{waits, "retry", "delete", 204, "none; -"},
		{pushed, "pending", "archive", 204, "dead; archived"},
		{pushed, "pending", "delete", 204, "none; -"},
		{dead, "archived", "run", 204, "ready; pending"},
		{dead, "archived", "delete", 204, "none; -"},
		// The job has moved on since the page was loaded.
		{waits, "pending", "archive", 204, "dead; archived"},
		{waits, "archived", "run", 204, "ready; pending"},
		{pushed, "retry", "run", 204, "ready; pending"},
		{dead, "pending", "archive", 204, "dead; archived"},
		{dead, "retry", "delete", 204, "none; -"},
		{waits, "gone", "archive", 204, "dead; -"},
		{dead, "gone", "delete", 204, "none; -"},
		{dead, "gone", "run", 204, "ready; pending"},
		// The job is running, so nothing is changed.
		{running, "retry", "run", 409, "ready running; retry"},
		{running, "pending", "archive", 409, "ready running; pending"},
		{running, "pending", "delete", 409, "ready running; pending"},
		{running, "archived", "run", 409, "ready running; archived"},
		// The task has no job, so it is deleted, whatever the action.
		{"", "retry", "run", 204, "none; -"},
		{"", "pending", "archive", 204, "none; -"},
		{"", "archived", "run", 204, "none; -"},
		{"", "archived", "delete", 204, "none; -"},
		{"", "gone", "delete", 404, "none; -"},
	} {
		k, list := b.job(tc.row), tc.list
		if list == "gone" {
			list = map[string]string{"archive": "pending", "run": "archived", "delete": "archived"}[tc.verb]
		} else {
			b.task(k, list)
		}
		method, path := one(tc.verb, list, k)
		w := b.call(method, path, nil)
		if got := b.look(k); w.Code != tc.status || got != tc.want {
			t.Errorf("%s of %q under %s: %d %q %s; want %d %q", tc.verb, tc.row, tc.list, w.Code, got,
				strings.TrimSpace(w.Body.String()), tc.status, tc.want)
		}
		audit, want := b.ask(`SELECT actor || ' ' || act || ' ' || reason FROM job_act WHERE $1 = ANY (jobs)`, k.ID),
			"none"
		if changed := tc.row != "" && tc.status == 204 && (tc.row != dead || tc.verb != "archive"); changed {
			want = "ops " + map[string]string{"delete": "drop"}[tc.verb] + " dashboard"
			if tc.verb != "delete" {
				want = "ops " + tc.verb + " dashboard"
			}
		}
		if audit != want {
			t.Errorf("%s of %q under %s: the audit has %q, want %q", tc.verb, tc.row, tc.list, audit, want)
		}
	}
}

func TestATaskThatWasLeftBehindGoesWithTheActOnItsJob(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	for _, tc := range []struct{ list, verb, old, row string }{
		{"archived", "run", "-", "ready"}, {"retry", "archive", "-", "dead"}, {"pending", "delete", "-", "none"},
	} {
		k := b.job(dead + ", dispatch = 1")
		if tc.verb != "run" {
			b.exec(`UPDATE job SET state = 'ready' WHERE id = $1`, k.ID)
		}
		b.task(k, tc.list)
		method, path := one(tc.verb, tc.list, k)
		if w := b.call(method, path, nil); w.Code != 204 || b.look(k) != tc.row+"; "+tc.old {
			t.Errorf("%s: %d, %q", tc.verb, w.Code, b.look(k))
		}
	}
}

func TestAForeignTaskIsTakenAway(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	client := asynq.NewClientFromRedisClient(b.redis)
	if _, err := client.EnqueueContext(t.Context(), asynq.NewTask("other", []byte("no job")),
		asynq.TaskID("stranger:x"), asynq.Queue("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if w := b.call("POST", "/queues/api/queues/elsewhere/pending_tasks/stranger:x:archive", nil); w.Code != 204 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if info, err := b.inspect.GetQueueInfo("elsewhere"); err != nil || info.Size != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestABatchFromTheDashboardAnswersWhatItCameTo(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	for verb, tc := range map[string]struct{ list, row, done, failed, left string }{
		"delete":  {"archived", dead, "deleted_ids", "failed_ids", "none; -"},
		"run":     {"archived", dead, "pending_ids", "error_ids", "ready; pending"},
		"archive": {"pending", pushed, "archived_ids", "error_ids", "dead; archived"},
	} {
		keys := []operator.Key{b.job(tc.row), b.job(running), b.job(tc.row), b.job("")}
		var ids []string
		for _, k := range keys {
			b.task(k, tc.list)
			ids = append(ids, ref(k).TaskID())
		}
		w := b.call("POST", "/queues/api/queues/default/"+tc.list+"_tasks:batch_"+verb, map[string]any{"task_ids": ids})
		var got map[string][]string
		if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != 200 || err != nil {
			t.Fatalf("%s: %d %s", verb, w.Code, w.Body)
		}
		if diff := cmp.Diff(map[string][]string{tc.done: {ids[0], ids[2], ids[3]}, tc.failed: {ids[1]}},
			got); diff != "" {
			t.Errorf("%s: %s", verb, diff)
		}
		if diff := cmp.Diff([]string{tc.left, tc.left, "none; -"},
			[]string{b.look(keys[0]), b.look(keys[2]), b.look(keys[3])}); diff != "" {
			t.Errorf("%s: the jobs (-want +got):\n%s", verb, diff)
		}
		// An empty batch returns lists that are not null.
		if w := b.call("POST", "/queues/api/queues/default/"+tc.list+"_tasks:batch_"+verb,
			`{"task_ids":[]}`); w.Code != 200 || strings.Contains(w.Body.String(), "null") {
			t.Errorf("%s of none: %d %s", verb, w.Code, w.Body)
		}
		if w := b.call("POST", "/queues/api/queues/default/"+tc.list+"_tasks:batch_"+verb,
			`{"task_ids":[],"x":1}`); w.Code != 400 {
			t.Errorf("%s with more: %d", verb, w.Code)
		}
	}
}

func TestAllOfAListIsTheSameActOverEachOfIt(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	for _, tc := range []struct{ list, verb, method, row, answer, left string }{
		{"archived", "run", "POST", dead, "scheduled", "ready; pending"},
		{"pending", "archive", "POST", pushed, "archived", "dead; archived"},
		{"archived", "delete", "DELETE", dead, "deleted", "none; -"},
		{"retry", "run", "POST", waits, "scheduled", "ready; pending"},
		{"pending", "delete", "DELETE", pushed, "deleted", "none; -"},
		{"retry", "archive", "POST", waits, "archived", "dead; archived"},
		{"retry", "delete", "DELETE", waits, "deleted", "none; -"},
	} {
		b.exec(`DELETE FROM job`)
		b.redis.FlushAll(t.Context())
		b.call("GET", "/queues/api/queues", nil)
		var keys []operator.Key
		for range 25 {
			k := b.job(tc.row)
			b.task(k, tc.list)
			keys = append(keys, k)
		}
		held, stray := b.job(running), b.job("")
		b.task(held, tc.list)
		b.task(stray, tc.list)
		w := b.call(tc.method, "/queues/api/queues/default/"+tc.list+"_tasks:"+tc.verb+"_all", nil)
		if want := fmt.Sprintf("{%q:26}", tc.answer); w.Code != 200 || strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("%s all %s: %d %s, want %s", tc.verb, tc.list, w.Code, w.Body, want)
		}
		for _, k := range keys {
			if got := b.look(k); got != tc.left {
				t.Errorf("%s all %s: %q, want %q", tc.verb, tc.list, got, tc.left)
			}
		}
		if got := b.look(held); got != "ready running; "+tc.list {
			t.Errorf("%s all %s: one that is run: %q", tc.verb, tc.list, got)
		}
		if got := b.look(stray); got != "none; -" {
			t.Errorf("%s all %s: a stray: %q", tc.verb, tc.list, got)
		}
	}
}

func TestAPauseOfAQueueIsAPauseOfItsLane(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	paused := func() string {
		t.Helper()
		info, err := b.inspect.GetQueueInfo("bulk")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(b.ask(`SELECT count(*) FROM job_pause WHERE scope = 'lane' AND name = 'bulk'`), " ",
			info.Paused)
	}
	b.call("GET", "/queues/api/queues", nil)
	for _, step := range []struct {
		verb, want string
	}{{"pause", "1 true"}, {"pause", "1 true"}, {"resume", "0 false"}, {"resume", "0 false"}} {
		if w := b.call("POST", "/queues/api/queues/bulk:"+step.verb, nil); w.Code != 204 || paused() != step.want {
			t.Errorf("%s: %d %s, want %s", step.verb, w.Code, paused(), step.want)
		}
	}
	if w := b.call("POST", "/queues/api/queues/nope:pause", nil); w.Code != 404 {
		t.Errorf("a queue that there is not: %d %s", w.Code, w.Body)
	}
	if said := b.ask(`SELECT string_agg(act || ' ' || scope || ' ' || reason, ', ' ORDER BY id) FROM job_act`); said !=
		"pause lane bulk dashboard, resume lane bulk dashboard" {
		t.Errorf("the audit has %s", said)
	}
}

func TestTheDashboardListsEveryQueueAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	queues := func() (names []string) {
		t.Helper()
		var got struct{ Queues []struct{ Queue string } }
		w := b.call("GET", "/queues/api/queues", nil)
		if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != 200 || err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, q := range got.Queues {
			names = append(names, q.Queue)
		}
		slices.Sort(names)
		return names
	}
	want := []string{"bulk", "critical", "default", "remote", "webhooks"}
	b.task(b.job(pushed), "pending")
	for _, what := range []string{"at first", "after FLUSHALL"} {
		if diff := cmp.Diff(want, queues()); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		b.redis.FlushAll(t.Context())
		b.task(b.job(pushed), "pending") // the client is running and does not register its queue again
		if w := b.call("GET", "/queues/api/queues/default", nil); w.Code != 200 {
			t.Errorf("%s: the page of one queue: %d %s", what, w.Code, w.Body)
		}
		b.redis.FlushAll(t.Context())
		if w := b.call("GET", "/queues/api/queue_stats", nil); w.Code != 200 ||
			!strings.Contains(w.Body.String(), `"webhooks"`) {
			t.Errorf("%s: the statistics: %d %.200s", what, w.Code, w.Body)
		}
		b.redis.FlushAll(t.Context())
	}
}

func TestACancelIsInTheAuditAndGoesToAsynq(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	k := b.job(running)
	cancels := b.redis.Subscribe(t.Context(), asynqx.CancelChannel)
	t.Cleanup(func() { _ = cancels.Close() })
	if _, err := cancels.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	task := ref(k).TaskID()
	b.call("GET", "/queues/api/queues", nil)
	for _, tc := range []struct {
		path, body, answer string
		status             int
	}{
		{"active_tasks/" + task + ":cancel", "", "", 204},
		{
			"active_tasks:batch_cancel", `{"task_ids":["` + task + `"]}`,
			`{"canceled_ids":["` + task + `"],"error_ids":[]}`, 200,
		},
	} {
		w := b.call("POST", "/queues/api/queues/default/"+tc.path, tc.body)
		if w.Code != tc.status || strings.TrimSpace(w.Body.String()) != tc.answer {
			t.Errorf("%s: %d %s", tc.path, w.Code, w.Body)
		}
		if said, err := cancels.ReceiveMessage(t.Context()); err != nil || said.Payload != task {
			t.Errorf("asynq heard %v, %v", said, err)
		}
	}
	if w := b.call("POST", "/queues/api/queues/default/active_tasks:cancel_all", nil); w.Code != 204 {
		t.Errorf("all: %d %s", w.Code, w.Body)
	}
	if said := b.ask(`SELECT string_agg(act || ' ' || scope || ' ' || count, ', ' ORDER BY id) FROM job_act`); said !=
		"cancel  1, cancel  1, cancel all active of default 0" {
		t.Errorf("the audit has %q", said)
	}
	if got := b.look(k); got != "ready running; -" {
		t.Errorf("the row: %q", got)
	}
}

func TestWhatTheDashboardDoesNotHaveIsNotGranted(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	k := b.job(dead)
	b.task(k, "archived")
	task := ref(k).TaskID()
	for _, wish := range []string{
		"POST default/active_tasks/" + task + ":archive", "POST default/archived_tasks/" + task + ":archive",
		"POST default/archived_tasks/" + task + ":explode",
		"POST default/archived_tasks/" + task, "DELETE default/active_tasks/" + task,
		"DELETE default/archived_tasks:run_all", "DELETE default/archived_tasks",
		"PUT default/archived_tasks/" + task + ":run", "POST default:explode", "DELETE default", "DELETE default/",
	} {
		method, path, _ := strings.Cut(wish, " ")
		w := b.call(method, "/queues/api/queues/"+path, nil)
		if page := w.Code == 200 && strings.Contains(w.Body.String(), "<title>Asynq"); w.Code != 403 &&
			w.Code != 405 && !page {
			t.Errorf("%s: %d %s", wish, w.Code, w.Body)
		}
	}
	if got := b.look(k); got != "dead; archived" {
		t.Errorf("it is %q now", got)
	}
}

func TestAReadOnlyListenerChangesNoJob(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ops.Options){
		"by its setting":   func(o *ops.Options) { o.ReadOnly = true },
		"without a system": func(o *ops.Options) { o.System = nil },
	} {
		b := newBoard(t, change)
		k := b.job(dead)
		b.task(k, "archived")
		for _, verb := range []string{"run", "delete"} {
			method, path := one(verb, "archived", k)
			if w := b.call(method, path, nil); w.Code != 405 {
				t.Errorf("%s: %s: %d", name, verb, w.Code)
			}
		}
		for _, path := range []string{
			"/queues/api/queues/default:pause",
			"/queues/api/queues/default/archived_tasks:run_all",
		} {
			if w := b.call("POST", path, nil); w.Code != 405 {
				t.Errorf("%s: %s: %d", name, path, w.Code)
			}
		}
		if got := b.look(k); got != "dead; archived" || b.ask(`SELECT count(*) FROM job_act`) != "0" {
			t.Errorf("%s: %q", name, got)
		}
		if w := b.call("GET", "/queues/api/queues/default/archived_tasks", nil); w.Code != 200 {
			t.Errorf("%s: reading: %d", name, w.Code)
		}
		want := map[string]int{"by its setting": 403, "without a system": 404}[name]
		if w := b.call("POST", fmt.Sprintf("/jobs/%s/%s/run", k.Org, k.ID), nil); w.Code != want {
			t.Errorf("%s: POST run: %d, want %d", name, w.Code, want)
		}
	}
}

func TestWithoutPostgresTheDashboardChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	k := b.job(pushed)
	b.task(k, "pending")
	method, path := one("delete", "pending", k)
	b.exec(`ALTER TABLE job RENAME TO job_away`)
	if w := b.call(method, path, nil); w.Code != 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	b.exec(`ALTER TABLE job_away RENAME TO job`)
	if got := b.look(k); got != "ready; pending" {
		t.Errorf("%q", got)
	}
}
