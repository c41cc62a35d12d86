package e2e_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// notPassedOn has the settings that compose.yaml omits, with the reason. "ROLE SETTING" is for one role.
var notPassedOn = map[string]string{
	"FUNNELWORK_HOME":                "the image sets it, and the volume is there",
	"FUNNELWORK_SPOOL":               "in the home, on its volume",
	"FUNNELWORK_HOSTS_FILE":          "in the home, on its volume",
	"FUNNELWORK_PLANS":               "names a file, which would have to be mounted: a matter of an override file",
	"FUNNELWORK_DATABASE_POOLER":     "no pooler is between the services and their Postgres",
	"FUNNELWORK_POSTGRES_REPOSITORY": "up alone downloads a Postgres",
	"FUNNELWORK_OAUTH_URL":           "for tests",
	"FUNNELWORK_STRIPE_URL":          "for tests",
	"worker FUNNELWORK_ADDR":         "only the API has a public port",
	"scheduler FUNNELWORK_ADDR":      "only the API has a public port",
	"migrate FUNNELWORK_ADDR":        "migrate listens nowhere",
	"migrate FUNNELWORK_OPS_ADDR":    "migrate listens nowhere",
}

// madeByCompose are the settings whose values compose.yaml itself defines, or builds from other settings.
var madeByCompose = []string{
	"DATABASE_URL", "REDIS_URL", "PGPASSWORD", "FUNNELWORK_ADDR", "FUNNELWORK_OPS_ADDR", "FUNNELWORK_OPS_USER",
	"FUNNELWORK_OPS_PASSWORD",
}

// reads returns the settings, as `help settings` lists them, and those that their texts name.
func reads(t *testing.T) (names []string) {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), build(t), "help", "settings").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^  --[a-z0-9-]+, ([A-Z][A-Z_]*)|\$([A-Z][A-Z_]*)`)
	for _, m := range name.FindAllSubmatch(help, -1) {
		names = append(names, string(append(m[1], m[2]...)))
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < 40 {
		t.Fatalf("the help was not understood: %s", help)
	}
	return names
}

func TestComposePassesOnEverySettingOfEveryRoleOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	c := readYAML[compose](t, "deploy/compose.yaml")
	example, err := os.ReadFile(filepath.Join(repository(t), "deploy", ".env.example"))
	if err != nil {
		t.Fatal(err)
	}
	needed := maps.Clone(notPassedOn)
	for _, role := range []string{"api", "worker", "scheduler", "migrate"} {
		env := c.Services[role].Environment
		for _, name := range reads(t) {
			value, passed := env[name]
			_, everywhere := notPassedOn[name]
			_, here := notPassedOn[role+" "+name]
			delete(needed, name)
			delete(needed, role+" "+name)
			switch {
			case passed && (everywhere || here):
				t.Errorf("%s gets %s, which is on the list of those that are not passed on", role, name)
			case !passed && !everywhere && !here:
				t.Errorf("%s reads %s, which compose.yaml does not pass on", role, name)
			case passed && !slices.Contains(madeByCompose, name) && !strings.HasPrefix(value, "${"+name+":"):
				t.Errorf("%s gets %s as %q, which the operator's value does not reach", role, name, value)
			}
		}
		for name, value := range env {
			for _, m := range variable.FindAllStringSubmatch(value, -1) {
				if !regexp.MustCompile(`(?m)^` + m[1] + `=`).Match(example) {
					t.Errorf("%s is made of %s, which .env.example does not name", name, m[1])
				}
			}
		}
	}
	for name := range needed {
		t.Errorf("the list of settings that are not passed on has %s, which no role reads", name)
	}
}

// An anonymous volume is recreated with its container, and its token journal is lost.
func TestTheHomeOfEachRoleIsAVolumeWithAName(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(repository(t), "deploy", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	home := regexp.MustCompile(`FUNNELWORK_HOME=(\S+)`).FindStringSubmatch(string(b))
	if home == nil {
		t.Fatal("the image names no home")
	}
	c := readYAML[compose](t, "deploy/compose.yaml")
	for name, s := range c.Services {
		if s.Image != "funnelwork" {
			continue
		}
		named := false
		for _, v := range s.Volumes {
			from, to, _ := strings.Cut(v, ":")
			_, defined := c.Volumes[from]
			named = named || defined && to == home[1]
		}
		if !named {
			t.Errorf("%s has no named volume at %s: %v", name, home[1], s.Volumes)
		}
	}
}

// variable matches a variable of compose, with its default or the message for its absence.
var variable = regexp.MustCompile(`\$\{([A-Z_]+)(?::-([^}]*)|:\?[^}]*)?\}`)

// interpolated returns a value of compose.yaml as docker compose passes it.
func interpolated(value string, dotenv map[string]string) string {
	return variable.ReplaceAllStringFunc(value, func(v string) string {
		m := variable.FindStringSubmatch(v)
		if given := dotenv[m[1]]; given != "" {
			return given
		}
		return m[2]
	})
}

// TestComposesRolesComeUpWithPasswordsOfAnyCharacters runs the roles with exactly the environment of compose.yaml,
// except for addresses, and a Postgres that requires the password.
func TestComposesRolesComeUpWithPasswordsOfAnyCharacters(t *testing.T) {
	t.Parallel()
	const nasty = `p@ss/w:ord?#[]%41%zz &+="'\$HOME ${X} {}; -- ünïcödé 密码 `
	// A short path leaves room for a socket's; the servers' user reads it.
	home, err := os.MkdirTemp("/tmp", "fw-compose-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	server, err := local.StartPostgres(t.Context(),
		local.PostgresOptions{Home: home, Fast: true, TCP: true, Log: testkit.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.WithoutCancel(t.Context())) })
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	sql := testkit.Pgx(t, server.URL)
	if _, err := sql.Exec(t.Context(),
		"ALTER ROLE funnelwork PASSWORD '"+strings.ReplaceAll(nasty, "'", "''")+"'"); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), "postgres://funnelwork:wrong@"+at.Host+"/funnelwork"); err == nil {
		t.Fatal("the server takes any password")
	}
	redis, err := url.Parse(testkit.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	keyset, err := exec.CommandContext(t.Context(), build(t), "keys", "new").Output()
	if err != nil {
		t.Fatal(err)
	}
	dotenv := map[string]string{
		"POSTGRES_PASSWORD": nasty, "OPS_PASSWORD": nasty, "REDIS_PASSWORD": "abc-DEF_123",
		"FUNNELWORK_KEYSET": strings.TrimSpace(string(keyset)), "FUNNELWORK_SIGNUP": "on",
	}
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	c := readYAML[compose](t, "deploy/compose.yaml")
	if got := interpolated(c.Services["postgres"].Environment["POSTGRES_PASSWORD"], dotenv); got != nasty {
		t.Errorf("postgres gets the password %q", got)
	}
	of := func(role string, more ...string) (env []string) {
		for name, value := range c.Services[role].Environment {
			value = interpolated(value, dotenv)
			switch name {
			case "DATABASE_URL":
				value = strings.Replace(value, "postgres:5432", at.Host, 1)
			case "REDIS_URL":
				if want := "redis://:abc-DEF_123@redis:6379/0"; value != want {
					t.Errorf("%s gets REDIS_URL %s, want %s", role, value, want)
				}
				value = redis.String()
			case "FUNNELWORK_ADDR", "FUNNELWORK_OPS_ADDR":
				continue
			}
			env = append(env, name+"="+value)
		}
		return append(env, append(more, "PATH="+os.Getenv("PATH"), "FUNNELWORK_HOME="+filepath.Join(home, "state"))...)
	}
	if said := run(t, of("migrate"), "migrate"); strings.Contains(said, "p@ss") {
		t.Errorf("migrate says the password: %s", said)
	}
	for i, name := range []string{"api", "worker", "scheduler"} {
		s := role(t, of(name), name, ports[0], ports[i+1])
		if strings.Contains(s.String(), "p@ss") {
			t.Errorf("%s says the password: %s", name, s)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ports[i+1]+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("ops", nasty)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: the ops listener answers its password with %d", name, res.StatusCode)
		}
		healthy(t, c.Services[name].Healthcheck.Test, ports[i+1])
		// An empty value in .env means the default.
		if diff := cmp.Diff([]string{"billing", "oauth", "mail", "ai"}, lacks(t, ports[i+1])); diff != "" {
			t.Errorf("%s: not_configured (-want +got):\n%s", name, diff)
		}
	}
	if status, answer := ask(t, "POST", "http://"+ports[0]+"/api/v1/auth/signup", "",
		`{"org_name":"Engines","email":"ada@example.com","password":"correct-horse-battery"}`); status !=
		http.StatusCreated {
		t.Errorf("signing up, which is on by default: %d %s", status, answer)
	}
}

// healthy runs a role's health check as its container does.
func healthy(t *testing.T, test []string, ops string) {
	t.Helper()
	if len(test) < 3 || test[0] != "CMD" || test[1] != "/funnelwork" {
		t.Fatalf("the health check is %q", test)
	}
	free, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]string{ops: "ready", free[0]: "funnelwork: not ready: "} {
		cmd := exec.CommandContext(t.Context(), build(t), test[2:]...)
		cmd.Env = append(bareEnv(), "FUNNELWORK_OPS_ADDR="+addr)
		out, err := cmd.CombinedOutput()
		if (err == nil) != (addr == ops) || !strings.HasPrefix(string(out), want) {
			t.Errorf("%q at %s: %v %s", test, addr, err, out)
		}
	}
}
