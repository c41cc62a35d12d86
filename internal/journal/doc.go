// Package journal keeps in files of the home what Postgres cannot take yet: new tokens of accounts, and final replies
// of mail servers.
//
// A Dir writes files atomically: a file is whole or does not exist, wherever the process is killed. Its files can be
// read by their owner only. An Owned file belongs to a process until that process ends, in whichever way: then another
// process with the same directory may adopt it. Several processes may share a directory.
//
// AppendLine and Lines give each line of a file a checksum, so that a line that was damaged is left out and the other
// lines are not.
package journal
