// Package local gives a machine without servers a private Postgres and a private Redis, for `up` and for tests.
//
// # What may be relied on
//
// A private server listens on a unix socket in a directory that only its user may enter (on a loopback port
// with a password where the file system has no sockets). As root it runs under an unprivileged user. It ends
// when the process that started it ends, however that happens, and a start after any such end finds a usable
// directory.
//
// # How a server dies with its parent
//
// Between us and the server stands a shell whose standard input is a pipe that only we hold. The kernel
// closes it when we are gone, kill -9 included; the shell then tells the server to stop and waits for it. A
// second pipe runs the other way: every process of the server holds its write end, so its end of file means
// that none is left. A lock on a file in the directory is handed down in the same manner: while any process
// of an earlier server lives, a new start waits, and once the lock is ours a leftover postmaster.pid or
// socket is known to be stale. No process id is ever trusted.
//
// Linux, macOS and the BSDs; elsewhere give DATABASE_URL and REDIS_URL.
package local
