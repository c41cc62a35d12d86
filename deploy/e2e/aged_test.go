package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

var agedOut = flag.String("aged.out", "", "file")

// agedJobs are the jobs that the aged database has not of its own, for the huge and the grown org: kind, arguments.
var agedJobs = [][2]string{
	{"contact.duplicates", `SELECT '{}'::json`},
	{"score.train", `SELECT '{"anyway": true}'::json`},
	{"lead.rescore", `SELECT '{"version": "prior", "after": "00000000-0000-0000-0000-000000000000"}'::json`},
	{"contact.bulk", `SELECT json_build_object('bulk', id) FROM contact_bulk WHERE org_id = $1 AND status = 'running'`},
	{"contact.export", `UPDATE contact_export SET status = 'queued', completed_at = NULL, rows = 0, bytes = 0, parts = 0
		WHERE (org_id, id) = (SELECT org_id, id FROM contact_export WHERE org_id = $1 LIMIT 1)
		RETURNING json_build_object('export', id)`},
	{"webhook.replay", `SELECT json_build_object('replay', id) FROM webhook_replay WHERE org_id = $1 AND status = 'running'`},
	{"broadcast.prepare", `SELECT json_build_object('broadcast', id, 'run', 0) FROM broadcast
		WHERE org_id = $1 AND status = 'sending'`},
	{"sequence.enroll", `SELECT json_build_object('batch', id) FROM enrolment_batch WHERE org_id = $1 AND status = 'running'`},
	{"overview.count", `SELECT '{}'::json`},
	{"segment.sync", `SELECT '{}'::json`},
	{"contact.index", `SELECT '{}'::json`},
}

var agedSweeps = []string{
	"platform.retain", "webhook.health", "plan.sweep", "token.sweep", "ai.sweep", "mailbox.sweep", "mailbox.domains",
	"sending.domains", "domain.sweep", "contact.index_sweep", "score.train_night", "lead.fade",
}

func TestJobsTry(t *testing.T) {
	d := aged.Write(t, aged.Test, aged.Grew)
	sql := testkit.Pgx(t, d.URL)
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
	t.Cleanup(hooks.Close)
	if _, err := sql.Exec(t.Context(), `UPDATE webhook_endpoint SET url = $1`, hooks.URL); err != nil {
		t.Fatal(err)
	}
	for _, class := range []aged.Class{aged.Huge, aged.Grown} {
		for _, j := range agedJobs {
			if _, err := sql.Exec(t.Context(), `WITH x (args) AS (`+j[1]+`) INSERT INTO job (org_id, id, kind, args, lane,
				max_attempts, due) SELECT $1, uuidv7_at(now()), '`+j[0]+`', args, 'bulk', 3, true FROM x WHERE $1::uuid IS NOT NULL LIMIT 1`, d.World.Org(class).ID); err != nil {
				t.Errorf("%s: %v", j[0], err)
			}
		}
	}
	for _, kind := range agedSweeps {
		if _, err := sql.Exec(t.Context(), `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due)
			SELECT '00000000-0000-0000-0000-000000000000', uuidv7_at(now()), $1, '{}', 'default', 3, true`, kind); err != nil {
			t.Fatal(err)
		}
	}
	ports, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	r := aged.Record(t, d)
	env := append(os.Environ(), "DATABASE_URL="+d.URL, "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_KEYSET="+d.World.Keyset, "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true")
	role(t, env, "worker", ports[0], ports[1])
	role(t, env, "scheduler", ports[0], ports[2])
	<-time.After(60 * time.Second)
	src, err := aged.ReadSources("../..")
	if err != nil {
		t.Fatal(err)
	}
	type stat struct {
		calls, sum int
		worst      aged.Plan
	}
	by := map[string]*stat{}
	for _, p := range r.Take() {
		s := by[p.SQL]
		if s == nil {
			s = &stat{}
			by[p.SQL] = s
		}
		s.calls++
		s.sum += p.Root.Buffers()
		if s.calls == 1 || p.Root.Buffers() > s.worst.Root.Buffers() {
			s.worst = p
		}
	}
	out, err := os.Create(*agedOut)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var keys []string
	for k := range by {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return by[b].worst.Root.Buffers() - by[a].worst.Root.Buffers() })
	for _, k := range keys {
		s := by[k]
		fmt.Fprintf(out, "%d\t%d\t%d\t%.0f\t%s\t%s\t%s\t%.160s\n", s.worst.Root.Buffers(), s.sum/s.calls, s.calls, s.worst.Root.Rows,
			src.Find(k), s.worst.Root.Worst(), s.worst.Session, k)
	}
	rows, _ := sql.Query(t.Context(), "select kind, state, count(*), max(last_error) from job group by 1,2")
	for rows.Next() {
		var k, st, e string
		var n int
		_ = rows.Scan(&k, &st, &n, &e)
		t.Log(k, st, n, e)
	}
}
