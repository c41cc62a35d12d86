package social_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var kills = flag.Int("kills", 24, "how many processes TestAKilledRefreshLosesNoLoginSilently kills")

// childOrders are the instructions for a child process of this test binary.
type childOrders struct {
	Places places
	Do     string // "tokens", "attempt"
	Grants [][2]string
	Claim  social.Claim
	At     string // the step at which it exits
	By     syscall.Signal
}

const childVariable = "FUNNELWORK_TEST_REFRESH_CHILD"

// TestRefreshChild is the child process that the tests below start.
func TestRefreshChild(t *testing.T) {
	orders := os.Getenv(childVariable)
	if orders == "" {
		t.Skip("it is the other tests' child")
	}
	var o childOrders
	if err := json.Unmarshal([]byte(orders), &o); err != nil {
		t.Fatal(err)
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }
	box, err := secret.Load(o.Places.Keyset)
	if err != nil {
		t.Fatal(err)
	}
	s := &shore{
		t: t, places: o.Places, secret: box, log: &logged{Handler: slog.DiscardHandler},
		set: providers(o.Places.Providers, time.Now, ""),
	}
	dir, err := journal.Open(o.Places.Spool)
	if err != nil {
		t.Fatal(err)
	}
	open := func(role string) *postgres.DB {
		db, err := postgres.Open(t.Context(),
			postgres.Options{URL: o.Places.Database, Role: role, MaxConns: 6, Name: "child"})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	r := social.NewRefresher(social.RefreshOptions{
		Service: s.service(s.set), App: open(postgres.App), System: open(postgres.System),
		Spool: social.NewTokenJournal(dir, box),
		Log:   slog.New(s.log), Lease: o.Places.Lease,
	})
	say("ready")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	switch o.Do {
	case "tokens":
		failed := askForTokens(r, o.Grants)
		say("failed %d", failed)
	case "attempt":
		r.AtStep(func(step string) {
			if step == o.At {
				_ = syscall.Kill(os.Getpid(), o.By)
			}
		})
		out, err := r.Refresh(t.Context(), o.Claim)
		say("ended %s %v", out, err)
	}
}

// askForTokens lets 50 goroutines request the tokens of all grants, each in a different order, and returns the number
// of failures.
func askForTokens(r *social.Refresher, grants [][2]string) int64 {
	var failed atomic.Int64
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			for _, i := range rand.Perm(len(grants)) {
				org, _ := id.Parse(grants[i][0])
				grant, _ := id.Parse(grants[i][1])
				for asked := time.Now(); ; {
					token, err := r.Token(context.Background(), org, grant)
					if errors.Is(err, social.ErrTokenLater) && time.Since(asked) < 2*time.Minute {
						continue // as a publisher's job does
					}
					if err != nil || token.Access == "" {
						failed.Add(1)
					}
					break
				}
			}
		})
	}
	wait.Wait()
	return failed.Load()
}

// child is a running process.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (s *shore) start(o childOrders) *child {
	s.t.Helper()
	if runtime.GOOS != "linux" {
		s.t.Skip("SKIPPED: /proc tells whether a process stands still")
	}
	o.Places = s.places
	orders, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(context.WithoutCancel(s.t.Context()), os.Args[0],
		"-test.run=^TestRefreshChild$", "-test.count=1")}
	c.cmd.Env = append(os.Environ(), childVariable+"="+string(orders))
	c.cmd.Stderr = os.Stderr
	c.in, err = c.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	c.await(s.t, "ready")
	return c
}

func (c *child) begin(t testing.TB) {
	t.Helper()
	if _, err := io.WriteString(c.in, "go\n"); err != nil {
		t.Fatal(err)
	}
}

// await reads until a line with the prefix and returns it; "" at the end.
func (c *child) await(t testing.TB, prefix string) string {
	t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(line)
		}
		if err != nil {
			return ""
		}
	}
}

// TestManyProcessesAskOnceForEachToken: 200 goroutines in four processes request the tokens of 100 grants at once. For
// each grant one of them calls the provider, and all get the token; a second request would end the login.
func TestManyProcessesAskOnceForEachToken(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	s.places.Lease = 30 * time.Second
	s.knobs("x", oauth.Knobs{Rotation: oauth.Strict, LatencyMax: 0.2})
	all := s.grants("herd", "x", 100, time.Second)
	orders := childOrders{Do: "tokens"}
	for _, g := range all {
		orders.Grants = append(orders.Grants, [2]string{g.org.String(), g.grant.String()})
	}
	var children []*child
	for range 4 {
		children = append(children, s.start(orders))
	}
	for _, c := range children {
		c.begin(t)
	}
	for _, c := range children {
		if said := c.await(t, "failed"); said != "failed 0" {
			t.Errorf("a process says %q", said)
		}
	}
	alive := 0
	for _, g := range all {
		if s.alive(g) {
			alive++
		}
	}
	if n := s.requests(); n != 100 || alive != 100 {
		t.Errorf("%d requests, %d alive; want 100 of each", n, alive)
	}
}

// TestAStoppedWriterChangesNothing stops a process between the provider's response and its commit, lets another take
// over the grant after the lease has ended, and resumes the first.
func TestAStoppedWriterChangesNothing(t *testing.T) {
	t.Parallel()
	for rotation, want := range map[string]social.Outcome{oauth.Grace: social.Renewed, oauth.Strict: social.Refused} {
		t.Run(rotation, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, nil)
			s.knobs("x", oauth.Knobs{Rotation: rotation})
			g := s.grants("x", "x", 1, time.Hour)[0]
			r := s.refresher()
			c := s.start(childOrders{Do: "attempt", Claim: s.sweep(r)[0], At: "after answer", By: syscall.SIGSTOP})
			c.begin(t)
			testkit.AwaitStop(t, c.cmd.Process)
			until(t, "the lease is over", func() bool { return s.stands(g).RefreshAt.Before(time.Now()) })
			if out := s.one(r); out != want {
				t.Fatalf("the next attempt: %s, want %s", out, want)
			}
			before := s.stands(g)
			if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if said := c.await(t, "ended"); said != "ended moved <nil>" {
				t.Errorf("the stopped process says %q", said)
			}
			after := s.stands(g)
			if after.Version != before.Version || after.Status != before.Status {
				t.Errorf("version %d, %s became version %d, %s", before.Version, before.Status, after.Version,
					after.Status)
			}
			if !same(after.Refresh, before.Refresh) {
				t.Error("the refresh token was changed")
			}
			if !same(after.Access, before.Access) {
				t.Error("the access token was changed")
			}
			held, newest := s.holder(g)
			if after.Status == "active" && (!held.Alive || !newest) {
				t.Errorf("an active grant, but at the provider: alive %v, the newest token %v", held.Alive, newest)
			}
			if after.Status != "active" && after.Reason != social.RotationOutcomeLost {
				t.Errorf("%s because of %v, want %v", after.Status, after.Reason, social.RotationOutcomeLost)
			}
		})
	}
}

// TestAKilledRefreshLosesNoLoginSilently kills real processes around the request: whatever the step and the provider's
// handling of spent tokens, the login either survives or is reported as lost.
func TestAKilledRefreshLosesNoLoginSilently(t *testing.T) {
	t.Parallel()
	steps := []string{"before call", "after answer", "after spool", "after commit"}
	type cell struct{ rotation, step string }
	type tally struct{ alive, recovered, lost int }
	table := map[cell]*tally{}
	shores := map[string]*shore{}
	for _, rotation := range []string{oauth.Strict, oauth.Grace} {
		shores[rotation] = newShore(t, nil)
		shores[rotation].places.Lease = time.Second
		shores[rotation].knobs("x", oauth.Knobs{Rotation: rotation})
	}
	n := *kills
	if testing.Short() {
		n = min(n, 8)
	}
	for i := range n {
		c := cell{[]string{oauth.Strict, oauth.Grace}[i%2], steps[i/2%4]}
		if table[c] == nil {
			table[c] = &tally{}
		}
		s := shores[c.rotation]
		g := s.grants("herd", "x", 1, time.Hour)[0]
		r := s.refresher()
		victim := s.start(childOrders{Do: "attempt", Claim: s.sweep(r)[0], At: c.step, By: syscall.SIGKILL})
		victim.begin(t)
		_ = victim.cmd.Wait()
		if status, ok := victim.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
			status.Signal() != syscall.SIGKILL {
			t.Fatalf("%v: the process was not killed: %v", c, victim.cmd.ProcessState)
		}
		// First a worker restarts, then the grant is claimed again after the lease.
		n, err := r.Replay(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		table[c].recovered += n
		if s.stands(g).Attempt != nil {
			until(t, "the lease is over", func() bool { return s.stands(g).RefreshAt.Before(time.Now()) })
			s.one(r)
		}
		switch row := s.stands(g); {
		case s.alive(g):
			table[c].alive++
		case row.Status == "reauth_required" && row.Reason == social.RotationOutcomeLost &&
			slices.Contains(s.told, g.grant):
			table[c].lost++
		default:
			t.Errorf("%v: lost in silence: %+v", c, row)
		}
	}
	for c, n := range table {
		t.Logf("%-7s killed %-13s alive %d (%d from the spool), said to be lost %d", c.rotation, c.step, n.alive,
			n.recovered, n.lost)
		if lossless := c.rotation == oauth.Grace || c.step != "after answer"; lossless && n.lost > 0 {
			t.Errorf("%v: %d logins were lost", c, n.lost)
		}
		if c.step == "after spool" && n.recovered != n.alive {
			t.Errorf("%v: %d of %d came from the spool", c, n.recovered, n.alive)
		}
	}
}

func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !holds(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within five minutes: %s", what)
		}
	}
}
