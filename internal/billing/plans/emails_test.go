package plans_test

import (
	"context"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// takeEmail counts one email.
func takeEmail(ctx context.Context, tx *postgres.Tx) (allowed bool, err error) {
	err = tx.QueryRow(ctx, `SELECT `+plans.TakeEmailSQL, []any{tx.Org()}, &allowed)
	return allowed, err
}

// take counts emails one by one and returns how many the plan allowed.
func (h *house) take(org id.ID, n int) (allowed int) {
	h.Helper()
	for range n {
		h.tx(org, func(ctx context.Context, tx *postgres.Tx) error {
			ok, err := takeEmail(ctx, tx)
			if ok {
				allowed++
			}
			return err
		})
	}
	return allowed
}

// limitEmails sets the limit of the month as an operator's override.
func (h *house) limitEmails(org id.ID, most string) {
	h.Helper()
	h.exec(`INSERT INTO plan_override (org_id, feature, value, source) VALUES ($1, 'emails_month', $2, 'override')
		ON CONFLICT (org_id, feature) DO UPDATE SET value = excluded.value`, org, most)
	h.tx(org, func(ctx context.Context, tx *postgres.Tx) error { return h.plans.Settle(ctx, tx) })
}

func (h *house) announced(org id.ID) (said string) {
	h.Helper()
	if err := h.sql.QueryRow(h.Context(), `SELECT coalesce(string_agg(concat_ws('/', args->>'percent', args->>'used',
		args->>'limit'), ' ' ORDER BY id), '') FROM job WHERE org_id = $1 AND kind = 'quota.announce'`, org).
		Scan(&said); err != nil {
		h.Fatal(err)
	}
	return said
}

func TestTheEmailsOfAMonthStopAtTheLimitAndAreAnnounced(t *testing.T) {
	t.Parallel()
	h := open(t)
	if n := h.take(h.org, 3); n != 3 || h.of(h.org).Used[plans.EmailsMonth] != 3 {
		t.Errorf("without a limit %d of 3 were allowed and %d counted", n, h.of(h.org).Used[plans.EmailsMonth])
	}
	h.limitEmails(h.org, "10")
	if n := h.take(h.org, 9); n != 7 {
		t.Errorf("%d more were allowed after 3 of 10", n)
	}
	if used, said := h.of(h.org).Used[plans.EmailsMonth], h.announced(h.org); used != 10 ||
		said != "80/8/10 100/10/10" {
		t.Errorf("%d counted, announced %q", used, said)
	}
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error {
		room, err := h.plans.EmailRoom(ctx, tx)
		if room.Left != 0 || room.Full == nil || room.Full.More["used"] != int64(10) {
			t.Errorf("room %+v", room)
		}
		return err
	})
	h.exec(`UPDATE email_month SET period = period - 31 WHERE org_id = $1`, h.org)
	if n := h.take(h.org, 1); n != 1 || h.of(h.org).Used[plans.EmailsMonth] != 1 {
		t.Error("a new month does not begin at 0")
	}
}

func TestAPlanWithOverageSendsAboveItsLimit(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.set(h.org, plans.State{Plan: "agency_scale", Interval: "month", Status: plans.Active})
	h.limitEmails(h.org, "2")
	if n := h.take(h.org, 4); n != 4 || h.of(h.org).Used[plans.EmailsMonth] != 4 {
		t.Errorf("%d of 4 were allowed", n)
	}
}

func TestNoEmailPassesTheLimitUnderConcurrentMarks(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.limitEmails(h.org, "20")
	var allowed atomic.Int64
	g, ctx := errgroup.WithContext(t.Context())
	for range 4 {
		g.Go(func() error {
			for range 10 {
				if err := h.App.Tx(ctx, h.org, func(tx *postgres.Tx) error {
					ok, err := takeEmail(ctx, tx)
					if ok {
						allowed.Add(1)
					}
					return err
				}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := allowed.Load(); n != 20 || h.of(h.org).Used[plans.EmailsMonth] != 20 {
		t.Errorf("%d of 40 were allowed with a limit of 20", n)
	}
}
