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
	// dead where it died: both are the protocol at work. While Redis is away the relay has said so.
	if l.link.isDown() || strings.Contains(text, "NOT FOUND") || strings.HasPrefix(text, "Could not move task") || strings.HasPrefix(text, "Retry exhausted") {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, "asynq", "text", text)
}

func (l logger) Debug(args ...any) { l.at(slog.LevelDebug, args) }
func (l logger) Info(args ...any)  { l.at(slog.LevelDebug, args) }
func (l logger) Warn(args ...any)  { l.at(slog.LevelWarn, args) }
func (l logger) Error(args ...any) { l.at(slog.LevelWarn, args) }

// Fatal does not end the process: that is not a library's to decide.
func (l logger) Fatal(args ...any) { l.at(slog.LevelError, args) }
