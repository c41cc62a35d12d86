package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// compose is the part of deploy/compose.yaml that these tests read. The decoder resolves "<<" merges.
type compose struct {
	Services map[string]struct {
		Image       string
		Command     []string
		Environment map[string]string
		Volumes     []string
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		Secrets     []string
		Healthcheck struct {
			Test    []string
			Disable bool
		}
	}
	Volumes map[string]any
	Secrets map[string]any
}

func readYAML[T any](t *testing.T, path string) (v T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repository(t), filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// These checks do not need a Docker engine; they cover what an engine would report first.
func TestComposeNamesOnlyWhatExists(t *testing.T) {
	t.Parallel()
	c := readYAML[compose](t, "deploy/compose.yaml")
	for _, want := range []string{
		"postgres", "redis", "migrate", "api", "worker", "scheduler", "prometheus",
		"grafana",
	} {
		if _, ok := c.Services[want]; !ok {
			t.Errorf("there is no service %s", want)
		}
	}
	settings, commands := declared(t)
	for name, s := range c.Services {
		for dep := range s.DependsOn {
			if _, ok := c.Services[dep]; !ok {
				t.Errorf("%s depends on %s, which is no service", name, dep)
			}
		}
		for _, secret := range s.Secrets {
			if _, ok := c.Secrets[secret]; !ok {
				t.Errorf("%s has the secret %s, which nobody defines", name, secret)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if host, ok := strings.CutPrefix(from, "./"); ok {
				if _, err := os.Stat(filepath.Join(repository(t), "deploy", host)); err != nil {
					t.Errorf("%s mounts %s: %v", name, from, err)
				}
			} else if _, ok := c.Volumes[from]; !ok {
				t.Errorf("%s mounts the volume %s, which nobody defines", name, from)
			}
		}
		if len(s.Healthcheck.Test) < 2 && (!s.Healthcheck.Disable || name != "migrate") {
			t.Errorf("%s has no health check", name)
		}
		if s.Image != "funnelwork" {
			pinned(t, name, s.Image)
			continue
		}
		if len(s.Command) == 0 || !commands[s.Command[0]] {
			t.Errorf("%s runs %q, which is no command of the binary", name, s.Command)
		}
		for key := range s.Environment {
			if !settings[key] {
				t.Errorf("%s sets %s, which the binary does not read", name, key)
			}
		}
	}
	if redis := strings.Join(c.Services["redis"].Command, " "); !strings.Contains(redis, "--appendonly yes") ||
		!strings.Contains(redis, "--maxmemory-policy noeviction") ||
		!strings.Contains(redis, "--requirepass ${REDIS_PASSWORD:?") {
		t.Errorf("redis runs %q: it must keep an append-only file, evict nothing and have a password", redis)
	}
}

// pinned fails the test unless an image is an operator's or one of an exact version and digest. Redis alone may have a
// tag: no digest of its version is published in a place that could be compared.
func pinned(t *testing.T, service, image string) {
	t.Helper()
	m := regexp.MustCompile(`^\$\{([A-Z]+)_IMAGE:-[a-z/]+:v?\d+\.\d+(\.\d+)?(@sha256:[0-9a-f]{64})?\}$`).
		FindStringSubmatch(image)
	switch {
	case m == nil:
		t.Errorf("%s runs %s, which names no exact version that an operator may replace", service, image)
	case m[1] != strings.ToUpper(service):
		t.Errorf("%s runs the image that replaces %s_IMAGE", service, m[1])
	case m[3] == "" && service != "redis":
		t.Errorf("%s runs %s, which is a tag and no digest", service, image)
	}
	example, err := os.ReadFile(filepath.Join(repository(t), "deploy", ".env.example"))
	if err != nil {
		t.Fatal(err)
	}
	if name := strings.ToUpper(service) + "_IMAGE="; !strings.Contains(string(example), "\n"+name) {
		t.Errorf(".env.example does not name %s", name)
	}
}

// declared returns the environment variables and the commands in the binary's help.
func declared(t *testing.T) (settings, commands map[string]bool) {
	t.Helper()
	settings, commands = map[string]bool{}, map[string]bool{}
	help, err := exec.CommandContext(t.Context(), build(t), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range reads(t) {
		settings[name] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+)`).FindAllSubmatch(help, -1) {
		commands[string(m[1])] = true
	}
	if len(settings) < 20 || len(commands) < 8 {
		t.Fatalf("the help was not understood: %s", help)
	}
	return settings, commands
}

func TestTheImageIsStaticAndRunsAsNobody(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(repository(t), "deploy", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(string(b), "\nFROM ")
	last := "FROM " + stages[len(stages)-1]
	if !strings.HasPrefix(last, "FROM scratch") && !strings.Contains(last, "distroless/static") {
		t.Errorf("the image is built on %.40q", last)
	}
	if user := regexp.MustCompile(`(?m)^USER ([1-9]\d*)`).FindStringSubmatch(last); user == nil {
		t.Error("the image names no numeric user other than root")
	}
	if !strings.Contains(string(b), "CGO_ENABLED=0") {
		t.Error("the binary may be linked to libraries that the image lacks")
	}
}

type dashboard struct {
	UID    string
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ Expr string }
	}
}

type rules struct {
	Groups []struct {
		Rules []struct {
			Alert, Record, Expr string

			Labels      map[string]string
			Annotations map[string]string
		}
	}
}

// watched returns the metrics in the dashboard and the alerts.
func watched(t *testing.T) []string {
	t.Helper()
	var exprs []string
	var d dashboard
	b, err := os.ReadFile(filepath.Join(repository(t), "deploy", "grafana", "dashboards", "funnelwork.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range d.Panels {
		if seen[p.ID] || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q has a number or a place that is not its own", p.Title)
		}
		seen[p.ID] = true
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	for _, file := range ruleFiles(t) {
		for _, g := range readYAML[rules](t, "deploy/prometheus/"+file).Groups {
			for _, r := range g.Rules {
				exprs = append(exprs, r.Expr)
				if r.Record != "" {
					continue
				}
				for what, text := range map[string]string{
					"name": r.Alert, "summary": r.Annotations["summary"], "severity": r.Labels["severity"],
				} {
					if text == "" {
						t.Errorf("alert %q has no %s", r.Alert, what)
					}
				}
			}
		}
	}
	if len(exprs) < 20 {
		t.Errorf("only %d expressions were found", len(exprs))
	}
	var names []string
	for _, e := range exprs {
		for _, n := range regexp.MustCompile(`\b(funnelwork|process|go)_[a-z0-9_]+`).FindAllString(e, -1) {
			names = append(names, strings.TrimSuffix(n, "_bucket"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestPrometheusScrapesEveryRole(t *testing.T) {
	t.Parallel()
	c := readYAML[struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}](t, "deploy/prometheus/prometheus.yml")
	var targets []string
	for _, s := range c.ScrapeConfigs {
		for _, st := range s.StaticConfigs {
			targets = append(targets, st.Targets...)
		}
	}
	slices.Sort(targets)
	if want := []string{"api:9090", "scheduler:9092", "worker:9091"}; !slices.Equal(targets, want) {
		t.Errorf("targets %v, want %v", targets, want)
	}
	for _, f := range c.RuleFiles {
		if _, err := os.Stat(filepath.Join(repository(t), "deploy", "prometheus", f)); err != nil {
			t.Error(err)
		}
	}
	services := readYAML[compose](t, "deploy/compose.yaml").Services
	for _, target := range targets {
		host, port, _ := strings.Cut(target, ":")
		if addr := services[host].Environment["FUNNELWORK_OPS_ADDR"]; !strings.HasSuffix(addr, ":"+port) {
			t.Errorf("%s is scraped, but listens on %s", target, addr)
		}
	}
}
