package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// watchdog runs "$@" until standard input ends or has a line. Then it sends signal $1, waits, and removes the directory
// $2 if one is given and the line was not "keep". Descriptor 3 is inherited by the server alone, 4 (the lock) by both.
const watchdog = `sig=$1; gone=$2; shift 2
"$@" </dev/null &
p=$!
exec 3>&-
read -r word
kill -"$sig" $p 2>/dev/null
kill -CONT $p 2>/dev/null
wait $p
[ -z "$gone" ] || [ "$word" = keep ] || rm -rf "$gone"`

// command describes a server to start.
type command struct {
	argv   []string
	dir    string // the working directory, with the lock and the log
	name   string // of the log: <name>.log
	user   *owner
	signal string   // for a graceful stop
	remove string   // directory to remove with the server, "" for none
	libs   string   // LD_LIBRARY_PATH of fetched programs, "" for none
	env    []string // more variables
}

// process is a running server behind its watchdog.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   string
	from  int64         // offset in the log at which this run begins
	gone  chan struct{} // closed when none of its processes is left
}

// startProcess waits until an earlier server of the same directory is gone, runs prepare, and starts the server.
func startProcess(ctx context.Context, c command, prepare func() error) (*process, error) {
	lock, err := awaitLock(ctx, filepath.Join(c.dir, "server.lock"))
	if err != nil {
		return nil, err
	}

	defer func() { _ = lock.Close() }() // the server keeps its descriptor

	if err := prepare(); err != nil {
		return nil, err
	}

	p := &process{log: filepath.Join(c.dir, c.name+".log"), gone: make(chan struct{})}
	if fi, err := os.Stat(p.log); err == nil && fi.Size() > 8<<20 {
		_ = os.Rename(p.log, p.log+".1")
	}

	log, err := os.OpenFile(p.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}

	defer func() { _ = log.Close() }()

	p.from, _ = log.Seek(0, io.SeekEnd)

	alive, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}

	defer func() { _ = hold.Close() }()

	// Not CommandContext: a context's end would kill the server, and Stop ends it gracefully.
	args := append([]string{"-c", watchdog, "sh", c.signal, c.remove}, c.argv...)
	p.cmd = exec.Command("/bin/sh", args...) //nolint:noctx // see above
	p.cmd.Dir, p.cmd.Env = c.dir, append(serverEnv(c.libs), c.env...)
	p.cmd.Stdout = log
	p.cmd.Stderr = log
	p.cmd.ExtraFiles = []*os.File{hold, lock}
	// A separate process group, so that Ctrl-C reaches us and not the server.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.user.credential()}
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}

	if err != nil {
		_ = alive.Close()
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}

	go func() { // ends with the server; Stop waits for it
		defer close(p.gone)
		_, _ = io.Copy(io.Discard, alive)
		_ = alive.Close()
		_ = p.stdin.Close()
		_ = p.cmd.Wait()
	}()

	return p, nil
}

// stop ends the server gracefully, or immediately when ctx ends first, and waits for it.
func (p *process) stop(ctx context.Context) error {
	_ = p.stdin.Close()
	select {
	case <-p.gone:
		return nil
	case <-ctx.Done():
	}

	// On QUIT Postgres stops immediately and signals its children. KILL ends the rest of the group.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGQUIT)
	select {
	case <-p.gone:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.gone
	}

	return ctx.Err()
}

// stopKeeping is stop, except that the directory to remove stays for the server's next start.
func (p *process) stopKeeping(ctx context.Context) error {
	_, _ = io.WriteString(p.stdin, "keep\n")
	return p.stop(ctx)
}

// awaitReady calls probe until it succeeds. If the server ends first, the error quotes its log.
func (p *process) awaitReady(ctx context.Context, probe func(context.Context) error) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()

	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}

		select {
		case <-p.gone:
			return fmt.Errorf("exited during startup: %s", p.logComplaint())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("not ready in time: %w", err), p.stop(ctx))
		case <-tick.C:
		}
	}
}

// logComplaint returns the most informative line of this run's log.
func (p *process) logComplaint() string {
	f, err := os.Open(p.log)
	if err != nil {
		return "no log"
	}

	defer func() { _ = f.Close() }()

	_, _ = f.Seek(p.from, io.SeekStart)

	return lastComplaint(f)
}

// lastComplaint returns the last line with an error, else the last line.
func lastComplaint(r io.Reader) string {
	last := "no word of why"
	best := ""
	for s := bufio.NewScanner(r); s.Scan(); {
		last = s.Text()
		if low := strings.ToLower(last); strings.Contains(low, "fatal") || strings.Contains(low, "panic") ||
			strings.Contains(low, "error:") {
			best = last
		}
	}

	if best != "" {
		return best
	}

	return last
}

// awaitLock takes the lock at path, which an earlier server holds while any of its processes lives.
func awaitLock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}

	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()

	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}

		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("an earlier server is still running in %s", filepath.Dir(path))
		case <-tick.C:
		}
	}
}

// serverEnv returns the variables that a server needs, with libs first in LD_LIBRARY_PATH. It excludes secrets in an
// operator's settings, and PGDATA, PGPORT and their kin.
func serverEnv(libs string) []string {
	keep := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}, name)
	})
	if libs != "" {
		const name = "LD_LIBRARY_PATH="
		i := slices.IndexFunc(keep, func(kv string) bool { return strings.HasPrefix(kv, name) })
		if i < 0 {
			keep = append(keep, name+libs)
		} else {
			keep[i] = name + libs + ":" + strings.TrimPrefix(keep[i], name)
		}
	}

	return append(keep, "LC_ALL=C", "TZ=UTC")
}

// runTool runs a tool to completion as the given user, with libs as serverEnv has it. Its error quotes the tool's
// last line.
func runTool(ctx context.Context, dir string, u *owner, libs string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, serverEnv(libs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: u.credential()}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}

	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(argv[0]), err,
			lastComplaint(bytes.NewReader(out)))
	}

	return nil
}
