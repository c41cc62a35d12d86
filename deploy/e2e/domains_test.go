package e2e_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestCaddyServesACustomDomainThatIsProvenAndNoOther takes a domain from its claim to a page over TLS, with a private
// DNS. It then stops Postgres, restarts the API, and requests the page again.
func TestCaddyServesACustomDomainThatIsProvenAndNoOther(t *testing.T) {
	t.Parallel()
	const host = "crm.acme.test"
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("caddy is not installed (Debian: caddy)")
		}
		t.Skip("SKIPPED: caddy is not installed (Debian: caddy), so certificates on demand were not tried")
	}
	database, dns := testkit.RealPostgres(t), testkit.DNS(t)
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	public, ops, home := "http://"+ports[0], "http://"+ports[1], t.TempDir()
	env := append(roleEnviron(t), "DATABASE_URL="+database.URL, "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+home,
		"FUNNELWORK_ADDR="+ports[0], "FUNNELWORK_OPS_ADDR="+ports[1],
		"FUNNELWORK_PUBLIC_URL=https://app.funnel.test", "FUNNELWORK_DOMAIN_TARGET=edge.funnel.test",
		"FUNNELWORK_DNS_RESOLVERS="+dns.Addr+","+dns.Addr, "FUNNELWORK_LOG_LEVEL=warn")
	run(t, env, "user", "create", "--email", "ada@example.com", "--password", "correct-horse-battery", "--org", "Acme")
	sql := testkit.Pgx(t, database.URL)
	var org string
	if err := sql.QueryRow(t.Context(), "SELECT id FROM org WHERE name = 'Acme'").Scan(&org); err != nil {
		t.Fatal(err)
	}
	_ = sql.Close(t.Context())
	run(t, env, "billing", "override", org, "custom_domain", "true")
	kill := startAPI(t, env)
	until(t, "the API is ready", func() bool { return statusOf(ops+"/readyz") == http.StatusOK })

	var login struct {
		Token string `json:"access_token"`
	}
	_, answer := ask(t, "POST", public+"/api/v1/auth/login", "",
		`{"email":"ada@example.com","password":"correct-horse-battery"}`)
	if err := json.Unmarshal([]byte(answer), &login); err != nil || login.Token == "" {
		t.Fatalf("login: %s", answer)
	}
	certificate := func(name string) int { return statusOf(ops + "/tls/ask?domain=" + name) }
	claim := func(status int, method, path, body string) (d struct {
		Status  string
		Records []struct{ Type, Name, Value string }
	},
	) {
		t.Helper()
		got, answer := ask(t, method, public+"/white-label/domain"+path, login.Token, body)
		if got != status {
			t.Fatalf("%s %s: %d %s", method, path, got, answer)
		}
		_ = json.Unmarshal([]byte(answer), &d)
		return d
	}
	claimed := claim(200, "PUT", "", `{"domain":"`+host+`"}`)
	if claimed.Status != "pending_dns" || certificate(host) != http.StatusNotFound {
		t.Errorf("without records: %+v", claimed)
	}
	for _, r := range claimed.Records {
		dns.Set(r.Name, r.Type, r.Value)
	}
	if got := claim(200, "POST", "/verify", ""); got.Status != "active" {
		t.Fatalf("with records: %+v", got)
	}
	until(t, "a certificate may be given", func() bool { return certificate(host) == http.StatusOK })

	startCaddy(t, caddy, ports[2], ports[3], "FUNNELWORK_UPSTREAM="+ports[0], "FUNNELWORK_ASK="+ops+"/tls/ask",
		"FUNNELWORK_HOST=app.funnel.test")
	until(t, "caddy listens", func() bool {
		c, err := net.DialTimeout("tcp", ports[2], time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	var shown string
	until(t, "a page by TLS", func() bool {
		status, err := byTLS(t, ports[2], host)
		shown = fmt.Sprint(status, err)
		return status == http.StatusOK
	}, func() string { return shown })
	until(t, "the service's own name has a certificate too", func() bool {
		status, err := byTLS(t, ports[2], "app.funnel.test")
		shown = fmt.Sprint(status, err)
		return status == http.StatusOK
	}, func() string { return shown })
	for _, other := range []string{"shop.acme.test", "acme.test", "app.funnel.example", "127.0.0.1"} {
		if status, err := byTLS(t, ports[2], other); err == nil || certificate(other) != http.StatusNotFound {
			t.Errorf("%s has a certificate, and a page with %d", other, status)
		}
	}

	database.Stop()
	if certificate(host) != http.StatusOK || certificate("shop.acme.test") != http.StatusNotFound {
		t.Error("with Postgres stopped other answers are given")
	}
	kill()
	if certificate(host) == http.StatusOK {
		t.Fatal("the API has not ended")
	}
	startAPI(t, env)
	until(t, "the API that started without Postgres answers for certificates", func() bool {
		return certificate(host) == http.StatusOK
	})
	type facts struct{ Unknown, Healthz, Readyz, Public int }
	if diff := cmp.Diff(facts{404, 200, 503, 503}, facts{
		certificate("shop.acme.test"), statusOf(ops + "/healthz"), statusOf(ops + "/readyz"),
		statusOf(public + "/openapi.json"),
	}); diff != "" {
		t.Errorf("statuses without Postgres (-want +got):\n%s", diff)
	}
	database.Start()
	until(t, "the API is ready again", func() bool { return statusOf(ops+"/readyz") == http.StatusOK })
	until(t, "a page by TLS again", func() bool {
		status, _ := byTLS(t, ports[2], host)
		return status == http.StatusOK
	})
	claim(204, "DELETE", "", "")
	until(t, "no certificate is given any more", func() bool { return certificate(host) == http.StatusNotFound })
}

// byTLS requests a page under a name from the server at addr.
func byTLS(t *testing.T, addr, name string) (int, error) {
	t.Helper()
	tr := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
		TLSClientConfig: &tls.Config{ServerName: name, InsecureSkipVerify: true}, // a private CA of the test
	}
	defer tr.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+name+"/openapi.json", nil)
	if err != nil {
		return 0, err
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	_ = res.Body.Close()
	if err := res.TLS.PeerCertificates[0].VerifyHostname(name); err != nil {
		return 0, err
	}
	return res.StatusCode, nil
}

// startAPI runs an API until kill, or the test's end.
func startAPI(t *testing.T, env []string) (kill func()) {
	t.Helper()
	return startProgram(t, exec.CommandContext(context.WithoutCancel(t.Context()), build(t), "api"), env)
}

func startCaddy(t *testing.T, caddy, https, http string, settings ...string) {
	t.Helper()
	_, securePort, _ := net.SplitHostPort(https)
	_, plainPort, _ := net.SplitHostPort(http)
	dir := t.TempDir()
	env := append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir,
		"FUNNELWORK_CADDY_ADMIN=off", "FUNNELWORK_TLS_ISSUER=internal",
		"FUNNELWORK_HTTPS_PORT="+securePort, "FUNNELWORK_HTTP_PORT="+plainPort)
	config := filepath.Join(repository(t), "deploy", "caddy", "Caddyfile")
	startProgram(t,
		exec.CommandContext(context.WithoutCancel(t.Context()), caddy, "run", "--config", config, "--adapter",
			"caddyfile"), append(env, settings...))
}

func startProgram(t *testing.T, cmd *exec.Cmd, env []string) (kill func()) {
	t.Helper()
	var said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, &said, &said, 20*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func(by syscall.Signal) func() {
		return func() {
			_ = cmd.Process.Signal(by)
			_ = cmd.Wait()
		}
	}
	var once sync.Once
	t.Cleanup(func() {
		once.Do(end(syscall.SIGTERM))
		if t.Failed() {
			t.Logf("%v: %s", cmd.Args, said.String())
		}
	})
	return func() { once.Do(end(syscall.SIGKILL)) }
}
