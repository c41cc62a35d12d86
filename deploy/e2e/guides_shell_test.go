package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	curlFailed = 22 // curl's exit status for a response of 400 or above, with --fail-with-body
	endOfBlock = "-- end of block --"
	// shellTime limits one block. A block takes milliseconds; one that waits for input would take forever.
	shellTime = time.Minute
)

// shell is a bash into which blocks are pasted, one after the other.
type shell struct {
	dir    string
	in     io.WriteCloser
	out    *bufio.Reader
	said   spoken // stderr
	cancel context.CancelFunc
	n      int
}

// curlThatFails is a curl that exits with 22 on a response of 400 or above, and notes each failure. The guides use
// plain curl, which prints such a response and succeeds.
const curlThatFails = `#!/bin/bash
%s --fail-with-body "$@"
status=$?
[ $status = 0 ] || echo "$status curl $*" >>%s
exit $status
`

// newShell starts a bash in dir, whose PATH begins with dirs.
func newShell(ctx context.Context, dir string, dirs ...string) (*shell, error) {
	s := &shell{dir: dir}
	curl, err := exec.LookPath("curl")
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	script := fmt.Sprintf(curlThatFails, curl, s.failures())
	if err := os.WriteFile(filepath.Join(bin, "curl"), []byte(script), 0o755); err != nil {
		return nil, err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-s")
	path := strings.Join(append(append([]string{bin}, dirs...), os.Getenv("PATH")), string(os.PathListSeparator))
	cmd.Dir, cmd.Env, cmd.Stderr = dir, []string{"PATH=" + path, "HOME=" + dir}, &s.said
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(s.in, "set -E -o pipefail; trap 'echo \"$? $BASH_COMMAND\" >>%s' ERR\n", s.failures())
	return s, err
}

func (s *shell) failures() string { return filepath.Join(s.dir, "failures") }

// close ends the shell.
func (s *shell) close() { s.cancel() }

// paste runs text and returns what it printed. It fails if a command fails, or curl gets a status of 400 or above;
// with mayRefuse the latter is no error.
func (s *shell) paste(text string, mayRefuse bool) (string, error) {
	if err := os.WriteFile(s.failures(), nil, 0o600); err != nil {
		return "", err
	}
	s.n++
	file := filepath.Join(s.dir, "block"+strconv.Itoa(s.n)+".sh")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := checkSyntax(file); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(s.in, ". %s\nprintf '\\n%%s\\n' '%s'\n", file, endOfBlock); err != nil {
		return "", err
	}
	timer := time.AfterFunc(shellTime, s.cancel)
	defer timer.Stop()
	var out strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return out.String(), fmt.Errorf("the shell ended or waits: %w\n%s%s", err, out.String(), s.said.String())
		}
		if strings.TrimSpace(line) == endOfBlock {
			break
		}
		out.WriteString(line)
	}
	failed, err := os.ReadFile(s.failures())
	if err != nil {
		return "", err
	}
	refused := false
	for line := range strings.Lines(string(failed)) {
		if !mayRefuse || !strings.HasPrefix(line, strconv.Itoa(curlFailed)+" ") {
			return out.String(), fmt.Errorf("failed with status %s%s%s", line, out.String(), s.said.String())
		}
		refused = true
	}
	if mayRefuse && !refused {
		return out.String(), fmt.Errorf("no call was refused:\n%s", out.String())
	}
	return out.String(), nil
}

func checkSyntax(file string) error {
	if out, err := exec.Command("bash", "-n", file).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
