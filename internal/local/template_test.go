package local_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestATemplateIsPreparedOnceAndEachServerHasItsOwnCopy(t *testing.T) {
	t.Parallel()
	testkit.NewPostgres(t) // skips without Postgres
	prepared := 0
	wrong := errors.New("cannot be prepared")
	template := &local.Template{Dir: t.TempDir(), Key: "people"}
	open := func() (*local.Postgres, error) {
		return local.StartPostgres(t.Context(), local.PostgresOptions{Fast: true, Template: template})
	}
	template.Prepare = func(context.Context, string) error { return wrong }
	if _, err := open(); !errors.Is(err, wrong) {
		t.Fatalf("Prepare failed, and the start returns %v", err)
	}
	template.Prepare = func(ctx context.Context, url string) error {
		prepared++
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "CREATE TABLE person AS SELECT 'ada' AS name")
		return errors.Join(err, conn.Close(ctx))
	}
	for range 2 {
		p, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Stop(context.WithoutCancel(t.Context())) })
		var n int
		conn := testkit.Pgx(t, p.URL)
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM person").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d people, %v", n, err)
		}
		if _, err := conn.Exec(t.Context(), "INSERT INTO person VALUES ('grace')"); err != nil {
			t.Error(err)
		}
	}
	if prepared != 1 {
		t.Errorf("prepared %d times", prepared)
	}
}
