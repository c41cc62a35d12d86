package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Prometheus's own promtool evaluates the rules. promtool is large and not part of the service, so without it the test
// is skipped, in CI too; .ci/run installs it where possible.
func TestEachAlertFiresAtItsFaultAndAtNothingElse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(repository(t), "deploy", "prometheus")
	for _, file := range ruleFiles(t) {
		expected, err := os.ReadFile(filepath.Join(dir, strings.Replace(file, ".yml", "_test.yml", 1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range readYAML[rules](t, "deploy/prometheus/"+file).Groups {
			for _, r := range g.Rules {
				if r.Alert != "" && !strings.Contains(string(expected), `alertname="`+r.Alert+`"`) {
					t.Errorf("%s of %s has no test", r.Alert, file)
				}
			}
		}
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("SKIPPED: promtool is not installed (Debian: prometheus), so the alert rules were not tried")
	}
	for _, args := range [][]string{
		{"check", "rules", "--lint=all", "--lint-fatal", "alerts.yml", "slo.yml"},
		{"check", "config", "--syntax-only", "prometheus.yml"},
		{"test", "rules", "alerts_test.yml", "slo_test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// ruleFiles returns the files that Prometheus reads rules from.
func ruleFiles(t *testing.T) []string {
	t.Helper()
	files := readYAML[struct {
		RuleFiles []string `yaml:"rule_files"`
	}](t, "deploy/prometheus/prometheus.yml").RuleFiles
	if len(files) < 2 {
		t.Fatalf("rule files: %v", files)
	}
	return files
}
