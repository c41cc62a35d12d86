package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// A process that is killed while it publishes leaves its key locked: for a minute in the sandbox, here for as long as
// the test needs. Until the prices are published the API serves what it can, and is not ready.
func TestAnAPIServesThoughItsPricesCannotBePublishedAndIsReadyWhenTheyAre(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"api", "up"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			servesUnpublished(t, role)
		})
	}
}

func servesUnpublished(t *testing.T, role string) {
	t.Helper()
	db := testkit.DB(t)
	begun, proceed := make(chan struct{}), make(chan struct{})
	box := stripe.New(stripe.Options{Store: stripe.Postgres{System: db.System}, Log: testkit.Log(t)})
	t.Cleanup(box.Close)
	box.Break(stripe.Fault{Kind: stripe.Slow, Method: "POST", Path: "/v1/products", Struck: func() {
		close(begun)
		<-proceed
	}})
	server := httptest.NewServer(box)
	t.Cleanup(server.Close)
	release := sync.OnceFunc(func() { close(proceed) })
	t.Cleanup(release)
	env := append(roleEnviron(t), "DATABASE_URL="+db.URL, "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_SANDBOXES=stripe")

	doomed := exec.CommandContext(t.Context(), build(t), "billing", "sync")
	doomed.Env = append(slices.Clone(env), "STRIPE_SECRET_KEY=sk_test_doomed", "FUNNELWORK_STRIPE_URL="+server.URL)
	if err := doomed.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-begun:
	case <-time.After(patience):
		t.Error("nothing was published")
	}
	_ = doomed.Process.Kill()
	_ = doomed.Wait()
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	process := launch(t, env, role, ports[0], ports[1])
	until(t, "the API answers", func() bool {
		return statusOf("http://"+ports[0]+"/.well-known/jwks.json") == http.StatusOK
	})
	unready := func() string {
		status, answer := ask(t, "GET", "http://"+ports[1]+"/readyz", "", "")
		return fmt.Sprint(status, " ", answer)
	}
	until(t, "only the prices are missing", func() bool {
		got := unready()
		return strings.HasPrefix(got, "503 ") && strings.Count(got, `"ok":false`) == 1 &&
			strings.Contains(got, "prices of the billing sandbox are not published yet")
	}, unready)
	if said, err := publish(t, env); err == nil ||
		!strings.Contains(said, "409 idempotency_error idempotency_key_in_use") {
		t.Errorf("billing sync while the key is in use: %v, %s", err, said)
	}
	sql := testkit.Pgx(t, db.URL)
	prices := func() (n int) {
		if err := sql.QueryRow(t.Context(), "SELECT count(*) FROM billing_price WHERE NOT replaced").
			Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := prices(); n != 0 {
		t.Errorf("%d prices while the key was in use", n)
	}
	if strings.Contains(process.String(), "ready: ") {
		t.Errorf("%s says that it is ready: %s", role, process)
	}
	release()
	until(t, "the API is ready", func() bool { return statusOf("http://"+ports[1]+"/readyz") == http.StatusOK })
	if role == "up" {
		until(t, "up says that it is ready", func() bool { return strings.Contains(process.String(), "ready: ") })
	}
	if n := prices(); n < 10 {
		t.Errorf("%d prices of an API that is ready", n)
	}
	if said, err := publish(t, env); err != nil || strings.Contains(said, "made") {
		t.Errorf("billing sync when all is published: %v, %s", err, said)
	}
	// The API runs its own sandbox: its webhooks arrive without any other role, as if each role had a separate host.
	until(t, "the sandbox has told the API of its prices", func() bool {
		var n int
		if err := sql.QueryRow(t.Context(),
			"SELECT count(*) FROM stripe_event WHERE source = 'webhook' AND type = 'price.created'").
			Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n >= 10
	})
}

func TestAnAPIStartsAndServesWhileStripeIsAway(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir(),
		"STRIPE_SECRET_KEY=sk_test_away", "FUNNELWORK_STRIPE_URL=http://"+ports[2])
	inBackground(t, append(slices.Clone(env), "FUNNELWORK_ADDR="+ports[0], "FUNNELWORK_OPS_ADDR="+ports[1]), "api")
	until(t, "the API is ready", func() bool { return statusOf("http://"+ports[1]+"/readyz") == http.StatusOK })
	if said, err := publish(t, env); err == nil || !strings.Contains(said, "connection refused") {
		t.Errorf("billing sync while Stripe is away: %v, %s", err, said)
	}
}

// publish runs `funnelwork billing sync` and returns its output.
func publish(t *testing.T, env []string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), build(t), "billing", "sync")
	cmd.Env = env
	said, err := cmd.CombinedOutput()
	return string(said), err
}
