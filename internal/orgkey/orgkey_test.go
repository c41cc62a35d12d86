package orgkey_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAKeyThatIsRolledBackToASavepointIsNotKeptByTheTransaction(t *testing.T) {
	t.Parallel()
	db, box, org := testkit.DB(t), testkit.Box(t), id.New()
	hash := func(ctx context.Context, tx *postgres.Tx) (string, error) {
		p, err := orgkey.Of(ctx, tx, box)
		if err != nil {
			return "", err
		}
		return string(p.Org.Hash("test", "a")), nil
	}
	var undone, kept, again, later string
	errUndo := errors.New("undo")
	err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) (err error) {
		if err := tx.Savepoint(t.Context(), func() (err error) {
			for range 2 { // the second time the key is read
				if undone, err = hash(t.Context(), tx); err != nil {
					return err
				}
			}
			return errUndo
		}); !errors.Is(err, errUndo) {
			return err
		}
		if kept, err = hash(t.Context(), tx); err == nil {
			again, err = hash(t.Context(), tx)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) (err error) {
		later, err = hash(t.Context(), tx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if undone == kept || kept != again || kept != later {
		t.Error("the transaction kept a key that is not stored")
	}
}

func TestAKeyIsReadOnceInATransaction(t *testing.T) {
	t.Parallel()
	db, box, org := testkit.DB(t), testkit.Box(t), id.New()
	for round := range 2 {
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			before, err := orgkey.Of(t.Context(), tx, box)
			if err != nil {
				return err
			}
			if round == 0 { // creates it
				return nil
			}
			if _, err := tx.Exec(t.Context(), `DELETE FROM org_key WHERE org_id = $1`, org); err != nil {
				return err
			}
			after, err := orgkey.Find(t.Context(), tx, box)
			if err == nil && (after.Org.IsZero() || !bytes.Equal(after.Org.Hash("t", "a"), before.Org.Hash("t", "a"))) {
				t.Error("the key is read again")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}
