package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// The modules that have the schemas.
const (
	kubernetes = "k8s.io/kubernetes@v1.37.2"
	keda       = "github.com/kedacore/keda/v2@v2.21.0"
	operator   = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
)

// LoadSchemas returns the schemas of all kinds in the manifests. It downloads modules that the module cache lacks,
// 29 MB in all. dir is a directory outside of any module.
func LoadSchemas(ctx context.Context, dir string) (Schemas, error) {
	at := map[string]string{}
	for _, m := range []string{kubernetes, keda, operator} {
		var err error
		if at[m], err = download(ctx, dir, m); err != nil {
			return nil, err
		}
	}
	s := Schemas{}
	if err := s.AddOpenAPI(filepath.Join(at[kubernetes], "api", "openapi-spec", "swagger.json")); err != nil {
		return nil, err
	}
	for _, crd := range []string{
		filepath.Join(at[keda], "config", "crd", "bases", "keda.sh_scaledobjects.yaml"),
		filepath.Join(at[keda], "config", "crd", "bases", "keda.sh_triggerauthentications.yaml"),
		filepath.Join(at[operator], "example", "prometheus-operator-crd", "monitoring.coreos.com_podmonitors.yaml"),
	} {
		if err := s.AddCRD(crd); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// download returns the directory of a module.
func download(ctx context.Context, dir, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = dir
	out, failed := cmd.Output() // the answer has the reason
	var info struct{ Dir, Error string }
	err := json.Unmarshal(out, &info)
	if err == nil && info.Dir == "" {
		err = errors.New(info.Error)
	}
	if err != nil {
		return "", fmt.Errorf("download %s: %w", module, errors.Join(failed, err))
	}
	return info.Dir, nil
}
