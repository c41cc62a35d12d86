package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// A job whose transaction is lost runs again without a counted attempt. What the job may bring about itself counts.
func TestALostTransactionIsToldFromOneThatTookTooLong(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct{ lost, timedOut bool }{
		"57P01": {lost: true}, "53300": {lost: true}, "08006": {lost: true},
		"25006": {lost: true}, "53100": {lost: true}, "58000": {lost: true}, "58030": {lost: true},
		"57014": {timedOut: true}, "25P03": {timedOut: true}, "25P04": {timedOut: true},
		"40001": {}, "55P03": {}, "58P01": {}, "53200": {}, "23505": {},
	} {
		err := &pgconn.PgError{Code: code}
		if lost := postgres.Lost(err); lost != want.lost {
			t.Errorf("Lost(%s) = %v", code, lost)
		}
		if timedOut := postgres.TimedOut(err); timedOut != want.timedOut {
			t.Errorf("TimedOut(%s) = %v", code, timedOut)
		}
	}
}
