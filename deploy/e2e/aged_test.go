package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

var (
	agedState  = flag.String("aged.state", "grew", "state of the aged database's statistics")
	agedTime   = flag.Duration("aged.time", 20*time.Second, "how long the jobs of an aged database run")
	agedWalk   = flag.Bool("aged.walk", false, "compare the statements of an aged database with the list")
	agedUpdate = flag.Bool("aged.update", false, "write the list of statements that cost too much")
	agedTable  = flag.String("aged.table", "", "file for a table of all statements of the jobs, the costliest first")
)

// agedJobs are jobs that an aged database has not waiting by itself, with the SQL of their arguments in an org.
var agedJobs = [][2]string{
	{"contact.duplicates", `SELECT '{}'::json`},
	{"score.train", `SELECT '{"anyway": true}'::json`},
	{"lead.rescore", `SELECT '{"version": "prior", "after": "00000000-0000-0000-0000-000000000000"}'::json`},
	{"contact.bulk", `SELECT json_build_object('bulk', id) FROM contact_bulk WHERE org_id = $1 AND status = 'running'`},
	{"contact.export", `UPDATE contact_export SET status = 'queued', completed_at = NULL, rows = 0, bytes = 0, parts = 0
		WHERE (org_id, id) = (SELECT org_id, id FROM contact_export WHERE org_id = $1 LIMIT 1)
		RETURNING json_build_object('export', id)`},
	{"webhook.replay", `SELECT json_build_object('replay', id) FROM webhook_replay
		WHERE org_id = $1 AND status = 'running'`},
	{"broadcast.prepare", `SELECT json_build_object('broadcast', id, 'run', 0) FROM broadcast
		WHERE org_id = $1 AND status = 'sending'`},
	{"sequence.enroll", `SELECT json_build_object('batch', id) FROM enrolment_batch
		WHERE org_id = $1 AND status = 'running'`},
	{"overview.count", `SELECT '{}'::json`},
	{"segment.sync", `SELECT '{}'::json`},
	{"contact.index", `SELECT '{}'::json`},
}

// agedSweeps are the platform's jobs, each of which the timetable adds at its own time.
var agedSweeps = []string{
	"platform.retain", "webhook.health", "plan.sweep", "token.sweep", "ai.sweep", "mailbox.sweep", "mailbox.domains",
	"sending.domains", "domain.sweep", "contact.index_sweep", "score.train_night", "lead.fade",
}

// agedExceptions is the list of statements that may cost more than their rows.
const agedExceptions = "testdata/aged.golden"

// TestNoStatementOfTheJobsOfAnAgedDatabaseCostsMoreThanItsRows runs a worker and a scheduler on a database of many orgs
// with a history, in which jobs of nearly all kinds wait. No statement reads more than 200 buffers and 20 for each row
// that it returns, changes or is given.
func TestNoStatementOfTheJobsOfAnAgedDatabaseCostsMoreThanItsRows(t *testing.T) {
	if !*agedWalk {
		t.Skip("a walk of some minutes: give -aged.walk, as .ci/full does")
	}
	d := aged.Write(t, aged.Test, aged.State(*agedState))
	addAgedJobs(t, d)
	vacuumSmallTables(t, d)
	ports, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	r := aged.Record(t, d)
	env := append(os.Environ(), "DATABASE_URL="+d.URL, "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_KEYSET="+d.World.Keyset, "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true")
	role(t, env, "worker", ports[0], ports[1])
	role(t, env, "scheduler", ports[0], ports[2])
	<-time.After(*agedTime)
	worst := worstCalls(r.Take())
	sources, err := aged.ReadSources("../..")
	if err != nil {
		t.Fatal(err)
	}
	costs := aged.Costs{}
	for _, p := range worst {
		file, _, _ := strings.Cut(sources.Find(p.SQL), ":")
		costs.Add(fmt.Sprintf("%s: %.80s", file, p.SQL), p.Root.Buffers(), aged.Page(p.Root.Given()))
	}
	list := aged.ReadExceptions(t, agedExceptions)
	list.Varies = true
	if *agedUpdate {
		list.Update(t, aged.State(*agedState), costs)
	} else {
		list.Check(t, aged.State(*agedState), costs)
	}
	if *agedTable != "" {
		var out strings.Builder
		for _, p := range worst {
			fmt.Fprintf(&out, "%d\t%d\t%s\t%s\t%.200s\n", p.Root.Buffers(), p.Root.Given(), sources.Find(p.SQL),
				p.Root.Worst(), p.SQL)
		}
		if err := os.WriteFile(*agedTable, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// vacuumSmallTables lets autovacuum look after the tables that jobs rewrite all the time, as every server does. The
// statistics of the others stay those of the state.
func vacuumSmallTables(t *testing.T, d *aged.Database) {
	t.Helper()
	conn := testkit.Pgx(t, d.URL)
	for _, sql := range []string{
		`DO $$
		DECLARE small regclass;
		BEGIN
			FOR small IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
				AND (relname = 'job' OR pg_relation_size(oid) < 8192 * 200 AND NOT relispartition) LOOP
				EXECUTE format('ALTER TABLE %s RESET (autovacuum_enabled)', small);
			END LOOP;
		END $$`,
		"ALTER SYSTEM SET autovacuum = on", "ALTER SYSTEM SET autovacuum_naptime = '10s'", "SELECT pg_reload_conf()",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// addAgedJobs adds jobs for the huge and the grown org, and the sweeps. Webhooks are delivered to the test.
func addAgedJobs(t *testing.T, d *aged.Database) {
	t.Helper()
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(hooks.Close)
	conn, err := pgx.Connect(t.Context(), d.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), `UPDATE webhook_endpoint SET url = $1`, hooks.URL); err != nil {
		t.Fatal(err)
	}
	for _, class := range []aged.Class{aged.Huge, aged.Grown} {
		for _, j := range agedJobs {
			if _, err := conn.Exec(t.Context(), `WITH x (args) AS (`+j[1]+`)
				INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due)
				SELECT $1, uuidv7_at(now()), '`+j[0]+`', args, 'bulk', 3, true FROM x
				WHERE $1::uuid IS NOT NULL LIMIT 1`,
				d.World.Org(class).ID); err != nil {
				t.Errorf("%s: %v", j[0], err)
			}
		}
	}
	if _, err := conn.Exec(t.Context(), `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due)
		SELECT '00000000-0000-0000-0000-000000000000', uuidv7_at(now()), k, '{}', 'default', 3, true
		FROM unnest($1::text[]) AS k`, agedSweeps); err != nil {
		t.Fatal(err)
	}
}

// worstCalls returns the call of each statement that was furthest above what it may cost, the costliest first.
func worstCalls(plans []aged.Plan) []aged.Plan {
	by := map[string]aged.Plan{}
	for _, p := range plans {
		old, ok := by[p.SQL]
		if !ok || p.Root.Buffers()*aged.Page(old.Root.Given()) > old.Root.Buffers()*aged.Page(p.Root.Given()) {
			by[p.SQL] = p
		}
	}
	out := make([]aged.Plan, 0, len(by))
	for _, p := range by {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b aged.Plan) int { return b.Root.Buffers() - a.Root.Buffers() })
	return out
}
