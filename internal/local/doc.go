// Package local runs a private Postgres and a private Redis on a machine without servers, for `up` and for tests.
//
// # Guarantees
//
// A private server listens on a unix socket in a directory that only its user may enter (on a loopback port with a
// password if the file system has no sockets). As root it runs under an unprivileged user. It ends when the process
// that started it ends, however that happens, and a later start always finds a usable directory.
//
// # How a server ends with its parent
//
// The server is the child of a shell whose standard input is a pipe that only this process holds. The kernel closes the
// pipe when this process ends, even by kill -9. The shell then signals the server to stop and waits for it. A second
// pipe runs the other way: every process of the server holds its write end, so end of file means that none is left. A
// lock on a file in the directory is inherited in the same way: while any process of an earlier server lives, a new
// start waits, and once it holds the lock, a leftover postmaster.pid or socket is known to be stale. Process ids are
// never trusted.
//
// This works on Linux, macOS and the BSDs. Elsewhere set DATABASE_URL and REDIS_URL.
package local
