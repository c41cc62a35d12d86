package check_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"

	"github.com/funnelwork/funnelwork/deploy/k8s/check"
)

// loaded are the schemas, read once for all tests.
var loaded = struct {
	sync.Once
	schemas check.Schemas
	err     error
}{}

// validatorOf returns kubeconform with the schemas of the kinds in the manifests.
func validatorOf(t *testing.T, manifests []check.Manifest) validator.Validator {
	t.Helper()
	loaded.Do(func() { loaded.schemas, loaded.err = check.LoadSchemas(t.Context(), os.TempDir()) })
	if loaded.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(loaded.err)
		}
		t.Skipf("SKIPPED: without the modules that have the schemas the manifests were not validated: %v", loaded.err)
	}
	at, err := loaded.schemas.Write(t.TempDir(), manifests)
	if err != nil {
		t.Fatal(err)
	}
	v, err := validator.New([]string{at}, validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rendered returns the manifests of each kustomization by its name.
func rendered(t *testing.T) map[string][]check.Manifest {
	t.Helper()
	dirs, err := check.Kustomizations("..")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]check.Manifest{}
	for _, dir := range dirs {
		if all[filepath.Base(dir)], err = check.Render(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"base", "hpa", "keda", "monitoring"} {
		if len(all[name]) < 15 {
			t.Errorf("%s has %d resources", name, len(all[name]))
		}
	}
	return all
}

func TestEveryResourceFitsTheSchemaOfItsKind(t *testing.T) {
	t.Parallel()
	var all []check.Manifest
	for _, manifests := range rendered(t) {
		all = append(all, manifests...)
	}
	v := validatorOf(t, all)
	for _, m := range all {
		if r := v.ValidateResource(resource.Resource{Bytes: m.YAML}); r.Status != validator.Valid {
			t.Errorf("%s %s: %v", m.Kind, m.Metadata.Name, r.Err)
		}
	}
}

// TestPlantedFaultsDoNotFitTheSchemas shows that the schemas say something: each fault is one that a person makes.
func TestPlantedFaultsDoNotFitTheSchemas(t *testing.T) {
	t.Parallel()
	manifests := rendered(t)["keda"]
	v := validatorOf(t, manifests)
	for _, fault := range []struct{ kind, name, is, becomes string }{
		{"ScaledObject", "funnelwork-worker", "minReplicaCount:", "minReplicas:"},
		{"Deployment", "funnelwork-api", "containerPort: 8080", "port: 8080"},
		{"Deployment", "funnelwork-scheduler", "replicas: 2", "replicas: two"},
		{"NetworkPolicy", "funnelwork-world", "podSelector:", "podSelectors:"},
		{"PodDisruptionBudget", "funnelwork-api", "unhealthyPodEvictionPolicy: AlwaysAllow", "unhealthyPodEviction: x"},
		{"Job", "funnelwork-migrate", "backoffLimit: 6", "backoffLimit: 6s"},
	} {
		found := false
		for _, m := range manifests {
			if m.Kind != fault.kind || m.Metadata.Name != fault.name {
				continue
			}
			text := bytes.ReplaceAll(m.YAML, []byte(fault.is), []byte(fault.becomes))
			if found = !bytes.Equal(text, m.YAML); !found {
				break
			}
			r := v.ValidateResource(resource.Resource{Bytes: text})
			if r.Status != validator.Invalid || !strings.Contains(r.Err.Error(), "schema") {
				t.Errorf("%s instead of %s is not found: %v", fault.becomes, fault.is, r.Err)
			}
		}
		if !found {
			t.Errorf("%s %s has no %q", fault.kind, fault.name, fault.is)
		}
	}
}
