package keyring_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// rig is a database with a table of sealed rows, and a keyset file.
type rig struct {
	t    *testing.T
	db   *testkit.Database
	sql  *pgx.Conn
	path string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, db: testkit.DB(t), path: filepath.Join(t.TempDir(), "keyset.json")}
	r.sql = testkit.Pgx(t, r.db.URL)
	r.box()
	r.exec(`CREATE TABLE thing (org_id uuid, id uuid, sealed bytea, n int NOT NULL DEFAULT 0, PRIMARY KEY (org_id, ` +
		`id)); GRANT ALL ON thing TO funnelwork_system`)
	return r
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.sql.Exec(r.t.Context(), sql, args...); err != nil {
		r.t.Fatal(err)
	}
}

// box returns the keyset as another process loads it from the file.
func (r *rig) box() *secret.Sealer {
	r.t.Helper()
	b, err := secret.Create(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// text returns the keyset in the form of a setting.
func (r *rig) text() string {
	r.t.Helper()
	raw, err := os.ReadFile(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

var things = []keyring.Column{{
	Table: "thing", Name: "sealed", Key: keyring.OrgAndID(),
	About: keyring.ByOrgAndID("thing"),
}}

func (r *rig) resealer(b *secret.Sealer) keyring.Resealer {
	return keyring.Resealer{System: r.db.System, Box: b, Columns: things}
}

func (r *rig) rotation() keyring.Rotation {
	return keyring.Rotation{System: r.db.System, Keyset: keyring.File(r.path), Patience: 20 * time.Second}
}

func (r *rig) put(b *secret.Sealer, n int) {
	r.t.Helper()
	for range n {
		org, one := id.New(), id.New()
		sealed, err := b.Seal([]byte(one.String()), "thing/"+org.String()+"/"+one.String())
		if err != nil {
			r.t.Fatal(err)
		}
		r.exec("INSERT INTO thing (org_id, id, sealed) VALUES ($1, $2, $3)", org, one, sealed)
	}
}

func under(uses []keyring.Use, key uint32) (n int64) {
	for _, u := range uses {
		if u.Key == key {
			n += u.Rows
		}
	}
	return n
}

// TestAKeyIsRotatedUnderLoadAndNothingIsUnreadable lets four processes read and write sealed rows continuously while
// the key is rotated, all rows are resealed, and the old key is retired.
func TestAKeyIsRotatedUnderLoadAndNothingIsUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	old := r.box().Ring().Primary
	r.put(r.box(), 450)
	var presences, load errgroup.Group
	var acts atomic.Int64
	loading, done := context.WithCancel(ctx)
	defer done()
	for range 4 {
		b := r.box()
		p := &keyring.Presence{System: r.db.System, Box: b, Role: "test", Log: testkit.Log(t)}
		if err := p.Enter(ctx); err != nil {
			t.Fatal(err)
		}
		presences.Go(func() error {
			defer p.Leave(t.Context())
			return p.Run(ctx)
		})
		load.Go(func() error {
			for loading.Err() == nil {
				if err := touch(t.Context(), r.db.System, b); err != nil {
					return err
				}
				acts.Add(1)
			}
			return nil
		})
	}
	key, promoted, err := r.rotation().Rotate(ctx)
	if err != nil || !promoted {
		t.Fatalf("promoted %v, %v", promoted, err)
	}
	again := r.resealer(r.box())
	if err := again.Retire(ctx, keyring.File(r.path), old); !errors.Is(err, keyring.ErrInUse) {
		t.Errorf("a key in use was retired: %v", err)
	}
	for settled := false; !settled; {
		if settled, err = again.Settled(ctx); err != nil {
			t.Fatal(err)
		}
		if _, shut, err := again.Pass(ctx); err != nil || shut != 0 {
			t.Fatalf("%d cannot be opened, %v", shut, err)
		}
		<-time.After(20 * time.Millisecond)
	}
	before := acts.Load()
	for acts.Load() < before+20 && loading.Err() == nil {
		<-time.After(time.Millisecond)
	}
	done()
	if err := load.Wait(); err != nil {
		t.Errorf("after %d acts: %v", acts.Load(), err)
	}
	uses, err := again.Uses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := under(uses, old); n != 0 {
		t.Errorf("%d values sealed with the old key %d, want 0", n, old)
	}
	if n := under(uses, key); n != 450 {
		t.Errorf("%d values sealed with key %d, want 450", n, key)
	}
	if err := again.Retire(ctx, keyring.File(r.path), old); !errors.Is(err, keyring.ErrInUse) {
		t.Errorf("a key that was sealed with a moment ago was retired: %v", err)
	}
	r.exec("UPDATE process SET changed_at = now() - interval '16 minutes'")
	if err := again.Retire(ctx, keyring.File(r.path), old); err != nil {
		t.Error(err)
	}
	if r.box().Ring().Holds(old) {
		t.Error("the old key is still there")
	}
	stop()
	if err := presences.Wait(); err != nil {
		t.Error(err)
	}
	var left int
	if err := r.sql.QueryRow(t.Context(), "SELECT count(*) FROM process").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows of processes that ended, %v", left, err)
	}
}

// touch reads a random row and reseals it, as a refresh does with tokens.
func touch(ctx context.Context, db *postgres.DB, b *secret.Sealer) error {
	return db.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		var org, one id.ID
		var sealed []byte
		if err := tx.QueryRow(ctx,
			"SELECT org_id, id, sealed FROM thing WHERE id >= (SELECT id FROM thing ORDER BY random() LIMIT 1) "+
				"ORDER BY id LIMIT 1 FOR UPDATE",
			nil, &org, &one, &sealed); err != nil {
			return err
		}
		plain, err := b.Open(sealed, "thing/"+org.String()+"/"+one.String())
		if err != nil || string(plain) != one.String() {
			return fmt.Errorf("%s of %s: %w", plain, one, err)
		}
		if sealed, err = b.Seal(plain, "thing/"+org.String()+"/"+one.String()); err != nil {
			return err
		}
		tx.Queue("UPDATE thing SET sealed = $3, n = n + 1 WHERE org_id = $1 AND id = $2", org, one, sealed)
		return nil
	})
}

func TestAKeyIsNotPromotedBeforeEveryProcessHoldsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := r.text()
	fixed, err := secret.Parse(text) // a process with its keyset as a setting
	if err != nil {
		t.Fatal(err)
	}
	p := &keyring.Presence{System: r.db.System, Box: fixed, Role: "worker", Log: testkit.Log(t)}
	if err := p.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	rotation := r.rotation()
	rotation.Patience = 0
	key, promoted, err := rotation.Rotate(t.Context())
	if !errors.Is(err, keyring.ErrWaits) || !strings.Contains(err.Error(), "worker on") {
		t.Fatalf("error %v, want %v with the process", err, keyring.ErrWaits)
	}
	if promoted {
		t.Fatal("the key is promoted before each process has it")
	}
	if ring := r.box().Ring(); ring.Primary == key || !ring.Holds(key) {
		t.Errorf("%v, with %d added", ring, key)
	}
	// After a minute of silence it counts as gone, and the rotation continues with the same key.
	r.exec("UPDATE process SET seen_at = now() - interval '61 seconds'")
	next, promoted, err := rotation.Rotate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !promoted {
		t.Fatalf("key %d is not promoted", next)
	}
	if next != key {
		t.Fatalf("key %d after %d, want the same", next, key)
	}
	if keys := r.box().Ring().Keys; len(keys) != 2 {
		t.Fatalf("keys %v, want 2", keys)
	}
	// When it comes back, or another such process starts, it must stop for lack of the key and leave no row.
	if err := p.Run(t.Context()); !errors.Is(err, keyring.ErrLacking) {
		t.Errorf("a process without the key runs on: %v", err)
	}
	other := &keyring.Presence{System: r.db.System, Box: fixed, Role: "api", Log: testkit.Log(t)}
	if err := other.Enter(t.Context()); !errors.Is(err, keyring.ErrLacking) {
		t.Errorf("a process without the key starts: %v", err)
	}
	var rows int
	if err := r.sql.QueryRow(t.Context(), "SELECT count(*) FROM process WHERE seen_at > now() - interval '1 minute'").
		Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
	// A process with the file loads the key from it.
	follows := &keyring.Presence{System: r.db.System, Box: r.box(), Role: "api", Log: testkit.Log(t)}
	if err := follows.Enter(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAKeysetThatIsASettingIsRotatedInTwoPrintedSteps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := r.text()
	var printed bytes.Buffer
	rotation := keyring.Rotation{System: r.db.System, Keyset: keyring.Setting{Text: text, Out: &printed}}
	key, promoted, err := rotation.Rotate(t.Context())
	if err != nil || promoted {
		t.Fatalf("promoted %v, %v", promoted, err)
	}
	added, err := secret.Parse(printed.String())
	if err != nil {
		t.Fatal(err)
	}
	if ring := added.Ring(); !ring.Holds(key) || ring.Primary == key {
		t.Fatalf("printed %v, want key %d in it, but not as the primary key", ring, key)
	}
	rotation.Keyset = keyring.Setting{Text: strings.TrimSpace(printed.String()), Out: &printed}
	printed.Reset()
	if next, promoted, err := rotation.Rotate(t.Context()); err != nil || !promoted || next != key {
		t.Fatalf("key %d, promoted %v, %v; want %d, promoted", next, promoted, err, key)
	}
	if done, err := secret.Parse(printed.String()); err != nil || done.Ring().Primary != key {
		t.Fatalf("printed %v, %v", done, err)
	}
}

func TestWhatCannotBeOpenedIsLeftAndTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.box()
	r.put(b, 3)
	org := id.New()
	// A ciphertext of another row.
	r.exec("INSERT INTO thing (org_id, id, sealed) SELECT $1, gen_random_uuid(), sealed FROM thing LIMIT 1", org)
	if _, _, err := r.rotation().Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Reload()
	if anew, shut, err := r.resealer(b).Pass(t.Context()); err != nil || anew != 3 || shut != 1 {
		t.Errorf("%d anew, %d cannot be opened, %v; want 3 and 1", anew, shut, err)
	}
}

func TestAProcessWithAnotherKeysetThanTheFirstDoesNotStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := &keyring.Presence{System: r.db.System, Box: r.box(), Columns: things, Role: "api", Log: testkit.Log(t)}
	if err := first.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	other, err := secret.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	refused := &keyring.Presence{System: r.db.System, Box: other, Columns: things, Role: "worker", Log: testkit.Log(t)}
	key := fmt.Sprint(r.box().Ring().Primary)
	err = refused.Enter(t.Context())
	if !errors.Is(err, keyring.ErrLacking) || !strings.Contains(err.Error(), key) {
		t.Errorf("%v, want %v with key %s", err, keyring.ErrLacking, key)
	}
	if err := r.resealer(other).Check(t.Context()); !errors.Is(err, keyring.ErrLacking) {
		t.Errorf("a command checks %v, want %v", err, keyring.ErrLacking)
	}
	if err := r.resealer(r.box()).Check(t.Context()); err != nil {
		t.Errorf("the first keyset: %v", err)
	}
}

func TestADatabaseSealedByAnEarlierVersionRefusesAnotherKeyset(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.box(), 3) // by a version that promoted no first key
	text, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	other, err := secret.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p := &keyring.Presence{System: r.db.System, Box: other, Columns: things, Role: "api", Log: testkit.Log(t)}
	if err := p.Enter(t.Context()); !errors.Is(err, keyring.ErrLacking) {
		t.Errorf("%v, want %v", err, keyring.ErrLacking)
	}
	p.Box = r.box()
	if err := p.Enter(t.Context()); err != nil {
		t.Errorf("the keyset of the rows: %v", err)
	}
}

// Of many first processes with keysets of their own, one begins.
func TestOneOfManyFirstKeysetsIsTheDatabases(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var began atomic.Int64
	var all errgroup.Group
	for range 6 {
		text, err := secret.Generate()
		if err != nil {
			t.Fatal(err)
		}
		box, err := secret.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() error {
			p := &keyring.Presence{System: r.db.System, Box: box, Columns: things, Role: "api", Log: testkit.Log(t)}
			err := p.Enter(t.Context())
			if errors.Is(err, keyring.ErrLacking) {
				return nil
			}
			began.Add(1)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := began.Load(); n != 1 {
		t.Errorf("%d processes began, want 1", n)
	}
}
