package keysreseal_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/keysreseal"
)

// Each pass reseals every value that can be opened. The job is done when no process seals with an older key; until then
// it waits without spending an attempt. It fails if a value cannot be opened.
func TestAllIsSealedAnewAndTheJobWaitsForStragglers(t *testing.T) {
	t.Parallel()
	db, path := testkit.DB(t), filepath.Join(t.TempDir(), "keyset.json")
	sql := testkit.Pgx(t, db.URL)
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE thing (org_id uuid, id uuid, sealed bytea, PRIMARY KEY (org_id, ` +
		`id)); GRANT ALL ON thing TO funnelwork_system`)
	box, err := secret.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	org, old := id.New(), box.Ring().Primary
	about := func(one id.ID) string { return "thing/" + org.String() + "/" + one.String() }
	things := []id.ID{id.New(), id.New(), id.New()}
	for _, one := range things {
		sealed, err := box.Seal([]byte(one.String()), about(one))
		if err != nil {
			t.Fatal(err)
		}
		exec(`INSERT INTO thing VALUES ($1, $2, $3)`, org, one, sealed)
	}
	rotation := keyring.Rotation{System: db.System, Keyset: keyring.File(path), Patience: 20 * time.Second}
	if _, promoted, err := rotation.Rotate(t.Context()); err != nil || !promoted {
		t.Fatalf("promoted %v, %v", promoted, err)
	}
	job := keysreseal.Job{
		Log: testkit.Log(t),
		Resealer: keyring.Resealer{System: db.System, Box: box, Columns: []keyring.Column{
			{Table: "thing", Name: "sealed", Key: keyring.OrgAndID(), About: keyring.ByOrgAndID("thing")},
		}},
	}.Handler()
	work := func() error {
		return job.Call(t.Context(), &queue.Claimed{ID: id.New(), Kind: job.Kind, Raw: []byte(`{}`)})
	}
	underOld := func() (n int) {
		t.Helper()
		if err := sql.QueryRow(t.Context(), `SELECT count(*) FROM thing WHERE sealed_key(sealed) = $1`, int64(old)).
			Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}

	exec(`INSERT INTO process (id, role, host, keys, primary_key) VALUES ($1, 'worker', 'elsewhere', $2, $3)`,
		id.New(), []int64{int64(old)}, int64(old))
	if err := work(); reflect.TypeOf(err) != reflect.TypeOf(queue.Snooze(0)) || underOld() != 0 {
		t.Errorf("with a straggler: %v, %d under the old key", err, underOld())
	}
	exec(`UPDATE process SET seen_at = now() - interval '2 minutes'`)
	if err := work(); err != nil {
		t.Errorf("when it is gone: %v", err)
	}
	exec(`UPDATE thing SET sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) #
		255) WHERE id = $1`, things[1])
	if _, promoted, err := rotation.Rotate(t.Context()); err != nil || !promoted {
		t.Fatalf("promoted %v, %v", promoted, err)
	}
	if err := work(); err == nil || !strings.Contains(err.Error(), "1 sealed values cannot be opened") {
		t.Errorf("with a damaged one: %v", err)
	}
	for _, one := range things {
		var sealed []byte
		if err := sql.QueryRow(t.Context(), `SELECT sealed FROM thing WHERE id = $1`, one).Scan(&sealed); err != nil {
			t.Fatal(err)
		}
		if plain, err := box.Open(sealed, about(one)); err == nil && string(plain) != one.String() {
			t.Errorf("%s became %s", one, plain)
		}
	}
}
