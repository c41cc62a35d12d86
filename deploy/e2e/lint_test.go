package e2e_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/funnelwork/funnelwork"

// planting is a file that violates one lint rule. finding must occur in the message.
type planting struct{ path, body, finding string }

// planted are files that each violate one lint rule, each in a separate package below the package of the rule, so that
// no two of them make an import cycle.
var planted = []planting{
	{"api/planted/work/work.go", "package api\n\nimport _ \"" + module + "/worker\"\n", "worker"},
	{"api/planted/list/list.go", "package api\n\nimport _ \"" + module + "/jobs\"\n", "jobs"},
	{"api/planted/tasks/tasks.go", "package api\n\nimport _ \"github.com/hibiken/asynq\"\n", "asynq"},
	{"worker/planted/front/front.go", "package worker\n\nimport _ \"" + module + "/api\"\n", "api"},
	{"worker/planted/http/http.go", "package worker\n\nimport _ \"github.com/gofiber/fiber/v2\"\n", "fiber"},
	{"scheduler/planted/run/run.go", "package scheduler\n\nimport _ \"" + module + "/worker\"\n", "worker"},
	{
		"jobs/leadscore/planted/when/when.go", "package leadscore\n\nimport _ \"" + module + "/scheduler\"\n",
		"scheduler",
	},
	{
		"internal/contacts/planted/rooms/rooms.go",
		"package contacts\n\nimport _ \"" + module + "/internal/webhooks\"\n", "webhooks",
	},
	{
		"internal/contacts/planted/ask/ask.go", "package contacts\n\nimport _ \"" + module + "/jobs/leadscore\"\n",
		"jobs/leadscore",
	},
	{"internal/queue/planted/up/up.go", "package queue\n\nimport _ \"" + module + "/internal/contacts\"\n", "contacts"},
	{"internal/postgres/planted/up/up.go", "package postgres\n\nimport _ \"" + module + "/internal/queue\"\n", "queue"},
	{"internal/queue/planted.go", "package queue\n\nimport _ \"" + module + "/internal/queue/store\"\n", "queue/store"},
	{
		"internal/queue/store/planted/asynq/asynq.go",
		"package asynq\n\nimport _ \"github.com/hibiken/asynq\"\n", "hibiken/asynq",
	},
	{
		"internal/queue/feed/planted/act/act.go",
		"package act\n\nimport _ \"" + module + "/internal/queue/operator\"\n", "queue/operator",
	},
	{
		"internal/contacts/planted/table/table.go",
		"package contacts\n\nimport _ \"" + module + "/internal/queue/store\"\n", "queue/store",
	},
	{
		"internal/social/provider/planted/rows/rows.go",
		"package provider\n\nimport _ \"" + module + "/internal/postgres\"\n", "postgres",
	},
	{
		"internal/sandbox/oauth/planted/peek/peek.go",
		"package oauth\n\nimport _ \"" + module + "/internal/social/provider\"\n", "social",
	},
	{"internal/webhooks/planted/oauth/oauth.go", "package webhooks\n\nimport _ \"golang.org/x/oauth2\"\n", "oauth2"},
	{
		"internal/webhooks/planted/token/token.go", "package webhooks\n\nimport _ \"github.com/golang-jwt/jwt/v5\"\n",
		"jwt",
	},
	{
		"internal/contacts/planted/wires/wires.go",
		"package contacts\n\nimport _ \"" + module + "/internal/command\"\n",
		"internal/command",
	},
	{
		"internal/webhooks/planted/flags/flags.go", "package webhooks\n\nimport _ \"github.com/alecthomas/kong\"\n",
		"kong",
	},
	{
		"internal/contacts/planted/env/env.go", "package contacts\n\nimport \"os\"\n\nvar home = os.Getenv(\"HOME\")\n",
		"os.Getenv",
	},
	{
		"internal/billing/connect/planted/up/up.go",
		"package connect\n\nimport _ \"" + module + "/internal/billing/sync\"\n",
		"internal/billing/sync",
	},
	{"internal/billing/planted/rate/rate.go", "package billing\n\nvar rate float64\n", "money is counted"},
	{
		"internal/sandbox/stripe/planted/rate/rate.go",
		"package stripe\n\nfunc rate(n int64) float32 { return float32(n) }\n", "money is counted",
	},
	{"jobs/billingsettle/planted/rate/rate.go", "package billingsettle\n\nvar rate float64\n", "money is counted"},
	{"jobs/billingoverage/planted/rate/rate.go", "package billingoverage\n\nvar rate float32\n", "money is counted"},
	{
		"jobs/billingprorationsync/planted/rate/rate.go",
		"package billingprorationsync\n\nimport \"strconv\"\n\nvar rate, _ = strconv.ParseFloat(\"1\", 64)\n",
		"money is counted",
	},
	{"jobs/stripeevent/planted/rate/rate.go", "package stripeevent\n\nvar rate float64\n", "money is counted"},
	{"jobs/entitlementsync/planted/rate/rate.go", "package entitlementsync\n\nvar rate float64\n", "money is counted"},
	{"api/billing_planted.go", "package api\n\nvar rate float64\n", "money is counted"},
	{
		"internal/contacts/planted/wait/wait_test.go",
		"package contacts_test\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestWait(t *testing.T) { " +
			"time.Sleep(1) }\n", "time.Sleep",
	},
}

// allowed are files that resemble the ones above and violate nothing.
var allowed = map[string]string{
	"api/ops/ops.go":                   "package ops\n\nimport _ \"github.com/hibiken/asynq\"\n",
	"api/share.go":                     "package api\n\nvar share float64\n",
	"api/ask.go":                       "package api\n\nimport _ \"" + module + "/jobs/leadscore\"\n",
	"worker/mux.go":                    "package worker\n\nimport _ \"" + module + "/jobs\"\n",
	"jobs/jobs.go":                     "package jobs\n\nimport _ \"" + module + "/jobs/leadscore\"\n",
	"internal/contacts/say.go":         "package contacts\n\nimport _ \"" + module + "/internal/queue\"\n",
	"internal/social/provider/url.go":  "package provider\n\nimport _ \"golang.org/x/oauth2\"\n",
	"internal/auth/token.go":           "package auth\n\nimport _ \"github.com/golang-jwt/jwt/v5\"\n",
	"internal/webhooks/make.go":        "package webhooks\n\nvar share float64\n",
	"internal/billing/connect/rate.go": "package connect\n",
	"internal/billing/sync/sales.go":   "package sync\n\nimport _ \"" + module + "/internal/billing/connect\"\n",
	"internal/command/up.go":           "package command\n\nimport _ \"" + module + "/worker\"\n",
	"scheduler/clock.go":               "package scheduler\n",
	"jobs/leadscore/job.go":            "package leadscore\n",
	"internal/queue/queue.go":          "package queue\n",
	"internal/queue/store/claim.go":    "package store\n",
	"internal/queue/operator/run.go":   "package operator\n\nimport _ \"github.com/hibiken/asynq\"\n",
	"internal/postgres/db.go":          "package postgres\n",
}

// nested are planted files of the nested module deploy/bench, and files in it that violate nothing.
var (
	nested = []planting{
		{"deploy/bench/planted/http/http.go", "package http\n\nimport _ \"github.com/gofiber/fiber/v2\"\n", "fiber"},
		{"deploy/bench/planted/tasks/tasks.go", "package tasks\n\nimport _ \"github.com/hibiken/asynq\"\n", "asynq"},
		{
			"deploy/bench/planted/wires/wires.go",
			"package wires\n\nimport _ \"" + module + "/internal/command\"\n", "internal/command",
		},
		{
			"deploy/bench/planted/env/env.go", "package env\n\nimport \"os\"\n\nvar home = os.Getenv(\"HOME\")\n",
			"os.Getenv",
		},
	}
	nestedAllowed = map[string]string{
		"deploy/bench/queue_peers.go": "package main\n\nimport _ \"github.com/hibiken/asynq\"\n",
		"deploy/bench/main.go":        "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println() }\n",
	}
)

func TestAPlantedImportViolationIsCaught(t *testing.T) {
	t.Parallel()
	root := copyForLint(t, planted, allowed)
	checkFindings(t, runLint(t, root, "."), planted, allowed)
}

// A nested module is linted in its own directory, with the root's configuration.
func TestAPlantedImportViolationInANestedModuleIsCaught(t *testing.T) {
	t.Parallel()
	root := copyForLint(t, nested, nestedAllowed)
	copyFiles(t, root, "deploy/bench/go.mod", "deploy/bench/go.sum")
	plant(t, root, "internal/command/up.go", "package command\n")
	checkFindings(t, runLint(t, root, "deploy/bench"), nested, nestedAllowed)
}

// copyForLint returns a directory with the real configuration and module files, and stubs for the packages: loading all
// packages would take a minute and prove nothing more about a rule.
func copyForLint(t *testing.T, planted []planting, allowed map[string]string) string {
	t.Helper()
	root := t.TempDir()
	copyFiles(t, root, "go.mod", "go.sum", ".golangci.yml")
	for name, body := range allowed {
		plant(t, root, name, body)
	}
	for _, p := range planted {
		plant(t, root, p.path, p.body)
	}
	return root
}

func copyFiles(t *testing.T, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		body, err := os.ReadFile(filepath.Join(repository(t), name))
		if err != nil {
			t.Fatal(err)
		}
		plant(t, to, name, string(body))
	}
}

// finding is an issue that golangci-lint reports.
type finding struct {
	FromLinter, Text string
	Pos              struct{ Filename string }
}

// runLint runs the import rules of the configuration in root on the packages of the module in dir, below root.
func runLint(t *testing.T, root, dir string) []finding {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), linter(t), "run", "--config", filepath.Join(root, ".golangci.yml"),
		"--allow-parallel-runners", "--enable-only", "depguard,forbidigo", "--show-stats=false",
		"--max-issues-per-linter=0", "--max-same-issues=0", "--output.json.path=stdout", "./...")
	cmd.Dir = filepath.Join(root, dir)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOLANGCI_LINT_CACHE="+t.TempDir())
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	var report struct{ Issues []finding }
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("golangci-lint: %v, %v\n%s\n%s", err, jsonErr, out, complaints.String())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s", out, complaints.String())
		}
	})
	return report.Issues
}

// checkFindings fails the test unless each planted file has its finding and no allowed file has one.
func checkFindings(t *testing.T, found []finding, planted []planting, allowed map[string]string) {
	t.Helper()
	for _, p := range planted {
		if !slices.ContainsFunc(found, func(f finding) bool {
			return f.Pos.Filename == p.path && strings.Contains(f.Text, p.finding)
		}) {
			t.Errorf("%s was not caught", p.path)
		}
	}
	for _, f := range found {
		if _, fine := allowed[f.Pos.Filename]; fine {
			t.Errorf("%s breaks no rule, but: %s", f.Pos.Filename, f.Text)
		}
	}
}

// The import rules cannot express that the API uses only a kind's name and arguments from its package.
func TestTheAPIUsesOnlyTheKindAndArgsOfAJob(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		more, err := filepath.Glob(filepath.Join(repository(t), "api", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		rooms := map[string]bool{}
		for _, spec := range parsed.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if room, ok := strings.CutPrefix(path, module+"/jobs/"); ok {
				rooms[room] = true
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && rooms[pkg.Name] && s.Sel.Name != "Kind" && s.Sel.Name != "Args" {
				t.Errorf("%s uses %s.%s", filepath.Base(file), pkg.Name, s.Sel.Name)
			}
			return true
		})
	}
}

// linter returns the golangci-lint to use. Without one the test is skipped, except in CI, which installs it.
func linter(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"golangci-lint", filepath.Join(os.Getenv("HOME"), "go", "bin", "golangci-lint")} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("golangci-lint is missing; .ci/run installs it")
	}
	t.Skip("SKIPPED: golangci-lint is not installed, so the import rules were not tried (see .golangci.yml for the " +
		"version)")
	return ""
}

func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func plant(t *testing.T, root, name, body string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}
