package worker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// logger gives asynq's own lines to slog, one level down: this package logs every run itself.
type logger struct {
	log  *slog.Logger
	link *link
}

func (l logger) at(level slog.Level, args []any) {
	text := fmt.Sprint(args...)
	// A task that was lost in Redis while it ran has nothing to acknowledge, and an archived job is logged as
	// dead where it died: both are the protocol at work. That Redis is away is logged once for the process.
	if l.link.isDown() || strings.Contains(text, "NOT FOUND") || strings.HasPrefix(text, "Could not move task") ||
		strings.HasPrefix(text, "Retry exhausted") || unanswered(text) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, "asynq", "text", text)
}

// unanswered reports whether the text tells of a Redis that does not answer. asynq gives its errors as text alone.
func unanswered(text string) bool {
	for _, sign := range []string{
		"connection refused", "connection reset", "broken pipe", "i/o timeout", "deadline exceeded", "EOF", "connection pool", "CLUSTERDOWN",
		"LOADING", "READONLY", "MASTERDOWN",
	} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

func (l logger) Debug(args ...any) { l.at(slog.LevelDebug, args) }
func (l logger) Info(args ...any)  { l.at(slog.LevelDebug, args) }
func (l logger) Warn(args ...any)  { l.at(slog.LevelWarn, args) }
func (l logger) Error(args ...any) { l.at(slog.LevelWarn, args) }

// Fatal does not end the process: that is not a library's to decide.
func (l logger) Fatal(args ...any) { l.at(slog.LevelError, args) }
