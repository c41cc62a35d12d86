// Package keyring changes the keys under which the database's secrets are sealed, while everything runs.
//
// # Why two steps
//
// A process that lacks a key cannot read what another sealed with it. So a new key is added first, which opens and
// does not seal; it becomes the primary one when every running process holds it; and then what older keys sealed is
// sealed anew, in small batches beside the traffic. Nothing is unreadable at any moment.
//
// # Who runs
//
// A long-running process keeps a row in table process: which keys it holds and which of them seals. It writes the row
// before it reads or seals anything (Enter), and again every two seconds (Presence.Run). The promotion takes a lock
// on that table, looks at the rows, and writes down the key as promoted: whoever enters later meets the promoted key
// and refuses to start without it, whoever entered before was looked at. A row that is older than Gone is of a process that
// cannot reach Postgres, and so reads no sealed row either; when it comes back its next beat finds the promoted key
// missing, and it takes it from the file, or ends where the keyset is a setting.
//
// # When a key may go
//
// Retire refuses while a row is sealed under the key, while a process seals with it or did so within the last
// quarter of an hour, and while a refresh of tokens that began before the promotion is still open, since its answer
// may lie sealed on a worker's disk.
package keyring
