package spans

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Redis is a hook for go-redis. Its spans have the names of commands, and neither keys nor values.
type Redis struct{}

// DialHook implements redis.Hook.
func (Redis) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (Redis) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !trace.SpanFromContext(ctx).IsRecording() {
			return next(ctx, cmd)
		}
		return roundTrip(ctx, cmd.Name(), 1, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements redis.Hook.
func (Redis) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if !trace.SpanFromContext(ctx).IsRecording() {
			return next(ctx, cmds)
		}
		return roundTrip(ctx, "pipeline", len(cmds), func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

func roundTrip(ctx context.Context, name string, commands int, do func(context.Context) error) error {
	ctx, span := Start(ctx, "redis "+name, trace.SpanKindClient, attribute.String("db.system.name", "redis"),
		attribute.Int("db.operation.batch.size", commands))
	defer span.End()

	err := do(ctx)
	if err != nil && !errors.Is(err, redis.Nil) {
		Fail(span)
	}

	return err
}
