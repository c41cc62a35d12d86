package segmentsync_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// house is an org with its own database.
type house struct {
	*testing.T
	db  *testkit.Database
	org id.ID
}

func open(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, db: testkit.DB(t), org: id.New()}
	if err := h.db.System.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, h.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	h.Helper()
	if err := h.db.App.Tx(h.Context(), h.org, func(tx *postgres.Tx) error { return fn(h.Context(), tx) }); err != nil {
		h.Fatal(err)
	}
}

func rate(*contacts.Contact) (float64, events.ContactScore) {
	return 10, events.ContactScore{Probability: 0.1, Confidence: "prior", ModelVersion: "test-1"}
}

func (h *house) create(n int) (row contacts.Row) {
	h.Helper()
	h.tx(func(_ context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx,
			&contacts.Patch{
				Email: wire.Some(fmt.Sprintf("p%d@acme.example", n)), FirstName: wire.Some("A"),
				LastName: wire.Some("B"),
			}, rate)
		return err
	})
	return row
}

func (h *house) stage(i id.ID, stage string) {
	h.Helper()
	h.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := contacts.Update(ctx, tx, i, nil, &contacts.Patch{Stage: wire.Some(stage)}, rate)
		return err
	})
}

// customers makes a segment of the customers.
func (h *house) customers() (row segments.Row) {
	h.Helper()
	h.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		row, err = segments.Create(ctx, tx,
			segments.New{Name: "Customers", Filter: []byte(`{"field":"stage","op":"eq","value":"customer"}`)})
		return err
	})
	return row
}

func (h *house) one(sql string) (n int) {
	h.Helper()
	h.tx(func(ctx context.Context, tx *postgres.Tx) error { return tx.QueryRow(ctx, sql, nil, &n) })
	return n
}
