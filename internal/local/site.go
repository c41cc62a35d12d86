package local

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// site is the location of one server.
type site struct {
	dir    string
	user   *owner // nil: the current user
	remove string // removed with the server
}

// chooseSite returns the site of the server called name: in the home, or, without one, in a new directory that is
// removed when the server ends. If memory is set, that directory may be in memory.
func chooseSite(home, name string, memory bool) (site, error) {
	if home != "" {
		dir, u, err := serverDir(home, name)
		return site{dir: dir, user: u}, err
	}

	var u *owner
	if os.Geteuid() == 0 {
		var err error
		if u, err = unprivilegedUser(); err != nil {
			return site{}, err
		}
	}

	parents := []string{os.TempDir(), "/tmp", "/var/tmp"}
	if memory && hasRoom(shared) {
		parents[0] = shared
	}

	dir, err := makeDir(passingParent(parents, u), u)

	return site{dir: dir, user: u, remove: dir}, err
}

// passingParent returns the first of parents in which a directory of the user u fits a socket and can be removed by u,
// whose watchdog removes it. It returns /tmp if there is none: a /tmp without its usual mode 1777 leaves an empty
// directory.
func passingParent(parents []string, u *owner) string {
	for _, dir := range parents {
		fi, err := os.Stat(dir)
		if err != nil || len(dir) > 60 {
			continue
		}
		if u == nil || isReachable(dir) && fi.Mode().Perm()&0o002 != 0 {
			return dir
		}
	}

	return "/tmp"
}

// shared is an in-memory file system on Linux.
const shared = "/dev/shm"

// hasRoom reports whether dir exists and has room for a few servers: a container's often has 64 MB.
func hasRoom(dir string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Bavail >= 4<<30/uint64(fs.Bsize) // the type differs between systems
}

// discard removes the files of a server that never started.
func (s site) discard() {
	if s.remove != "" {
		_ = os.RemoveAll(s.remove)
	}
}

// socketDir returns a directory for the socket called name. It is the site itself, or one with a short name in /tmp if
// the path would exceed the 103 bytes of a socket's address (107 on Linux), if it has a comma, which Postgres clients
// take for the end of a host, or if the file system has no sockets. It returns "" if there is none.
func (s *site) socketDir(name string) (string, error) {
	if len(filepath.Join(s.dir, name)) <= 103 && !strings.Contains(s.dir, ",") && s.takesSockets(s.dir) {
		return s.dir, nil
	}

	dir, err := makeDir(passingParent([]string{"/tmp", "/var/tmp"}, s.user), s.user)
	if err != nil {
		return "", fmt.Errorf("directory for the socket: %w", err)
	}

	if !s.takesSockets(dir) {
		return "", os.Remove(dir)
	}

	if s.remove == "" {
		s.remove = dir
	}

	return dir, nil
}

func (s *site) takesSockets(dir string) bool {
	path := filepath.Join(dir, ".try")
	_ = os.Remove(path)
	l, err := net.Listen("unix", path) //nolint:noctx // answers at once
	if err != nil {
		return false
	}

	return l.Close() == nil
}

// freePort returns a free loopback port below the range (32768 on) from which the kernel allocates ports for outgoing
// connections, since one of those could take it before the server listens.
func freePort() (int, error) {
	var err error
	for range 200 {
		port := 25000 + rand.IntN(2000) //nolint:gosec // no secret
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil { //nolint:noctx // answers at once
			return port, l.Close()
		}
	}

	return 0, fmt.Errorf("no free port: %w", err)
}
