package worker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/asynqx"
)

// logger passes asynq's log lines to slog, one level lower, because this package logs every run itself.
type logger struct {
	log    *slog.Logger
	health *redisHealth
}

func (l logger) logAt(level slog.Level, args []any) {
	text := fmt.Sprint(args...)
	// The process logs once that Redis is down.
	if l.health.down.Load() || asynqx.IsExpected(text) || isRedisSilent(text) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, "asynq", "text", text)
}

// isRedisSilent reports whether the text says that Redis does not respond. asynq gives its errors only as text.
func isRedisSilent(text string) bool {
	return slices.ContainsFunc([]string{
		"connection refused", "connection reset", "broken pipe", "i/o timeout", "deadline exceeded", "EOF",
		"connection pool", "CLUSTERDOWN", "LOADING", "READONLY", "MASTERDOWN",
	}, func(sign string) bool { return strings.Contains(text, sign) })
}

func (l logger) Debug(args ...any) { l.logAt(slog.LevelDebug, args) }
func (l logger) Info(args ...any)  { l.logAt(slog.LevelDebug, args) }
func (l logger) Warn(args ...any)  { l.logAt(slog.LevelWarn, args) }
func (l logger) Error(args ...any) { l.logAt(slog.LevelWarn, args) }

// Fatal does not end the process: a library must not decide that.
func (l logger) Fatal(args ...any) { l.logAt(slog.LevelError, args) }
