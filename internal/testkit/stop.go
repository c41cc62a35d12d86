package testkit

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// Stop stops the child process with SIGSTOP and returns once none of its threads runs any more. SIGCONT resumes it.
//
// kill(2) returns earlier than that: the signal first waits for one thread to be scheduled, and until then the others
// go on. On a busy machine that is long enough for a process to write what the test means to prevent.
func Stop(t testing.TB, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatalf("testkit: stop: %v", err)
	}
	AwaitStop(t, p)
}

// AwaitStop returns once the child process, which something has sent a SIGSTOP, stands still with all its threads.
func AwaitStop(t testing.TB, p *os.Process) {
	t.Helper()
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || !status.Stopped() {
			t.Fatalf("testkit: a process did not stop: %v, status %#x", err, status)
		}
		return
	}
}
