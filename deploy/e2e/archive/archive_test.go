// Package archive takes the built worker through the archive of expired days with an S3 server of another make,
// gofakes3. It is a separate module, so that that server's dependencies are not in our go.mod.
package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

const (
	bucket    = "days"
	folder    = "cell-1/event/2020-01-01/"
	secretKey = "archive-secret-0123456789"
	patience  = 2 * time.Minute
)

// kill is a request at which the worker is killed: before it has an effect, or after it and before the answer.
type kill struct {
	method, object string
	after          bool
}

// store is the S3 server behind a gate that holds the request of a kill until the client is gone.
type store struct {
	server http.Handler
	mu     sync.Mutex
	next   kill
	held   chan struct{} // closed when the request of next is held
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hold := s.held != nil && r.Method == s.next.method && strings.HasSuffix(r.URL.Path, "/"+s.next.object)
	held := s.held
	if hold {
		s.held = nil
	}
	after := s.next.after
	s.mu.Unlock()
	if !hold {
		s.server.ServeHTTP(w, r)
		return
	}
	if after {
		s.server.ServeHTTP(httptest.NewRecorder(), r)
	} else {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	close(held)
	<-r.Context().Done()
}

// arm makes the store hold the request of k, and returns a channel that is closed when it is held.
func (s *store) arm(k kill) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.held = k, make(chan struct{})
	return s.held
}

// spoken is the log of a worker.
type spoken struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (s *spoken) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(b)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// build returns the binary.
func build(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "funnelwork")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", out, ".")
	cmd.Dir = filepath.Join("..", "..", "..")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func texts(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, _ := conn.Query(t.Context(), sql)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}

func TestAnArchiveThatIsKilledAnywhereHasEachRowOnce(t *testing.T) {
	t.Parallel()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	s := &store{server: gofakes3.New(backend).Server()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)

	db := testkit.DB(t)
	conn := testkit.Pgx(t, db.URL)
	for _, sql := range []string{
		`CREATE TABLE event_20200101 PARTITION OF event
			FOR VALUES FROM (uuid_floor('2020-01-01Z')) TO (uuid_floor('2020-01-02Z'))`,
		// Three parts of some 32 MiB.
		`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			SELECT gen_random_uuid(), uuidv7_at('2020-01-01 12:00Z'), n, 'contact.created', 'system',
			json_build_object('text', repeat('x', 70000)), now() FROM generate_series(1, 1200) n`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	want := texts(t, conn, `SELECT id::text FROM event ORDER BY org_id, id`)

	funnelwork, redis, log := build(t), testkit.Redis(t), &spoken{}
	keyset, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "DATABASE_URL="+db.URL, "REDIS_URL="+redis, "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_KEYSET="+keyset,
		"FUNNELWORK_OPS_ADDR=127.0.0.1:0", "FUNNELWORK_LOG_LEVEL=debug",
		"FUNNELWORK_ARCHIVE_URL=s3://"+bucket+"/cell-1?endpoint="+server.URL,
		"FUNNELWORK_ARCHIVE_ACCESS_KEY=archive-key", "FUNNELWORK_ARCHIVE_SECRET_KEY="+secretKey)
	// run starts a worker with a job of the retention, and kills it when until is closed.
	run := func(what string, until <-chan struct{}) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), `DELETE FROM job`); err != nil { // the last run's, until its lease ends
			t.Fatal(err)
		}
		if err := db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
			return platformretention.Kind.Add(t.Context(), tx, platformretention.Args{})
		}); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		worker := exec.CommandContext(ctx, funnelwork, "worker")
		worker.Env, worker.Stdout, worker.Stderr, worker.WaitDelay = env, log, log, 10*time.Second
		if err := worker.Start(); err != nil {
			t.Fatal(err)
		}
		limit := time.NewTimer(patience)
		defer limit.Stop()
		select {
		case <-until:
		case <-limit.C:
			t.Errorf("%s: not reached: %s", what, log)
		}
		_ = worker.Process.Kill()
		_ = worker.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	for _, k := range []kill{
		{"PUT", "part-000000.ndjson.gz", false},
		{"PUT", "part-000000.ndjson.gz", true},
		{"PUT", "part-000001.ndjson.gz", true},
		{"PUT", "part-000002.ndjson.gz", false},
		{"GET", "part-000001.ndjson.gz", false},
		{"PUT", "manifest.json", false},
		{"PUT", "manifest.json", true},
	} {
		run(fmt.Sprintf("%+v", k), s.arm(k))
		if left := texts(t, conn, `SELECT count(*)::text FROM event_20200101`); left[0] != "1200" {
			t.Fatalf("killed at %+v: %s rows are left", k, left[0])
		}
	}
	run("the day is dropped", dropped(t, db.URL))

	if got := archived(t, backend); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d lines are in the archive, want the %d rows in their order", len(got), len(want))
	}
	if left := texts(t, conn, `SELECT name FROM archive_day UNION ALL SELECT name FROM archive_part`); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if strings.Contains(log.String(), secretKey) {
		t.Error("the log has the secret key")
	}
}

// dropped returns a channel that is closed when the day is gone.
func dropped(t *testing.T, url string) <-chan struct{} {
	t.Helper()
	gone := make(chan struct{})
	conn := testkit.Pgx(t, url)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			var is bool
			err := conn.QueryRow(t.Context(), `SELECT to_regclass('event_20200101') IS NULL`).Scan(&is)
			if err != nil {
				return
			}
			if is {
				close(gone)
				return
			}
			select {
			case <-tick.C:
			case <-t.Context().Done():
				return
			}
		}
	}()
	return gone
}

// archived returns the ids in the parts of the day that the manifest lists. It fails if there is any other object.
func archived(t *testing.T, backend *s3mem.Backend) (ids []string) {
	t.Helper()
	get := func(name string) []byte {
		t.Helper()
		object, err := backend.GetObject(bucket, folder+name, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(object.Contents)
		if err = errors.Join(err, object.Contents.Close()); err != nil {
			t.Fatal(err)
		}
		return body
	}
	var manifest struct {
		Lines int
		Parts []struct{ Name string }
	}
	if err := json.Unmarshal(get("manifest.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, p := range manifest.Parts {
		zip, err := gzip.NewReader(bytes.NewReader(get(p.Name)))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(lines)) {
			var row struct{ ID string }
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, row.ID)
		}
	}
	all, err := backend.ListBucket(bucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Parts) != 3 || len(all.Contents) != len(manifest.Parts)+1 || manifest.Lines != len(ids) {
		t.Errorf("%d objects, %d lines, the manifest says %+v", len(all.Contents), len(ids), manifest)
	}
	return ids
}
