// Package local runs a private Postgres and a private Redis on a machine without servers, for `up` and for tests.
//
// # Guarantees
//
// A private server listens on a unix socket in a directory that only its user may enter (on a loopback port with a
// password if the file system has no sockets). As root it runs under an unprivileged user. It ends when the process
// that started it ends, however that happens, and a later start always finds a usable directory.
//
// # Where the programs come from
//
// Both `up` and the tests look in this order: binaries installed on the machine; binaries that an earlier start
// fetched; the distribution's packages, which package debian fetches and unpacks without root; for Postgres, Maven's
// binaries; for Redis, an in-process server. A log line names the source and why the one before it was not used. A data
// directory needs the major version that made it, so that version alone is looked for.
//
// Fetched programs are in `packages` of the home or, without a home, of the user's cache directory. They stay at their
// version until the directory is removed. Each way to fetch one is bounded in time, and a fetch that is killed leaves
// nothing that a later start takes for whole.
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
