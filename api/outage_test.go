package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// outageStates are SQLSTATEs by which a server does not execute a statement at the moment.
var outageStates = []string{
	"08006", "25006", "25P03", "25P04", "40001", "40003", "40P01", "53000", "53100", "53200", "53300", "55P03", "57014",
	"57P01", "57P02", "57P03", "57P04", "57P05", "58000", "58030", "58P01",
}

// plant makes every write to any table, every commit of a change to a contact, and every read of contacts fail with
// the SQLSTATE that the table outage has for it.
func (c *caller) plant() {
	c.Helper()
	c.exec(`CREATE TABLE outage (what text PRIMARY KEY, state text NOT NULL)`)
	c.exec(`CREATE FUNCTION fail_if_out(which text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
		DECLARE s text;
		BEGIN
			SELECT state INTO s FROM outage WHERE what = which;
			IF FOUND THEN RAISE 'planted' USING ERRCODE = s; END IF;
			RETURN true;
		END$$`)
	c.exec(`CREATE FUNCTION fail_write() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM fail_if_out(TG_ARGV[0]); RETURN NULL; END$$`)
	c.exec(`DO $$ DECLARE t record; BEGIN
		FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
			AND NOT relispartition AND relname NOT IN ('outage') LOOP
			EXECUTE format('CREATE TRIGGER outage BEFORE INSERT OR UPDATE OR DELETE ON %I FOR EACH STATEMENT
				EXECUTE FUNCTION fail_write(%L)', t.relname, 'write');
		END LOOP; END$$`)
	c.exec(`CREATE CONSTRAINT TRIGGER outage_late AFTER INSERT OR UPDATE OR DELETE ON contact DEFERRABLE
		INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_write('commit')`)
	c.exec(`CREATE POLICY outage ON contact AS RESTRICTIVE FOR SELECT USING (fail_if_out('read'))`)
}

// out sets what fails at the moment: nothing if state is empty.
func (c *caller) out(what, state string) {
	c.Helper()
	c.exec("DELETE FROM outage")
	if state != "" {
		c.exec("INSERT INTO outage VALUES ($1, $2)", what, state)
	}
}

// unchanged fails the test unless the rows of c's org are those of before, a digest.
func (c *caller) unchanged(before string) {
	c.Helper()
	was := strings.Split(before, "\n")
	for i, now := range strings.Split(c.digest(c.Org), "\n") {
		if now != was[i] {
			c.Errorf("rows were written: %s, before %s", now, was[i])
		}
	}
}

// unavailable fails the test unless got says that the caller should try again soon.
func (c *caller) unavailable(about string, got answer) {
	c.Helper()
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
		c.Errorf("%s: %d, Retry-After %q: %s", about, got.Status, got.Header.Get("Retry-After"), got.Body)
	}
}

func TestEverySQLStateOfAnOutageIsAnsweredWithARetryLater(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	s.stranger().tokens("signup", map[string]any{
		"org_name": "A", "email": "ada@example.com", "password": goodPassword,
	}, 201)
	m := correspond(s)
	m.provide("mailgun")
	c := m.caller
	ada := contactsPath + "/" + m.contact.ID
	n := 0
	person := func(prefix string) string {
		return fmt.Sprintf(`{"email":"%s%d@acme.example","first_name":"Eve","last_name":"Byron"}`, prefix, n)
	}
	writes := map[string]func() answer{
		"create":  func() answer { return c.do("POST", contactsPath, person("new")) },
		"replace": func() answer { return c.do("PATCH", ada, fmt.Sprintf(`{"first_name":"n%d"}`, n)) },
		"create with a key": func() answer {
			return c.do("POST", contactsPath, person("key"), "Idempotency-Key", "outage")
		},
		"batch": func() answer {
			return c.do("POST", contactsPath+"/batch", `{"contacts":[`+person("batch")+`]}`)
		},
		"archive": func() answer { return c.do("DELETE", ada, nil) },
	}
	others := map[string]func() answer{
		"login": func() answer {
			return s.stranger().do("POST", "/api/v1/auth/login",
				map[string]any{"email": "ada@example.com", "password": goodPassword})
		},
		"mail": func() answer { return m.post("From: ada@example.com\r\nSubject: Re\r\n\r\nHello " + fmt.Sprint(n)) },
		"provider event": func() answer {
			return m.tell("mailgun", m.mailgun(fmt.Sprint("t", n), "delivered", ""))
		},
		"payment event": func() answer {
			body := fmt.Sprintf(`{"id":"evt_%d","object":"event","api_version":"2023-10-16","created":1,
				"type":"customer.subscription.updated",
				"data":{"object":{"id":"sub_1","object":"subscription","customer":"cus_1"}}}`, n)
			return s.stranger().do("POST", "/billing/stripe/webhook", body, "Stripe-Signature",
				stripe.Sign(s.StripeSecret, time.Now(), []byte(body)))
		},
	}
	reads := map[string]func() answer{
		"read":     func() answer { return c.do("GET", ada, nil) },
		"list":     func() answer { return c.do("GET", contactsPath, nil) },
		"timeline": func() answer { return c.do("GET", ada+"/timeline", nil) },
		"search":   func() answer { return c.do("GET", "/api/v1/search?q=ada", nil) },
	}
	key := c.key(auth.Viewer)
	c.plant()
	before := s.digest(c.Org)
	all := func(what, state string, requests map[string]func() answer) {
		c.out(what, state)
		for _, name := range slices.Sorted(maps.Keys(requests)) {
			n++
			c.unavailable(what+" "+state+" "+name, requests[name]())
		}
	}
	for _, state := range outageStates {
		all("write", state, writes)
		all("write", state, others)
		all("commit", state, writes)
		all("read", state, reads)
		c.out("write", state)
		for _, name := range slices.Sorted(maps.Keys(reads)) {
			reads[name]().want(t, 200, "")
		}
		key.do("GET", ada, nil).want(t, 200, "") // though its last use cannot be recorded
	}
	c.out("", "")
	c.unchanged(before)
	for _, name := range []string{"create", "replace", "create with a key", "batch"} {
		n++
		if got := writes[name](); got.Status >= 300 {
			t.Errorf("%s after the outage: %d %s", name, got.Status, got.Body)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		n++
		if got := others[name](); got.Status >= 300 {
			t.Errorf("%s after the outage: %d %s", name, got.Status, got.Body)
		}
	}
}

// turn makes all new sessions of the database read-only or not, and ends those of the service.
func (c *caller) turn(readOnly string) {
	c.Helper()
	conn := testkit.Pgx(c, c.DB.URL)
	for _, sql := range []string{
		`SET default_transaction_read_only = off`,
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ` + readOnly +
			`', current_database()); END $$`,
		`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database()
			AND pid <> pg_backend_pid() AND application_name LIKE 'funnelwork %'`,
	} {
		if _, err := conn.Exec(c.Context(), sql); err != nil {
			c.Fatal(err)
		}
	}
}

// Every operation that reads is served while the database takes no writes, for users and keys; every other one is
// served, or refused as one that may be repeated, and changes nothing.
func TestReadsGoOnWhileTheDatabaseIsReadOnly(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	known := c.filled()
	callers := map[string]*caller{"owner": c, "key": c.key(auth.Admin), "viewer": c.as(auth.Viewer)}
	healthy := map[string]int{}
	gets := func(record func(about string, got answer)) {
		for role, by := range callers {
			for _, r := range s.App.Routes() {
				path := known[r.Path]
				if path == "" && !strings.Contains(r.Path, "{") {
					path = r.Path
				}
				if path != "" && r.Method == "GET" && r.Path != "/api/v1/events/stream" {
					record(role+" GET "+r.Path, by.do("GET", path, nil))
				}
			}
		}
	}
	gets(func(about string, got answer) { healthy[about] = got.Status })
	fresh := c.key(auth.Viewer) // its last use was never recorded
	before := s.digest(c.Org)
	c.turn("on")
	gets(func(about string, got answer) {
		want := healthy[about]
		if want == 200 && strings.HasSuffix(about, "/data-export") {
			want = 503 // nothing leaves without its entry in the audit
		}
		if got.Status != want {
			t.Errorf("%s: %d, before %d: %s", about, got.Status, want, got.Body)
		}
	})
	fresh.do("GET", contactsPath, nil).want(t, 200, "")
	for _, r := range s.App.Routes() {
		path := known[r.Path]
		if path == "" {
			path = strings.ReplaceAll(r.Path, "{id}", id.New().String())
		}
		if r.Method == "GET" || strings.Contains(path, "{") {
			continue
		}
		got := c.do(r.Method, path, s.example(r, 77))
		if got.Status == 503 {
			c.unavailable(r.Method+" "+r.Path, got)
		} else if got.Status >= 500 {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, got.Status, got.Body)
		}
	}
	c.turn("off")
	c.unchanged(before)
	c.eventually(func() bool { return c.do("POST", "/api/v1/crm/companies", `{"name":"Looms"}`).Status == 201 })
}

// Sessions are terminated while requests run. A read is answered; a write is done once, or answered with 503 until the
// caller repeats it.
func TestSessionsThatEndUnderRequestsLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	ada := contactsPath + "/" + c.contact("ada@example.com").ID
	var clients sync.WaitGroup
	const each = 25
	stop := make(chan struct{})
	for client := range 4 {
		clients.Go(func() {
			for n := range each {
				body := fmt.Sprintf(`{"email":"n%d.%d@acme.example","first_name":"Eve","last_name":"Byron"}`, client, n)
				for {
					got := c.do("POST", contactsPath, body, "Idempotency-Key", fmt.Sprint(client, "-", n))
					if got.Status == http.StatusCreated {
						break
					}
					// A session that is ending holds the key of its request until it has ended.
					if got.Status != http.StatusConflict || got.Header.Get("Retry-After") == "" {
						c.unavailable("create", got)
					}
					if t.Failed() {
						return
					}
				}
				if got := c.do("GET", ada, nil); got.Status != http.StatusOK {
					c.unavailable("read", got)
				}
			}
		})
	}
	var killer sync.WaitGroup
	killer.Go(func() {
		conn := testkit.Pgx(t, s.DB.URL)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name LIKE 'funnelwork %'`); err != nil {
				t.Error(err)
				return
			}
			_, _ = conn.Exec(t.Context(), "SELECT pg_sleep(0.05)")
		}
	})
	clients.Wait()
	close(stop)
	killer.Wait()
	if n := s.count("contact WHERE org_id = $1", c.Org); n != 4*each+1 {
		t.Errorf("%d contacts, want %d", n, 4*each+1)
	}
	if n := s.count("event WHERE org_id = $1 AND type = 'contact.created'", c.Org); n != 4*each+1 {
		t.Errorf("%d events, want %d", n, 4*each+1)
	}
}
