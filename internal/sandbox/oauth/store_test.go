package oauth_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestBothStoresKeepTheSame(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]oauth.Store{"memory": oauth.NewMemory(), "postgres": sealed(t)} {
		ctx := t.Context()
		listed := func() (all string) {
			err := s.Update(ctx, func(tx oauth.Tx) error {
				rows, err := tx.List(ctx, "thing", 3)
				all = string(bytes.Join(rows, []byte(" ")))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		err := s.Update(ctx, func(tx oauth.Tx) error {
			for _, id := range []string{"a", "b", "c", "d"} {
				if err := tx.Put(ctx, "thing", id, []byte(`"`+id+`"`)); err != nil {
					return err
				}
			}
			return errors.Join(tx.Put(ctx, "other", "a", []byte(`1`)), tx.Put(ctx, "thing", "b", []byte(`"B"`)),
				tx.Delete(ctx, "thing", "none"))
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(); got != `"d" "c" "B"` {
			t.Errorf("%s: %s", name, got)
		}
		undone := errors.New("undone")
		err = s.Update(ctx, func(tx oauth.Tx) error {
			if err := errors.Join(tx.Put(ctx, "thing", "e", []byte(`"e"`)), tx.Put(ctx, "thing", "d", []byte(`"D"`)),
				tx.Delete(ctx, "thing", "c")); err != nil {
				return err
			}
			if got, err := tx.Get(ctx, "thing", "c"); got != nil || err != nil {
				t.Errorf("%s: within the work: %s, %v", name, got, err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Errorf("%s: %v", name, err)
		}
		if got := listed(); got != `"d" "c" "B"` {
			t.Errorf("%s: after a failure: %s", name, got)
		}
		err = s.Update(ctx, func(tx oauth.Tx) error { return tx.Delete(ctx, "thing", "c") })
		if got := listed(); err != nil || got != `"d" "B" "a"` {
			t.Errorf("%s: after a deletion: %s, %v", name, got, err)
		}
	}
}

// TestARestartFindsItsLoginsAgain also checks that no table shows a token.
func TestARestartFindsItsLoginsAgain(t *testing.T) {
	t.Parallel()
	box := testkit.Box(t)
	db := testkit.DB(t)
	process := func() *world {
		return newWorld(t,
			oauth.Options{Store: oauth.Postgres{System: testkit.Open(t, db.URL, postgres.System), Box: box}})
	}
	g := process().issue()
	after := process()
	a := after.must(after.refresh(g.Refresh))
	if a.status != 200 || after.holder(a.text("access_token")).ID != g.ID {
		t.Errorf("after a restart: %d %s", a.status, a.raw)
	}
	var rows int
	var dump string
	err := testkit.Pgx(t, db.URL).QueryRow(t.Context(),
		`SELECT count(*), string_agg(kind || id || encode(body, 'escape'), ' ') FROM sandbox_oauth`).Scan(&rows, &dump)
	if err != nil || rows < 4 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	for _, token := range []string{oauth.TokenMark, g.Refresh, g.Access, "Ada Lovelace"} {
		if strings.Contains(dump, token) {
			t.Errorf("the table shows %s", token)
		}
	}
}
