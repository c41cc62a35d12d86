// Package keyring rotates the keys that encrypt the secrets in the database, without downtime.
//
// # Why two steps
//
// A process without a key cannot read what another process sealed with it. A rotation therefore adds the new key first,
// for decryption only. When every running process holds the key, it becomes the primary one. A job then reseals what
// older keys sealed, in small batches beside the traffic. Every ciphertext stays readable throughout.
//
// # Running processes
//
// Each long-running process keeps a row in table process, which lists the keys that it holds and its primary key. The
// process writes the row before it reads or seals anything (Enter), and again every two seconds (Presence.Run). A
// promotion locks that table, reads the rows and records the key as promoted. A process that enters later finds the
// promoted key recorded and refuses to start without it; a process that entered before was checked. A row older than
// Gone belongs to a process that cannot reach Postgres, and so reads no sealed row either. When that process comes
// back, its next heartbeat finds that the promoted key is missing: it loads the key from the file, or exits if its
// keyset is a setting. Until then it is not ready: each probe of /readyz compares its keys with the promoted ones.
//
// The first process of a database records its primary key as promoted, once it has seen that it opens what is sealed
// there. A process with the keyset of another installation is therefore refused at its start.
//
// # When a key may be retired
//
// Retire refuses while a row is sealed under the key, while a process seals with it or did so within the last quarter
// of an hour, and while a token refresh that began before the promotion is still open, since its response may lie
// sealed on a worker's disk.
package keyring
