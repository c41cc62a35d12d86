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

// Home is the directory with an installation's state. One process holds it at a time.
type Home struct {
	Dir  string // absolute
	lock *os.File
}

// ErrInUse means that another process holds the home.
var ErrInUse = errors.New("is in use by another funnelwork")

// OpenHome creates dir if it is missing and holds it for this process until Close or the process's end. The error is
// one line for the operator: another process holds it, or it is not writable.
func OpenHome(dir string) (*Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("home %s: %w", dir, err)
	}

	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711 // the servers' user must be able to reach its own directories
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

// Path returns the path of a file of the home.
func (h *Home) Path(name string) string { return filepath.Join(h.Dir, name) }

// The files from which other processes of the same user read the addresses of the private servers.
const (
	databaseURL = "database.url"
	redisURL    = "redis.url"
)

// publish writes the address of a private server to a file of the home, for other processes.
func (h *Home) publish(file, address string) error {
	return os.WriteFile(h.Path(file), []byte(address), 0o600)
}

func (h *Home) withdraw(file string) error { return os.Remove(h.Path(file)) }

// Inhabited reports whether dir is a home with a private Postgres.
func Inhabited(dir string) bool {
	for _, name := range []string{"postgres", "postgres.at"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// readPublished returns what the process that holds the home in dir has published in file.
func readPublished(dir, file string) (string, error) {
	address, err := os.ReadFile(filepath.Join(dir, file))
	return string(address), err
}

// Close releases the home. The servers in it must be stopped first.
func (h *Home) Close() error { return h.lock.Close() }

// serverDir returns the directory for the server called name, and the user to run it as (nil: the current one). As root
// the directory is in the home if that user can reach it, else elsewhere with a pointer `<name>.at` in the home.
func serverDir(home, name string) (string, *owner, error) {
	inside := filepath.Join(home, name)
	if os.Geteuid() != 0 {
		return inside, nil, os.MkdirAll(inside, 0o700)
	}

	if at, err := os.ReadFile(inside + ".at"); err == nil {
		dir := strings.TrimSpace(string(at))
		u, err := ownerOf(dir)
		if err != nil {
			return "", nil, fmt.Errorf("%s.at points to missing data: %w", inside, err)
		}
		return dir, u, nil
	}

	if u, err := ownerOf(inside); err == nil && u.uid != 0 {
		return inside, u, nil
	}

	u, err := unprivilegedUser()
	if err != nil {
		return "", nil, err
	}

	if isReachable(home) {
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

// makeDir creates a new directory in parent that only u may enter.
func makeDir(parent string, u *owner) (string, error) {
	dir, err := os.MkdirTemp(parent, "funnelwork-")
	if err != nil || u == nil {
		return dir, err
	}
	return dir, os.Chown(dir, u.uid, u.gid)
}

// isReachable reports whether every user may pass through dir and all directories above it.
func isReachable(dir string) bool {
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
