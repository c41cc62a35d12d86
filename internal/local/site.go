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

// site is where one server lives.
type site struct {
	dir    string
	user   *owner // nil: ours
	remove string // what goes away with the server
}

// place is the site of the server called name: in the home, or, without one, in a directory of its own that
// is removed when the server ends. In memory it may be where nothing has to outlive the server.
func place(home, name string, memory bool) (site, error) {
	if home != "" {
		dir, u, err := seat(home, name)
		return site{dir: dir, user: u}, err
	}
	var u *owner
	if os.Geteuid() == 0 {
		var err error
		if u, err = unprivileged(); err != nil {
			return site{}, err
		}
	}
	parent := os.TempDir()
	if memory && roomy(shared) {
		parent = shared
	}
	if len(parent) > 60 || u != nil && !reachable(parent) {
		parent = "/tmp"
	}
	dir, err := makeDir(parent, u)
	return site{dir: dir, user: u, remove: dir}, err
}

// shared is a file system in memory, on Linux.
const shared = "/dev/shm"

// roomy tells whether dir is there with room for a few servers: a container's is often of 64 MB.
func roomy(dir string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Bavail >= 4<<30/uint64(fs.Bsize) // whose type differs between systems
}

// discard removes what a server that never started would have removed.
func (s site) discard() {
	if s.remove != "" {
		_ = os.RemoveAll(s.remove)
	}
}

// socketDir is a directory for the socket called name: the site itself, or one of a short name in /tmp where
// the path would pass the 103 bytes that a socket's address has (107 on Linux), has a comma, which clients of
// Postgres take for the end of a host, or the file system has no sockets. Empty where none can be had.
func (s *site) socketDir(name string) (string, error) {
	if len(filepath.Join(s.dir, name)) <= 103 && !strings.Contains(s.dir, ",") && s.takesSockets(s.dir) {
		return s.dir, nil
	}
	dir, err := makeDir("/tmp", s.user)
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

// freePort is a loopback port that nobody listens on, below the range (32768 on) from which the kernel gives
// ports to outgoing connections, one of which could take it before the server does.
func freePort() (int, error) {
	var err error
	for range 200 {
		port := 20000 + rand.IntN(12768) //nolint:gosec // no secret
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil { //nolint:noctx // answers at once
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port: %w", err)
}
