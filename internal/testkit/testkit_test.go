package testkit_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestEveryTestHasADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := testkit.Pgx(t, testkit.DB(t).URL)
			if _, err := conn.Exec(t.Context(), "CREATE TABLE mine (name text)"); err != nil {
				t.Fatal(err)
			}
			var migrated bool
			if err := conn.QueryRow(t.Context(), "SELECT to_regclass('job') IS NOT NULL").Scan(&migrated); err != nil || !migrated {
				t.Fatalf("migrated = %v, %v", migrated, err)
			}
		})
	}
}

func TestARedisStopsHangsAndComesBackWithItsContents(t *testing.T) {
	t.Parallel()
	s := testkit.RealRedis(t)
	opt, err := redis.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	opt.ContextTimeoutEnabled, opt.MaxRetries = true, -1
	c := redis.NewClient(opt)
	t.Cleanup(func() { _ = c.Close() })
	ctx := t.Context()
	if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.Hang()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := c.Get(short, "k").Err(); err == nil {
		t.Error("a hung server answered")
	}
	s.Continue()
	s.Stop()
	if err := c.Get(ctx, "k").Err(); err == nil {
		t.Error("a stopped server answered")
	}
	s.Start()
	if v, err := c.Get(ctx, "k").Result(); err != nil || v != "v" {
		t.Errorf("after the restart: %q, %v", v, err)
	}
}
