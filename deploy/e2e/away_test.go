package e2e_test

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// A role that is asked to end exits with status 0, whether or not Postgres is available.
func TestEveryRoleEndsInOrderThoughPostgresIsAway(t *testing.T) {
	t.Parallel()
	database := testkit.RealPostgres(t)
	env := append(roleEnviron(t), "DATABASE_URL="+database.URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_LOG_LEVEL=warn", "FUNNELWORK_LOG_FORMAT=json")
	type started struct {
		cmd  *exec.Cmd
		ops  string
		said *bytes.Buffer
	}
	roles := map[string]started{}
	for _, role := range []string{"api", "worker", "scheduler"} {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		s := started{
			cmd: exec.CommandContext(context.WithoutCancel(t.Context()), build(t), role),
			ops: "http://" + ports[1], said: &bytes.Buffer{},
		}
		s.cmd.Env = slices.Concat(env, []string{"FUNNELWORK_ADDR=" + ports[0], "FUNNELWORK_OPS_ADDR=" + ports[1]})
		s.cmd.Stdout, s.cmd.Stderr, s.cmd.WaitDelay = s.said, s.said, 20*time.Second
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.cmd.Process.Kill() })
		roles[role] = s
	}
	for role, s := range roles {
		until(t, role+" is ready", func() bool { return statusOf(s.ops+"/readyz") == http.StatusOK })
	}
	database.Stop()
	for role, s := range roles {
		until(t, role+" has noticed", func() bool { return statusOf(s.ops+"/readyz") == http.StatusServiceUnavailable })
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	for role, s := range roles {
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", role, err, s.said)
		}
	}
}
