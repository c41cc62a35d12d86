package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// count returns the number of rows visible to the superuser.
func (s *service) count(sql string, args ...any) (n int) {
	s.Helper()
	if err := testkit.Pgx(s, s.DB.URL).QueryRow(s.Context(), "SELECT count(*) FROM "+sql, args...).
		Scan(&n); err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *service) sql(sql string) {
	s.Helper()
	if _, err := testkit.Pgx(s, s.DB.URL).Exec(s.Context(), sql); err != nil {
		s.Fatal(err)
	}
}

func TestAStoredAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	body := map[string]any{"name": "a", "note": "<b>"}
	first := c.do("POST", things, body, "Idempotency-Key", "k1").want(t, 201, "")
	again := c.do("POST", things, body, "Idempotency-Key", "k1").want(t, 201, "")
	type facts struct{ Body, Location, ETag string }
	if diff := cmp.Diff(facts{string(first.Body), first.Header.Get("Location"), first.Header.Get("ETag")}, facts{
		string(again.Body), again.Header.Get("Location"), again.Header.Get("ETag"),
	}); diff != "" {
		t.Errorf("the second response (-first +second):\n%s", diff)
	}
	if first.Header.Get("Idempotent-Replayed") != "" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Error("Idempotent-Replayed stands at the wrong answer")
	}
	c.do("POST", things, map[string]any{"name": "b"}, "Idempotency-Key", "k1").want(t, 422, "idempotency_mismatch")
	c.as(auth.Owner).do("POST", things, body, "Idempotency-Key", "k1").want(t, 422, "idempotency_mismatch")
	at := first.Header.Get("Location")
	c.do("PATCH", at, body, "Idempotency-Key", "k1").want(t, 422, "idempotency_mismatch")
	c.do("PATCH", at, map[string]any{"note": nil}, "Idempotency-Key", "k2").want(t, 200, "")
	c.do("PATCH", at, map[string]any{"note": nil}, "Idempotency-Key", "k2", "Content-Type",
		"application/merge-patch+json").want(t, 200, "")
	if n := c.count("thing WHERE edit = 2"); n != 1 {
		t.Errorf("the patch was applied %d times", n-1)
	}
	c.signup().do("POST", things, body, "Idempotency-Key", "k1").want(t, 201, "")
	if n := c.count("thing"); n != 2 {
		t.Errorf("%d rows, want one in each org", n)
	}
}

func TestAFailedRequestLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	taken := c.do("POST", things, map[string]any{"name": "a"}).want(t, 201, "")
	c.do("POST", things, map[string]any{"name": "a"}, "Idempotency-Key", "k").want(t, 409, "conflict")
	c.do("DELETE", taken.Header.Get("Location"), nil).want(t, 204, "")
	c.do("POST", things, map[string]any{"name": "a"}, "Idempotency-Key", "k").want(t, 201, "")
}

func TestAKeyIsForgottenAfterADay(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	c.do("POST", things, map[string]any{"name": "a"}, "Idempotency-Key", "k").want(t, 201, "")
	c.sql("UPDATE idempotency_key SET created_at = now() - interval '23 hours 59 minutes'")
	c.do("POST", things, map[string]any{"name": "b"}, "Idempotency-Key", "k").want(t, 422, "idempotency_mismatch")
	c.sql("UPDATE idempotency_key SET created_at = now() - interval '24 hours 1 second'")
	if got := c.do("POST", things, map[string]any{"name": "b"}, "Idempotency-Key", "k").
		want(t, 201, ""); got.Header.Get("Idempotent-Replayed") != "" {
		t.Error("an answer of yesterday was given again")
	}
	got := c.do("POST", things, map[string]any{"name": "b"}, "Idempotency-Key", "k").want(t, 201, "")
	if got.Header.Get("Idempotent-Replayed") != "true" {
		t.Error("the key is not used anew")
	}
}

func TestAKeyHasAForm(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	for n, key := range []string{"!", "~", strings.Repeat("k", 255), `"quoted"`} {
		c.do("POST", things, map[string]any{"name": fmt.Sprint(n)}, "Idempotency-Key", key).want(t, 201, "")
	}
	for _, key := range []string{" ", "a b", "ä", strings.Repeat("k", 256)} {
		got := c.do("POST", things, map[string]any{"name": "x"}, "Idempotency-Key", key).
			want(t, 400, "invalid_parameter")
		if got.field() != "Idempotency-Key invalid_format" {
			t.Errorf("%q: %s", key, got.Body)
		}
	}
	c.do("GET", things, nil, "Idempotency-Key", "a b").want(t, 200, "")
	c.do("POST", "/api/v1/auth/login", map[string]any{"email": "a@b.test", "password": "x"}, "Idempotency-Key", "a b")
}

func TestAnAnswerWithASecretIsKeptSealed(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	var first, again struct{ Secret string }
	c.do("POST", "/api/v1/test/secrets", nil, "Idempotency-Key", "k").want(t, 200, "").into(t, &first)
	c.do("POST", "/api/v1/test/secrets", nil, "Idempotency-Key", "k").want(t, 200, "").into(t, &again)
	if first.Secret == "" || first != again {
		t.Errorf("%q and then %q", first, again)
	}
	if n := c.count("idempotency_key WHERE position($1::bytea IN answer) > 0", []byte(first.Secret)); n != 0 {
		t.Error("the secret can be read in the database")
	}
}

func TestFiftyParallelRequestsWithOneKeyMakeOneRow(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	got := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			a := c.do("POST", things, map[string]any{"name": "a"}, "Idempotency-Key", "k")
			mu.Lock()
			defer mu.Unlock()
			got[fmt.Sprint(a.Status, a.code(), a.Header.Get("Idempotent-Replayed"))]++
		})
	}
	wg.Wait()
	t.Log(got)
	if n := c.count("thing"); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
	if got["201"] != 1 || got["201"]+got["201true"]+got["409idempotency_in_flight"] != 50 {
		t.Errorf("responses %v, want one 201, the others 201 replayed or 409 in flight", got)
	}
}

func TestAProcessKilledInTheMiddleMakesOneRowInTheEnd(t *testing.T) {
	t.Parallel()
	text, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s := startThings(t, unlimited, func(d *api.Deps) {
		d.Box = box
		d.Auth = auth.New(auth.Options{System: d.System, App: d.DB, Box: box, Issuer: d.PublicURL, Unlimited: true})
	})
	c := s.signup()
	s.sql(`CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.name = 'slow' THEN PERFORM
		pg_sleep(1); END IF; RETURN new; END $$;
		CREATE TRIGGER dawdle BEFORE INSERT ON thing FOR EACH ROW EXECUTE FUNCTION dawdle()`)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServeForAnotherProcess$", "-test.v")
	child.Env = append(os.Environ(), "FUNNELWORK_TEST_SERVE="+s.DB.URL, "FUNNELWORK_TEST_KEYSET="+text)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "serving ")
	}
	if url == "" {
		t.Fatal("the other process does not serve")
	}
	here := *s
	here.URL = url
	there := &caller{service: &here, Org: c.Org, Token: c.Token}
	done := make(chan error, 1)
	go func() {
		_, err := there.try("POST", things, map[string]any{"name": "slow"}, "Idempotency-Key", "k")
		done <- err
	}()
	for s.count("pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'") == 0 {
		select {
		case err := <-done:
			t.Fatalf("the request ended before its insert was seen: %v", err)
		default:
		}
	}
	c.do("POST", things, map[string]any{"name": "slow"}, "Idempotency-Key", "k").want(t, 409, "idempotency_in_flight")
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if err := <-done; err == nil {
		t.Error("the killed process answered")
	}
	deadline := time.Now().Add(time.Minute)
	for {
		got := c.do("POST", things, map[string]any{"name": "slow"}, "Idempotency-Key", "k")
		if got.Status == 201 {
			break
		}
		if got.want(t, 409, "idempotency_in_flight"); time.Now().After(deadline) || t.Failed() {
			t.Fatal("the retry never passes")
		}
	}
	if n := s.count("thing WHERE org_id = $1", c.Org); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// TestServeForAnotherProcess is the child of the test above.
func TestServeForAnotherProcess(t *testing.T) {
	url := os.Getenv("FUNNELWORK_TEST_SERVE")
	if url == "" {
		t.Skip("only as a child process")
	}
	box, err := secret.Parse(os.Getenv("FUNNELWORK_TEST_KEYSET"))
	if err != nil {
		t.Fatal(err)
	}
	d := api.Deps{
		DB: testkit.Open(t, url, postgres.App), System: testkit.Open(t, url, postgres.System),
		Log: testkit.Log(t), Box: box, PublicURL: "http://api.test",
	}
	d.Auth = auth.New(auth.Options{System: d.System, App: d.DB, Box: box, Issuer: d.PublicURL, Unlimited: true})
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("serving http://" + ln.Addr().String()) //nolint:forbidigo // the parent reads it
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := api.NewWithThings(d).Serve(ctx, ln); err != nil {
		t.Fatal(err)
	}
}

func TestOneTagLetsOneOfAHundredPatchesPass(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	made := c.do("POST", things, map[string]any{"name": "a"}).want(t, 201, "")
	at, tag := made.Header.Get("Location"), made.Header.Get("ETag")
	if tag != `"1.0"` {
		t.Fatalf("ETag is %q", tag)
	}
	var mu sync.Mutex
	got := map[int]int{}
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			a := c.do("PATCH", at, map[string]any{"note": fmt.Sprint(n)}, "If-Match", tag)
			mu.Lock()
			defer mu.Unlock()
			got[a.Status]++
		})
	}
	wg.Wait()
	if got[200] != 1 || got[412] != 99 {
		t.Errorf("statuses %v, want one 200 and 99 times 412", got)
	}
	now := c.do("GET", at, nil).want(t, 200, "").Header.Get("ETag")
	if now != `"2.7"` {
		t.Fatalf("ETag is %q", now)
	}
	for value, status := range map[string]int{
		now: 304, "W/" + now: 304, `"9.9", ` + now: 304, "*": 304, `"2.6"`: 200,
		`"2"`: 200,
	} {
		if a := c.do("GET", at, nil, "If-None-Match", value).want(t, status, ""); status == 304 && len(a.Body) > 0 {
			t.Error("a 304 has a body")
		}
	}
	edit := 2
	for _, tc := range []struct {
		value  string
		status int
	}{
		{`"2.0"`, 200},
		{`"3.99"`, 200},
		{"*", 200},
		{`"1.0", "5.1"`, 200},
		{`"1.7"`, 412},
		{`W/"6.0"`, 412},
		{"nonsense", 412},
		{`""`, 412},
		{`6.0`, 412},
	} {
		c.do("PATCH", at, map[string]any{"note": tc.value}, "If-Match", tc.value).want(t, tc.status, "")
		if tc.status == 200 {
			edit++
		}
	}
	var after struct{ Edit int }
	c.do("GET", at, nil).into(t, &after)
	if after.Edit != edit {
		t.Errorf("edit is %d, want %d", after.Edit, edit)
	}
	c.do("PATCH", "/api/v1/test/things/"+id.New().String(), map[string]any{}, "If-Match", "*").want(t, 404, "not_found")
}
