package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Home is the directory where an installation keeps its state, held by one process at a time.
type Home struct {
	Dir  string // absolute
	lock *os.File
}

// ErrInUse is that another process has the home.
var ErrInUse = errors.New("is in use by another funnelwork")

// OpenHome makes dir where it is missing and takes it for this process until Close or the process's end. The
// error is one line for the operator: another process holds it, or it cannot be written.
func OpenHome(dir string) (*Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("home %s: %w", dir, err)
	}
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711 // the servers' user passes through to its own directories
	}
	if err := os.MkdirAll(abs, mode); err != nil {
		return nil, fmt.Errorf("home cannot be made: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(abs, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("home is not writable: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 20))
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("home %s %w (pid %s)", abs, ErrInUse, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock home %s: %w", abs, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("home is not writable: %w", err)
	}
	return &Home{Dir: abs, lock: f}, nil
}

// Path is the place of a file of the home.
func (h *Home) Path(name string) string { return filepath.Join(h.Dir, name) }

// The files by which other processes of the same user learn how to reach the private servers.
const (
	databaseURL = "database.url"
	redisURL    = "redis.url"
)

// publish tells others, by a file of the home, how to reach a private server.
func (h *Home) publish(file, address string) error {
	return os.WriteFile(h.Path(file), []byte(address), 0o600)
}

func (h *Home) withdraw(file string) error { return os.Remove(h.Path(file)) }

// Inhabited tells whether dir is a home in which a private Postgres has been made.
func Inhabited(dir string) bool {
	for _, name := range []string{"postgres", "postgres.at"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// published is what the process that has the home in dir has published.
func published(dir, file string) (string, error) {
	address, err := os.ReadFile(filepath.Join(dir, file))
	return string(address), err
}

// Close lets another process have the home. Stop the servers in it first.
func (h *Home) Close() error { return h.lock.Close() }

// seat gives the directory that the server called name may fill, and the user to run it as (nil: ours). As
// root it lies in the home if that user can get there, else elsewhere with a pointer `<name>.at` in the home.
func seat(home, name string) (string, *owner, error) {
	inside := filepath.Join(home, name)
	if os.Geteuid() != 0 {
		return inside, nil, os.MkdirAll(inside, 0o700)
	}
	if at, err := os.ReadFile(inside + ".at"); err == nil {
		dir := strings.TrimSpace(string(at))
		u, err := ownerOf(dir)
		if err != nil {
			return "", nil, fmt.Errorf("%s.at points to data that is not there: %w", inside, err)
		}
		return dir, u, nil
	}
	if u, err := ownerOf(inside); err == nil && u.uid != 0 {
		return inside, u, nil
	}
	u, err := unprivileged()
	if err != nil {
		return "", nil, err
	}
	if reachable(home) {
		if err := os.MkdirAll(inside, 0o700); err != nil {
			return "", nil, err
		}
		return inside, u, os.Chown(inside, u.uid, u.gid)
	}
	dir, err := makeDir("/var/lib", u)
	if err != nil {
		dir, err = makeDir("/tmp", u)
	}
	if err != nil {
		return "", nil, err
	}
	return dir, u, os.WriteFile(inside+".at", []byte(dir+"\n"), 0o600)
}

// makeDir makes a new directory in parent that u alone may enter.
func makeDir(parent string, u *owner) (string, error) {
	dir, err := os.MkdirTemp(parent, "funnelwork-")
	if err != nil || u == nil {
		return dir, err
	}
	return dir, os.Chown(dir, u.uid, u.gid)
}

// reachable tells whether everybody may pass through dir and all directories above it.
func reachable(dir string) bool {
	for {
		fi, err := os.Stat(dir)
		if err != nil || fi.Mode().Perm()&0o001 == 0 {
			return false
		}
		up := filepath.Dir(dir)
		if up == dir {
			return true
		}
		dir = up
	}
}
