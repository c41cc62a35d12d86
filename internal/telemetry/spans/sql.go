package spans

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// SQL is a tracer for pgx. A batch, which is one round trip, is one span. A span has the text of the statement without
// the literals in it, and never its arguments.
type SQL struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (SQL) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return startSQL(ctx, data.SQL, 1)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (SQL) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	endSQL(ctx, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer. The span shows the last statement that is not the end of the
// transaction: the statements before it set up the transaction, or write what it depends on.
func (SQL) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queued := data.Batch.QueuedQueries
	shown := len(queued) - 1
	for shown > 0 && (queued[shown].SQL == "COMMIT" || strings.HasPrefix(queued[shown].SQL, "RELEASE ")) {
		shown--
	}

	if shown < 0 {
		return ctx
	}

	return startSQL(ctx, queued[shown].SQL, len(queued))
}

// TraceBatchQuery implements pgx.BatchTracer.
func (SQL) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (SQL) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	endSQL(ctx, data.Err)
}

type sqlKey struct{}

// startSQL starts a span, if the context's span is recorded. The returned context also has the new span under a key of
// its own, so that endSQL never ends a span which startSQL did not start.
func startSQL(ctx context.Context, sql string, statements int) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}

	text := redactSQL(sql)
	verb, _, _ := strings.Cut(text, " ")
	ctx, span := Start(ctx, "SQL "+verb, trace.SpanKindClient, attribute.String("db.system.name", "postgresql"),
		attribute.String("db.query.text", text), attribute.Int("db.operation.batch.size", statements))
	return context.WithValue(ctx, sqlKey{}, span)
}

func endSQL(ctx context.Context, err error) {
	span, ok := ctx.Value(sqlKey{}).(trace.Span)
	if !ok {
		return
	}
	if err != nil {
		if spoke, ok := errors.AsType[*pgconn.PgError](err); ok {
			span.SetAttributes(attribute.String("db.response.status_code", spoke.Code))
		}
		Fail(span)
	}

	span.End()
}
