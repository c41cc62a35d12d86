package standby_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// traced counts the round trips with a read of whether the server is a standby.
type traced struct{ n atomic.Int64 }

func (t *traced) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*traced) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (t *traced) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	for _, q := range d.Batch.QueuedQueries {
		if strings.HasPrefix(q.SQL, "SELECT pg_is_in_recovery()") {
			t.n.Add(1)
		}
	}
	return ctx
}

func (*traced) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*traced) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func TestReadsOnAStandbyAreTraced(t *testing.T) {
	t.Parallel()
	p := open(t, 0)
	p.inUse() // by a read that was made on the standby
	if p.tracer.n.Load() == 0 {
		t.Error("a read on the standby is not traced")
	}
}
