package jobs_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs"
)

// TestEverySealingCanBeReadAndMadeAnew reads all sealed columns as a rotation does, and checks the permission to update
// each.
func TestEverySealingCanBeReadAndMadeAnew(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	box := testkit.Box(t)
	r := keyring.Resealer{System: db.System, Box: box, Columns: jobs.Sealed()}
	if _, err := r.Uses(t.Context()); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Pass(t.Context()); err != nil {
		t.Error(err)
	}
	sql := testkit.Pgx(t, db.URL)
	for _, c := range jobs.Sealed() {
		var may bool
		if err := sql.QueryRow(t.Context(), "SELECT has_column_privilege('funnelwork_system', $1, $2, 'UPDATE')",
			c.Table, c.Name).Scan(&may); err != nil || c.About != nil && !may {
			t.Errorf("%s.%s: may be written %v, %v", c.Table, c.Name, may, err)
		}
	}
}
