package suppression_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// desk is an org with suppressions.
type desk struct {
	*testing.T
	*testkit.Database
	service *suppression.Service
	sql     *pgx.Conn
	org     id.ID
}

func open(t *testing.T) *desk {
	t.Helper()
	db := testkit.DB(t)
	return &desk{t, db, &suppression.Service{Box: testkit.Box(t)}, testkit.Pgx(t, db.URL), id.New()}
}

// in runs fn in a transaction of an org.
func (d *desk) in(org id.ID, fn func(ctx context.Context, tx *postgres.Tx) error) {
	d.Helper()
	if err := d.App.Tx(d.Context(), org, func(tx *postgres.Tx) error { return fn(d.Context(), tx) }); err != nil {
		d.Fatal(err)
	}
}

// add suppresses for an org.
func (d *desk) add(org id.ID, n suppression.New) (out suppression.Suppression, added bool) {
	d.Helper()
	d.in(org, func(ctx context.Context, tx *postgres.Tx) (err error) {
		out, added, err = d.service.Add(ctx, tx, n)
		return err
	})
	return out, added
}

// refuses returns the reason of the suppression that refuses an org's mail to an address, or "", and checks that the
// condition of the mark says the same.
func (d *desk) refuses(org id.ID, address string, marketing bool) (reason string) {
	d.Helper()
	d.in(org, func(ctx context.Context, tx *postgres.Tx) error {
		keys, err := d.service.Keys(ctx, tx, address)
		if err != nil {
			return err
		}
		found, err := suppression.Find(ctx, tx, keys, marketing)
		if err != nil {
			return err
		}
		if found != nil {
			reason = found.Reason
		}
		var blocked bool
		if err := tx.QueryRow(ctx, `SELECT `+suppression.Blocked("$1", "$2::bytea[]", "$3::bytea[]", "$4::bool"),
			[]any{org, keys.Org, keys.Platform, marketing}, &blocked); err != nil {
			return err
		}
		if blocked != (found != nil) {
			d.Errorf("%s: Find returns %+v, Blocked is %v", address, found, blocked)
		}
		return nil
	})
	return reason
}

func (d *desk) count(sql string) (n int) {
	d.Helper()
	if err := d.sql.QueryRow(d.Context(), `SELECT count(*) FROM `+sql).Scan(&n); err != nil {
		d.Fatal(err)
	}
	return n
}

// begin runs fn in a transaction that stays open until commit is called. done is closed when fn has returned.
func (d *desk) begin(fn func(ctx context.Context, tx *postgres.Tx) error) (done chan struct{}, commit func()) {
	done, finish, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- d.App.Tx(d.Context(), d.org, func(tx *postgres.Tx) error {
			err := fn(d.Context(), tx)
			err = errors.Join(err, tx.Flush(d.Context()))
			close(done)
			<-finish
			return err
		})
	}()
	return done, func() {
		d.Helper()
		close(finish)
		if err := <-ended; err != nil {
			d.Error(err)
		}
	}
}

// untilWaiting returns when a session waits for a suppression's lock.
func (d *desk) untilWaiting() {
	d.Helper()
	for end := time.Now().Add(5 * time.Minute); d.count(`pg_locks CROSS JOIN pg_sleep(0.005)
		WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database
		WHERE datname = current_database())`) == 0; {
		if time.Now().After(end) {
			d.Fatal("no session waits")
		}
	}
}
