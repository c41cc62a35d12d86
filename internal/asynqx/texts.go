package asynqx

import "strings"

// IsIncomplete reports whether err means that a task's hash is in a state whose set does not list the task. No process
// can run or delete such an entry.
func IsIncomplete(err error) bool {
	return err != nil && strings.Contains(err.Error(), "not found in zset")
}

// IsActive reports whether err refused to delete or archive a task because a server has it.
func IsActive(err error) bool {
	return err != nil && strings.Contains(err.Error(), "task in active state")
}

// Text returns the text of an error of asynq without asynq's name.
func Text(err error) string { return strings.TrimPrefix(err.Error(), "asynq: ") }

// IsExpected reports whether a log line of a server needs no attention: a task lost in Redis during its run cannot be
// acknowledged, and the worker itself logs a run's failure.
func IsExpected(line string) bool {
	return strings.Contains(line, "NOT FOUND") || strings.HasPrefix(line, "Could not move task") ||
		strings.HasPrefix(line, "Retry exhausted")
}
