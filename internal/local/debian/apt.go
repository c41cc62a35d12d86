package debian

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// apt runs the machine's apt with private directories.
type apt struct {
	config   string // the file of settings for the machine's lists
	private  string // the one for the store's own lists
	download string // the directory for packages
	lock     *os.File
	limit    time.Duration
	log      *slog.Logger
}

// settings apply after those of the machine. Hooks of `update` are for root. Nothing is fetched that is not needed. A
// source that does not reply is given up.
const settings = `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Get::AllowUnauthenticated "false";
APT::Get::Assume-Yes "true";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::Retries "0";
Acquire::http::Timeout "10";
Acquire::https::Timeout "10";
Dir::Cache %s;
`

// newApt prepares the directories in work, which is empty, and the files of settings.
func newApt(work, lists string, lock *os.File, limit time.Duration, log *slog.Logger) (*apt, error) {
	for _, name := range []string{"apt-get", "apt-cache", "dpkg-deb"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("this machine has no %s", name)
		}
	}

	a := &apt{
		config: filepath.Join(work, "machine.conf"), private: filepath.Join(work, "private.conf"),
		download: filepath.Join(work, "download"), lock: lock, limit: limit, log: log,
	}
	cache := filepath.Join(work, "cache")
	for _, dir := range []string{
		filepath.Join(lists, "partial"), filepath.Join(cache, "archives", "partial"), a.download,
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // apt downloads as another user
			return nil, err
		}
	}

	text := fmt.Sprintf(settings, quoteValue(cache))
	if os.Geteuid() == 0 && !giveToSandbox(a.download) {
		text += "APT::Sandbox::User \"root\";\n"
	}

	err := os.WriteFile(a.config, []byte(text), 0o600)

	return a, errors.Join(err, os.WriteFile(a.private,
		[]byte(text+"Dir::State::lists "+quoteValue(lists)+";\n"), 0o600))
}

// quoteValue returns a value of apt's configuration, which has no escapes.
func quoteValue(value string) string { return `"` + value + `"` }

// giveToSandbox gives dir to the user as which root's apt downloads, and reports whether there is such a user.
func giveToSandbox(dir string) bool {
	u, err := user.Lookup("_apt")
	if err != nil {
		return false
	}
	uid, err := strconv.Atoi(u.Uid)
	return err == nil && os.Chown(dir, uid, -1) == nil
}

// run runs a program of apt or dpkg in dir and returns its output. Its error has one line of the program's complaint.
// The output's lines of progress are logged with the name of the step.
func (a *apt) run(ctx context.Context, step, dir string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()

	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, aptEnv()
	cmd.ExtraFiles = []*os.File{a.lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}

	if err != nil {
		return "", err
	}

	said := a.logProgress(ctx, step, out)
	err = cmd.Wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s did not end within %v%s", filepath.Base(argv[0]), a.limit,
			prefixed(": ", aptComplaint(said+complaints.String())))
	case err != nil:
		return "", fmt.Errorf("%s: %s", filepath.Base(argv[0]),
			cmp.Or(aptComplaint(complaints.String()), aptComplaint(said), err.Error()))
	default:
		return said, nil
	}
}

// logProgress logs the lines of progress in out, at most one in two seconds, and returns the other lines.
func (a *apt) logProgress(ctx context.Context, step string, out io.Reader) string {
	var said strings.Builder
	last := time.Now()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		status, isStatus := strings.CutPrefix(lines.Text(), "dlstatus:")
		if !isStatus {
			said.WriteString(lines.Text() + "\n")
			continue
		}

		fields := strings.SplitN(status, ":", 3)
		if percent, err := strconv.ParseFloat(fields[min(1, len(fields)-1)], 64); err == nil &&
			time.Since(last) > 2*time.Second {
			a.log.InfoContext(ctx, "apt is working", "step", step, "percent", int(percent))
			last = time.Now()
		}
	}

	_, _ = io.Copy(io.Discard, out)

	return said.String()
}

// login matches what a URL of a source may have before its host.
var login = regexp.MustCompile(`://[^/@\s]+@`)

// aptComplaint returns the line of apt's output that says most about a failure, without logins.
func aptComplaint(output string) string {
	lines := strings.Split(output, "\n")
	for _, prefix := range []string{"E: ", "W: Failed to fetch ", "Err:", "dpkg-deb: error: "} {
		if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) }); i >= 0 {
			line := strings.Join(strings.Fields(strings.TrimPrefix(lines[i], prefix)), " ")
			return login.ReplaceAllString(line, "://")
		}
	}

	return ""
}

// prefixed returns prefix and text, or "" if there is no text.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// aptEnv returns the variables that apt needs. It excludes secrets in an operator's settings.
func aptEnv() []string {
	keep := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{
			"PATH", "HOME", "TMPDIR", "APT_CONFIG", "http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy",
			"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		}, name)
	})
	return append(keep, "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
}
