package testkit_test

import (
	"context"
	"fmt"
	"strings"
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
			if err := conn.QueryRow(t.Context(), "SELECT to_regclass('job') IS NOT NULL").
				Scan(&migrated); err != nil || !migrated {
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

// witness records what would have failed a test.
type witness struct {
	testing.TB
	said []string
}

func (w *witness) Errorf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

func TestAnEventThatDoesNotMeetItsSchemaFailsTheTestThatEmitsIt(t *testing.T) {
	t.Parallel()
	w := &witness{}
	t.Run("a test", func(t *testing.T) {
		w.TB = t
		conn := testkit.Pgx(t, testkit.DB(w).URL)
		for n, data := range []string{
			`{}`,
			`{"object":{"id":"0190a8b0-0000-7000-8000-000000000000"},"previous":null}`,
			`{"object":{"id":"0190a8b0-0000-7000-8000-000000000000","surprise":1},"previous":null}`,
		} {
			if _, err := conn.Exec(t.Context(), `INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
				VALUES (gen_random_uuid(), uuidv7_at(now()), $1, 'contact.purged', 'system', $2, now())`, n,
				data); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(w.said) != 1 || !strings.Contains(w.said[0], "surprise") {
		t.Errorf("%q, want one complaint about what is not declared", w.said)
	}
}
