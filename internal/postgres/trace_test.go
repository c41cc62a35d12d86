package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// sent is the statements of each round trip.
type sent struct {
	mu    sync.Mutex
	trips [][]string
}

func (s *sent) add(trip ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trips = append(s.trips, trip)
}

func (s *sent) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.add(d.SQL)
	return ctx
}

func (*sent) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *sent) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	var trip []string
	for _, q := range d.Batch.QueuedQueries {
		trip = append(trip, q.SQL)
	}
	s.add(trip...)
	return ctx
}

func (*sent) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*sent) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func TestATransactionThatIsNotTracedSendsNoStatementMore(t *testing.T) {
	t.Parallel()
	var trips sent
	db, err := postgres.Open(t.Context(), postgres.Options{
		URL: testkit.DB(t).URL, Role: postgres.App, MaxConns: 1, Tracer: &trips,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	tracer := spans.New(spans.Options{
		Exporter: tracetest.NewInMemoryExporter(), Share: 1, Service: "test", Log: testkit.Log(t),
	})
	org := id.New()
	// write returns the number of statements in the round trips of a transaction of one insert, of one that also reads,
	// and of a read.
	write := func(ctx context.Context) (lengths []int) {
		if err := db.Ping(ctx); err != nil { // sets the role of the session
			t.Fatal(err)
		}
		trips.trips = nil
		insertion := func(tx *postgres.Tx) { tx.Queue(insert, org, id.New(), "a") }
		reading := func(tx *postgres.Tx) error {
			var n int
			return tx.QueryRow(ctx, "SELECT count(*) FROM job", nil, &n)
		}
		for _, err := range []error{
			db.Tx(ctx, org, func(tx *postgres.Tx) error {
				insertion(tx)
				return nil
			}),
			db.Tx(ctx, org, func(tx *postgres.Tx) error {
				if err := reading(tx); err != nil {
					return err
				}
				insertion(tx)
				return nil
			}),
			db.ReadTx(ctx, org, reading),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, trip := range trips.trips {
			lengths = append(lengths, len(trip))
		}
		return lengths
	}
	off := write(t.Context())
	if diff := cmp.Diff([]int{2, 3, 2, 2}, off); diff != "" {
		t.Errorf("statements of what is not traced (-want +got):\n%s%v", diff, trips.trips)
	}
	ctx, request := tracer.Request(t.Context(), "")
	defer request.End()
	if diff := cmp.Diff([]int{3, 4, 2, 2}, write(ctx)); diff != "" {
		t.Errorf("statements of what is traced (-want +got):\n%s%v", diff, trips.trips)
	}
}
