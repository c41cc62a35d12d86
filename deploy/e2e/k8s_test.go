package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// The module deploy/k8s/check renders the manifests and checks them by their schemas. The tests here hold the sources
// of the manifests against the program.

// workload is the part of a Deployment or Job that these tests read.
type workload struct {
	Spec struct {
		Replicas int
		Template struct {
			Metadata struct{ Annotations map[string]string }
			Spec     struct{ Containers []container }
		}
	}
}

type container struct {
	Name  string
	Args  []string
	Env   []struct{ Name, Value string }
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	Startup   probe `yaml:"startupProbe"`
	Liveness  probe `yaml:"livenessProbe"`
	Readiness probe `yaml:"readinessProbe"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// deployed returns the workload of a role and its only container.
func deployed(t *testing.T, role string) (workload, container) {
	t.Helper()
	w := readYAML[workload](t, "deploy/k8s/base/"+role+".yaml")
	if len(w.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%s has %d containers", role, len(w.Spec.Template.Spec.Containers))
	}
	return w, w.Spec.Template.Spec.Containers[0]
}

// envFile returns the settings in a file of NAME=VALUE lines.
func envFile(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), "deploy", "k8s", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			env[name] = value
		}
	}
	if len(env) < 3 {
		t.Fatalf("%s was not understood: %v", file, env)
	}
	return env
}

func TestTheManifestsSetOnlyWhatTheProgramReads(t *testing.T) {
	t.Parallel()
	settings, commands := declared(t)
	for _, file := range []string{"base/settings.env", "secret.env.example"} {
		for name := range envFile(t, file) {
			if !settings[name] {
				t.Errorf("%s sets %s, which the program does not read", file, name)
			}
		}
	}
	for _, role := range []string{"api", "worker", "scheduler", "migrate"} {
		_, c := deployed(t, role)
		if len(c.Args) != 1 || !commands[c.Args[0]] || c.Args[0] != role || c.Name != role {
			t.Errorf("%s runs %q in the container %q", role, c.Args, c.Name)
		}
		for _, e := range c.Env {
			if !settings[e.Name] && e.Name != "GOMEMLIMIT" { // Go's own
				t.Errorf("%s sets %s, which the program does not read", role, e.Name)
			}
		}
	}
}

// TestTheManifestsDescribeTheRolesAsTheyRun starts each role with the settings of its manifest, but for the addresses,
// and asks what Kubernetes, Prometheus and KEDA would ask.
func TestTheManifestsDescribeTheRolesAsTheyRun(t *testing.T) {
	t.Parallel()
	env := append(roleSettings(t),
		"PATH="+os.Getenv("PATH"), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_OPS_USER=ops", "FUNNELWORK_OPS_PASSWORD=secret")
	for name, value := range envFile(t, "base/settings.env") {
		if name != "FUNNELWORK_DRAIN_DELAY" { // the test would wait for it
			env = append(env, name+"="+value)
		}
	}
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"api", "worker", "scheduler"} {
		w, c := deployed(t, name)
		role(t, env, name, ports[0], ports[i+1])
		named := map[string]int{}
		for _, p := range c.Ports {
			named[p.Name] = p.ContainerPort
		}
		for _, e := range c.Env {
			want := map[string]string{"FUNNELWORK_ADDR": "http", "FUNNELWORK_OPS_ADDR": "ops"}[e.Name]
			if _, port, err := net.SplitHostPort(e.Value); want != "" &&
				(err != nil || port != strconv.Itoa(named[want])) {
				t.Errorf("%s listens at %s, and its port %s is %d", name, e.Value, want, named[want])
			}
		}
		ops := "http://" + ports[i+1]
		for what, p := range map[string]probe{
			"startup": c.Startup, "liveness": c.Liveness, "readiness": c.Readiness,
		} {
			if got := statusOf(ops + p.HTTPGet.Path); p.HTTPGet.Port != "ops" || p.HTTPGet.Path == "" ||
				got != http.StatusOK {
				t.Errorf("%s: the %s probe %+v is answered with %d", name, what, p.HTTPGet, got)
			}
		}
		page := operatorReads(t, ops+"/metrics")
		if sessions := metric(page, "funnelwork_postgres_pool_sessions_max"); w.Spec.Template.Metadata.
			Annotations["funnelwork/postgres-sessions"] != fmt.Sprint(sessions) {
			t.Errorf("%s may open %v sessions; its manifest says %v", name, sessions,
				w.Spec.Template.Metadata.Annotations)
		}
		if !strings.Contains(page, `funnelwork_jobs_oldest_open_seconds{lane="webhooks"}`) && name != "api" {
			t.Errorf("%s has no age of the backlog", name)
		}
		if name == "scheduler" {
			readAsKEDA(t, ops, named["ops"])
		}
	}
}

// readAsKEDA reads the value that the ScaledObject scales by.
func readAsKEDA(t *testing.T, ops string, port int) {
	t.Helper()
	so := readYAML[struct {
		Spec struct {
			Triggers []struct{ Metadata map[string]string }
		}
	}](t, "deploy/k8s/components/keda/worker.yaml")
	trigger := so.Spec.Triggers[0].Metadata
	at, err := url.Parse(trigger["url"])
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("funnelwork-scheduler-ops.funnelwork.svc:%d", port); at.Host != want {
		t.Errorf("KEDA asks %s, want %s", at.Host, want)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(operatorReads(t, ops+at.Path)), &answer); err != nil {
		t.Fatal(err)
	}
	if _, number := answer[trigger["valueLocation"]].(float64); !number {
		t.Errorf("there is no number at %s of %v", trigger["valueLocation"], answer)
	}
}

// operatorReads sends a GET with the password.
func operatorReads(t *testing.T, at string) string {
	t.Helper()
	status, answer := ask(t, "GET", strings.Replace(at, "http://", "http://ops:secret@", 1), "", "")
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", at, status, answer)
	}
	return answer
}

// metric returns the sum of a metric's series.
func metric(page, name string) (sum float64) {
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(page, -1) {
		v, _ := strconv.ParseFloat(m[1], 64)
		sum += v
	}
	return sum
}

func TestEachKustomizationSaysHowManySessionsOfPostgresItMayNeed(t *testing.T) {
	t.Parallel()
	api := readYAML[struct {
		Spec struct {
			MaxReplicas int `yaml:"maxReplicas"`
		}
	}](t, "deploy/k8s/components/hpa/api.yaml").Spec.MaxReplicas
	type scaled struct {
		Spec struct {
			MaxReplicaCount int `yaml:"maxReplicaCount"`
		}
	}
	most := map[string]map[string]int{"base": {}, "hpa": {"api": api}}
	for overlay, component := range map[string]string{"keda": "keda", "monitoring": "keda-prometheus"} {
		most[overlay] = map[string]int{
			"api":    api,
			"worker": readYAML[scaled](t, "deploy/k8s/components/"+component+"/worker.yaml").Spec.MaxReplicaCount,
		}
	}
	for name, replicas := range most {
		sum := 0
		for _, role := range []string{"api", "worker", "scheduler"} {
			w, _ := deployed(t, role)
			each, err := strconv.Atoi(w.Spec.Template.Metadata.Annotations["funnelwork/postgres-sessions"])
			if err != nil {
				t.Fatal(err)
			}
			n := w.Spec.Replicas
			if most, ok := replicas[role]; ok {
				n = most
			}
			sum += n * each
		}
		dir := path.Join("overlays", name)
		if name == "base" {
			dir = name
		}
		text, err := os.ReadFile(filepath.Join(repository(t), "deploy", "k8s", dir, "kustomization.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("At most %d sessions", sum); !strings.Contains(string(text), want) {
			t.Errorf("%s does not say: %s", dir, want)
		}
	}
}
