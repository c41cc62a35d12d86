package testkit

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
)

// holdEvents fails t for each event or test send in the database that violates its type's schema. It ignores rows with
// {} as data, which tests insert by SQL; no announced event has that.
func holdEvents(t testing.TB, url string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Errorf("testkit: events were not checked: %v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, _ := conn.Query(ctx, `
		SELECT org_id, id, seq, type, actor_type, actor_id, request_id, data, created_at FROM event
		WHERE data::text <> '{}' ORDER BY seq DESC LIMIT 2000`)
	emitted, err := pgx.CollectRows(rows, pgx.RowToStructByPos[events.Stored])
	if err != nil {
		t.Errorf("testkit: events were not checked: %v", err)
		return
	}
	for i := range emitted {
		eventstest.Check(t, emitted[i].Bytes())
	}
	rows, _ = conn.Query(ctx, `SELECT body FROM webhook_delivery WHERE body IS NOT NULL ORDER BY id DESC LIMIT 500`)
	tests, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
	if err != nil {
		t.Errorf("testkit: test sends were not checked: %v", err)
	}
	for _, body := range tests {
		eventstest.Check(t, body)
	}
}
