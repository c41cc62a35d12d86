package check_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/deploy/k8s/check"
)

// facts returns what the manifests have to agree with, read from where it is defined.
func facts(t *testing.T) check.Facts {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`(?m)^USER (\d+)`).FindSubmatch(text)
	if user == nil {
		t.Fatal("the image names no user")
	}
	uid, err := strconv.Atoi(string(user[1]))
	if err != nil {
		t.Fatal(err)
	}
	return check.Facts{User: uid}
}

func TestNoKustomizationHasAFault(t *testing.T) {
	t.Parallel()
	for name, manifests := range rendered(t) {
		for _, fault := range check.Faults(manifests, facts(t)) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func TestEachPlantedFaultBreaksItsRule(t *testing.T) {
	t.Parallel()
	all := rendered(t)
	for _, fault := range []struct{ in, of, is, becomes, finding string }{
		{"base", "Deployment funnelwork-api", "runAsUser: 65532", "runAsUser: 1000", "runs as user 1000"},
		{"base", "Deployment funnelwork-api", "runAsNonRoot: true", "runAsNonRoot: false", "may run as root"},
		{"base", "Deployment funnelwork-worker", "readOnlyRootFilesystem: true", "tty: true", "can write"},
		{"base", "Deployment funnelwork-worker", "- ALL", "- NET_RAW", "keeps capabilities"},
		{"base", "Job funnelwork-migrate", "type: RuntimeDefault", "type: Unconfined", "seccomp"},
		{"base", "Deployment funnelwork-api", "memory: 512Mi", "cpu: 2", "no limit of memory"},
		{"base", "Deployment funnelwork-api", "GracePeriodSeconds: 60", "GracePeriodSeconds: 30", "killed after"},
		{"base", "Deployment funnelwork-api", "failureThreshold: 2", "failureThreshold: 9", "probes see that it ends"},
		{"base", "Deployment funnelwork-scheduler", "path: /healthz", "path: /readyz", "liveness depends"},
		{"base", "Deployment funnelwork-scheduler", "kubernetes.io/hostname", "kubernetes.io/os", "not spread"},
		{"base", "Service funnelwork-api", "targetPort: http", "targetPort: ops", "shows the ops port"},
		{"base", "Service funnelwork-worker-ops", "component: worker", "component: workers", "leads nowhere"},
		{"base", "PodDisruptionBudget funnelwork-worker", "maxUnavailable: 1", "maxUnavailable: 0", "maxUnavailable"},
		{"base", "PodDisruptionBudget funnelwork-api", "component: api", "component: apis", "no disruption budget"},
		{"base", "NetworkPolicy funnelwork-default", "- Egress", "", "no network policy"},
		{"base", "ConfigMap funnelwork", "DRAIN_DELAY: 5s", "DRAIN_DELAY: 60s", "killed after"},
		{"hpa", "HorizontalPodAutoscaler funnelwork-api", "name: funnelwork-api", "name: web", "does not exist"},
		{"keda", "ScaledObject funnelwork-worker", "minReplicaCount: 2", "minReplicaCount: 0", "leave no worker"},
		{"keda", "Deployment funnelwork-worker", "revisionHistoryLimit: 3", "replicas: 3", "replicas: true"},
	} {
		manifests := slices.Clone(all[fault.in])
		planted := false
		for i, m := range manifests {
			kind, name, _ := strings.Cut(fault.of, " ")
			if m.Kind != kind || !strings.HasPrefix(m.Metadata.Name, name) || planted {
				continue
			}
			text := bytes.ReplaceAll(m.YAML, []byte(fault.is), []byte(fault.becomes))
			if planted = !bytes.Equal(text, m.YAML); !planted {
				continue
			}
			var err error
			if manifests[i], err = check.Parse(text); err != nil {
				t.Fatal(err)
			}
		}
		if !planted {
			t.Errorf("%s of %s has no %q", fault.of, fault.in, fault.is)
			continue
		}
		found := check.Faults(manifests, facts(t))
		if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, fault.finding) }) {
			t.Errorf("%s: %q instead of %q is not found: %q", fault.of, fault.becomes, fault.is, found)
		}
	}
}

// TestTheReadersOwnKustomizationRenders builds the example in ../README.md: its image and its settings arrive.
func TestTheReadersOwnKustomizationRenders(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile(`(?m)^    apiVersion: kustomize(?:.*\n(?:    .*\n)+)`).Find(readme)
	dir := t.TempDir()
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Rel(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(example), "../deploy/k8s", filepath.ToSlash(there))
	text = regexp.MustCompile(`(?m)^    `).ReplaceAllString(text, "")
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	manifests, err := check.Render(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range check.Faults(manifests, facts(t)) {
		t.Error(fault)
	}
	for _, m := range manifests {
		switch m.Kind {
		case "Deployment":
			if image := m.Spec.Template.Spec.Containers[0].Image; image != "registry.you.com/funnelwork:v1.0.0" {
				t.Errorf("%s runs %s", m.Metadata.Name, image)
			}
		case "ConfigMap":
			if m.Data["FUNNELWORK_PUBLIC_URL"] != "https://crm.you.com" || m.Data["FUNNELWORK_DRAIN_DELAY"] != "5s" {
				t.Errorf("settings: %v", m.Data)
			}
		}
	}
}
