package e2e_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// demoProcess returns the command `funnelwork demo` on the database, and its output.
func demoProcess(t *testing.T, database, home string, settings []string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), build(t), "demo", "--contacts=1500", "--seed=3")
	cmd.Env = slices.Concat(bareEnv(), settings, []string{"DATABASE_URL=" + database, "FUNNELWORK_HOME=" + home})
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// A process that is killed between two steps or in one loses only the step.
func TestADemoThatIsKilledIsContinued(t *testing.T) {
	t.Parallel()
	database, admin, err := emptyDatabase(t, testkit.DB(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	settings := roleSettings(t)
	made := exec.CommandContext(t.Context(), build(t), "user", "create", "--email=ada@example.com", "--role=owner",
		"--org=Shop")
	made.Env = append(bareEnv(), "DATABASE_URL="+database, "FUNNELWORK_HOME="+home)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	conn, err := pgx.Connect(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var shown strings.Builder
	for _, until := range []int{1, 3} {
		cmd, out := demoProcess(t, database, home, settings)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for step := 0; step < until; {
			select {
			case err := <-ended:
				t.Fatalf("the process ended before it was killed: %v\n%s", err, out)
			default:
			}
			if err := conn.QueryRow(t.Context(), `SELECT coalesce((settings -> 'demo' ->> 'step')::int, 0)
				FROM org, pg_sleep(0.002)`).Scan(&step); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Fatalf("the process ended before it was killed:\n%s", out)
		}
	}
	for range 2 {
		cmd, out := demoProcess(t, database, home, settings)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "{") { // a line of the log
				shown.WriteString(line)
			}
		}
	}
	var people, twice int
	if err := conn.QueryRow(t.Context(), `SELECT count(*), count(*) - count(DISTINCT email) FROM contact`).
		Scan(&people, &twice); err != nil {
		t.Fatal(err)
	}
	if people != 1500 || twice != 0 {
		t.Errorf("%d contacts, %d of them twice", people, twice)
	}
	// The plan follows the calendar: how many companies have contacts, and how many deals, notes and tasks half a year
	// has, depends on the day it ends.
	for table, name := range map[string]string{
		"company": "companies", "deal": "deals", "note": "notes", "task": "tasks",
	} {
		var n int
		err := conn.QueryRow(t.Context(), `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		if line := fmt.Sprintf("  %-10s %6d\n", name, n); !strings.Contains(shown.String(), line) {
			t.Errorf("the output lacks %q:\n%s", line, &shown)
		}
	}
	text := regexp.MustCompile(`\d{4}-\d\d-\d\dT\S+Z`).ReplaceAllString(shown.String(), "{time}")
	counts := regexp.MustCompile(`(?m)^  (companies|deals|notes|tasks) +\d+$`)
	golden(t, "demo.golden", counts.ReplaceAllString(text, "  $1 {n}"))
}
