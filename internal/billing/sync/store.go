package sync

import (
	"context"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// storeEvent writes an event and enqueues its job. A known event is left unchanged.
func (s *Service) storeEvent(ctx context.Context, e *stripe.Event, body []byte, connect bool, source string) error {
	customer, object := subjectOf(e)
	var org id.ID
	var err error

	switch {
	case connect: // the account decides, regardless of the customer
		org, err = s.connect.OwnerOf(ctx, e.Account)
	case strings.HasPrefix(string(e.Type), "application_fee."): // the platform's own event about a connected account
		account, _ := e.Data.Object["account"].(string)
		org, err = s.connect.OwnerOf(ctx, account)
	case customer != "" && e.Account == "":
		org, err = s.findOwner(ctx, customer)
	}

	if err != nil {
		return err
	}

	result := "stored"
	err = s.System.Tx(ctx, org, func(tx *postgres.Tx) error { // one round trip; a unique index rejects duplicates
		tx.Queue(`INSERT INTO stripe_event (org_id, id, connect, account, type, customer, object_id, created_at,
			source, payload)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			org, e.ID, connect, e.Account, string(e.Type), customer, object, billing.UnixTime(e.Created),
			source, string(body))
		return s.Arrived(ctx, tx, e.ID)
	})
	if postgres.Violates(err, "stripe_event_id_key") || postgres.Violates(err, "stripe_event_pkey") {
		result = "known"
		err = nil
	}
	if err != nil {
		return fmt.Errorf("store event: %w", err)
	}
	if result == "stored" && source == "sync" {
		result = "fetched"
		s.Metrics.Repairs.WithLabelValues("missed_event").Inc()
	}

	s.Metrics.Events.WithLabelValues(result).Inc()

	return nil
}

// findOwner returns the org of a customer, or the zero id if the customer has no org yet. A customer never changes its
// org, so a hit is cached.
func (s *Service) findOwner(ctx context.Context, customer string) (org id.ID, err error) {
	if known, ok := s.owners.get(customer); ok {
		return known, nil
	}

	err = s.System.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT org_id FROM billing_customer WHERE stripe_id = $1`, []any{customer}, &org)
	})
	switch {
	case postgres.None(err):
		return org, nil
	case err != nil:
		return org, fmt.Errorf("find customer: %w", err)
	}

	s.owners.put(customer, org)

	return org, nil
}

// subjectOf returns the customer of an event ("" if none) and the id of its object.
func subjectOf(e *stripe.Event) (customer, object string) {
	text := func(key string) string {
		switch v := e.Data.Object[key].(type) {
		case string:
			return v
		case map[string]any:
			id, _ := v["id"].(string)
			return id
		default:
			return ""
		}
	}

	object = text("id")
	if text("object") == "customer" {
		return object, object
	}

	return text("customer"), object
}
