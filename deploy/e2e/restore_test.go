package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// disaster is an installation with its own Postgres and Redis, and what remains of it elsewhere: the backups and the
// keyset.
type disaster struct {
	*testing.T
	*service
	dir     string // of the servers' homes and of the backups
	primary *local.Postgres
	redis   string
	keyset  string
	secret  string // of the webhook
	kill    map[string]func()
}

// TestTheRunbookRestoresEverythingThatWasAnswered destroys Postgres and Redis and follows deploy/README.md: a base
// backup, the archived WAL and the keyset on a new server. Jobs that waited run, and no delivery arrives twice.
func TestTheRunbookRestoresEverythingThatWasAnswered(t *testing.T) {
	t.Parallel()
	d := &disaster{T: t, service: &service{told: map[string]int{}}, kill: map[string]func(){}}
	d.redis = testkit.RealRedis(t).URL
	d.keyset = strings.TrimSpace(run(t, bareEnv(), "keys", "new"))
	d.servers()
	d.start()
	d.subscribe()
	d.create(t, 3)
	d.arrive(t)

	d.backUp()
	d.create(t, 3) // is in the archived WAL alone
	d.arrive(t)
	d.settle() // what a worker has sent and not yet committed may be sent twice
	d.kill["worker"]()
	d.kill["scheduler"]()
	d.create(t, 6) // is answered, and no worker runs any more
	d.destroy()

	d.restore()
	d.start()
	d.arrive(t)
	d.create(t, 1) // the old access token is still good
	d.arrive(t)
	d.settle()
	d.mu.Lock()
	defer d.mu.Unlock()
	for email, n := range d.told {
		if n != 1 {
			t.Errorf("%s was delivered %d times", email, n)
		}
	}
}

// settle waits until no delivery is open.
func (d *disaster) settle() {
	d.Helper()
	sql := testkit.Pgx(d.T, d.primary.URL)
	until(d.T, "no delivery is open", func() bool {
		var open int
		err := sql.QueryRow(d.Context(), "SELECT count(*) FROM job WHERE lane = 'webhooks'").Scan(&open)
		if err != nil {
			d.Fatal(err)
		}
		return open == 0
	})
}

// servers starts Postgres with an archive as the runbook configures it.
func (d *disaster) servers() {
	d.Helper()
	var err error
	if d.dir, err = os.MkdirTemp("/tmp", "fw-restore-"); err != nil { // of another user, too
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = os.RemoveAll(d.dir) })
	for _, name := range []string{"", "primary", "second", "backup", "backup/wal"} {
		dir := d.path(name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			d.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			d.Fatal(err)
		}
	}
	d.primary = d.postgres("primary")
	sql := testkit.Pgx(d.T, d.primary.URL)
	for name, value := range d.runbook("archive_mode", "archive_command") {
		value = strings.ReplaceAll(value, "'", "''")
		if _, err := sql.Exec(d.Context(), "ALTER SYSTEM SET "+name+" = '"+value+"'"); err != nil {
			d.Fatal(err)
		}
	}
	if err := d.primary.Stop(d.Context()); err != nil {
		d.Fatal(err)
	}
	d.primary = d.postgres("primary")
}

func (d *disaster) path(parts ...string) string {
	return filepath.Join(append([]string{d.dir}, parts...)...)
}

// postgres starts the server of a home.
func (d *disaster) postgres(home string) *local.Postgres {
	d.Helper()
	p, err := local.StartPostgres(d.Context(),
		local.PostgresOptions{Home: d.path(home), Fast: true, Log: testkit.Log(d.T)})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = p.Stop(context.WithoutCancel(d.Context())) })
	return p
}

// runbook returns settings of Postgres as deploy/README.md has them, with the test's directory of backups.
func (d *disaster) runbook(names ...string) map[string]string {
	d.Helper()
	text, err := os.ReadFile(filepath.Join(repository(d.T), "deploy", "README.md"))
	if err != nil {
		d.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		m := regexp.MustCompile(`(?m)^ {4,}` + name + ` = (?:'([^']*)'|(\S+))`).FindSubmatch(text)
		if m == nil {
			d.Fatalf("the runbook sets no %s", name)
		}
		out[name] = strings.ReplaceAll(string(m[1])+string(m[2]), "/backup", d.path("backup"))
	}
	return out
}

// env returns the settings of every role.
func (d *disaster) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "DATABASE_URL=" + d.primary.URL, "REDIS_URL=" + d.redis,
		"FUNNELWORK_HOME=" + d.path("state"), "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_LOG_LEVEL=warn",
		"FUNNELWORK_KEYSET=" + d.keyset, "FUNNELWORK_SIGNUP=on",
	}
}

// start migrates the schema and starts the roles.
func (d *disaster) start() {
	d.Helper()
	run(d.T, d.env(), "migrate")
	ports, err := freePorts(4)
	if err != nil {
		d.Fatal(err)
	}
	for i, role := range []string{"api", "worker", "scheduler"} {
		cmd := exec.CommandContext(context.WithoutCancel(d.Context()), build(d.T), role)
		d.kill[role] = startProgram(d.T, cmd,
			append(d.env(), "FUNNELWORK_ADDR="+ports[0], "FUNNELWORK_OPS_ADDR="+ports[i+1],
				"FUNNELWORK_DRAIN_DELAY=0s"))
		until(d.T, role+" is ready", func() bool { return statusOf("http://"+ports[i+1]+"/readyz") == http.StatusOK })
	}
	d.public = "http://" + ports[0]
}

// subscribe signs up an org with a webhook, whose receiver verifies each signature.
func (d *disaster) subscribe() {
	d.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e struct {
			Data struct{ Object struct{ Email string } }
		}
		_ = json.Unmarshal(body, &e)
		d.mu.Lock()
		defer d.mu.Unlock()
		if err := verify(d.secret, r.Header, body); err != nil {
			d.Errorf("%s: %v", e.Data.Object.Email, err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		d.told[e.Data.Object.Email]++
	}))
	d.Cleanup(receiver.Close)
	d.token = d.login(d.T, "/api/v1/auth/signup", 201,
		`{"org_name":"Engines","email":"ada@example.com","password":"correct-horse-battery"}`)
	status, answer := ask(d.T, "POST", d.public+"/api/v1/webhooks", d.token,
		`{"url":"`+receiver.URL+`/","events":["contact.created"]}`)
	var made struct{ Secret string }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || status != 201 || made.Secret == "" {
		d.Fatalf("webhook: %d %s", status, answer)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.secret = made.Secret
}

// backUp makes a base backup.
func (d *disaster) backUp() {
	d.Helper()
	tool := testkit.BaseBackup(d.T, d.primary.Version)
	d.command(tool, "-d", d.primary.URL, "-D", d.path("backup", "base"), "--checkpoint=fast")
}

func (d *disaster) command(argv ...string) {
	d.Helper()
	if out, err := exec.CommandContext(d.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
		d.Fatalf("%v: %v: %s", argv, err, out)
	}
}

// destroy waits until the last WAL is archived, as the end of a segment or archive_timeout would bring about, and loses
// the API, Postgres and the contents of Redis.
func (d *disaster) destroy() {
	d.Helper()
	sql := testkit.Pgx(d.T, d.primary.URL)
	var segment string
	if err := sql.QueryRow(d.Context(), "SELECT pg_walfile_name(pg_current_wal_lsn())").Scan(&segment); err != nil {
		d.Fatal(err)
	}
	if _, err := sql.Exec(d.Context(), "SELECT pg_switch_wal()"); err != nil {
		d.Fatal(err)
	}
	until(d.T, "the WAL is archived", func() bool {
		_, err := os.Stat(d.path("backup", "wal", segment))
		return err == nil
	})
	d.kill["api"]()
	if err := d.primary.Stop(d.Context()); err != nil {
		d.Fatal(err)
	}
	options, err := redis.ParseURL(d.redis)
	if err != nil {
		d.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	if err := client.FlushAll(d.Context()).Err(); err != nil {
		d.Fatal(err)
	}
}

// restore recovers a new server from the base backup and the archive.
func (d *disaster) restore() {
	d.Helper()
	data := d.path("second", "postgres", "data")
	if err := os.MkdirAll(filepath.Dir(data), 0o755); err != nil {
		d.Fatal(err)
	}
	d.command("cp", "-a", d.path("backup", "base"), data)
	conf, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		d.Fatal(err)
	}
	for name, value := range d.runbook("restore_command") {
		if _, err := conf.WriteString(name + " = '" + value + "'\n"); err != nil {
			d.Fatal(err)
		}
	}
	if err := conf.Close(); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o600); err != nil {
		d.Fatal(err)
	}
	// The server's user, where the tests run as root.
	d.command("chown", "-R", "--reference="+d.path("primary", "postgres", "data"), d.path("second", "postgres"))
	if err := os.RemoveAll(d.path("primary")); err != nil {
		d.Fatal(err)
	}
	d.primary = d.postgres("second")
	sql := testkit.Pgx(d.T, d.primary.URL)
	until(d.T, "the server has recovered", func() bool {
		ctx, cancel := context.WithTimeout(d.Context(), 5*time.Second)
		defer cancel()
		recovering := true
		if err := sql.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&recovering); err != nil {
			return false
		}
		return !recovering
	})
}
