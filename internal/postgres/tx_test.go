package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const insert = `INSERT INTO job (org_id, id, kind, args, lane, max_attempts) VALUES ($1, $2, $3, '{}', 'default', 1)`

// open returns a private database that records the committed notes.
func open(t *testing.T, url string, role string, pooler bool) (*postgres.DB, *[]any) {
	t.Helper()
	notes := new([]any)
	db, err := postgres.Open(t.Context(), postgres.Options{
		URL: url, Role: role, MaxConns: 4, Pooler: pooler,
		AfterCommit: func(_ context.Context, n []any) { *notes = append(*notes, n...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db, notes
}

func kinds(t *testing.T, db *postgres.DB, org id.ID) []string {
	t.Helper()
	var got []string
	err := db.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		rows, err := tx.Query(t.Context(), "SELECT kind FROM job ORDER BY kind")
		if err != nil {
			return err
		}
		got, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var errStop = errors.New("stop")

func TestATransactionCommitsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		run   func(context.Context, *postgres.Tx) error
		fails bool
		want  []string
		notes []any
	}{
		{"queued statements commit as one batch", func(_ context.Context, tx *postgres.Tx) error {
			tx.Queue(insert, tx.Org(), id.New(), "a")
			tx.Queue(insert, tx.Org(), id.New(), "b")
			tx.AfterCommit(1)
			return nil
		}, false, []string{"a", "b"}, []any{1}},
		{
			"an error of the function undoes what was sent and forgets notes",
			func(ctx context.Context, tx *postgres.Tx) error {
				if _, err := tx.Exec(ctx, insert, tx.Org(), id.New(), "a"); err != nil {
					return err
				}
				tx.AfterCommit(1)
				return errStop
			}, true, nil, nil,
		},
		{
			"an error of a later queued statement undoes the earlier ones",
			func(_ context.Context, tx *postgres.Tx) error {
				tx.Queue(insert, tx.Org(), id.New(), "a")
				tx.Queue("SELECT 1/0")
				tx.AfterCommit(1)
				return nil
			}, true, nil, nil,
		},
		{"a query takes along what was queued before it", func(ctx context.Context, tx *postgres.Tx) error {
			tx.Queue(insert, tx.Org(), id.New(), "a")
			var n int
			if err := tx.QueryRow(ctx, "SELECT count(*) FROM job", nil, &n); err != nil || n != 1 {
				return errors.Join(err, errStop)
			}
			tx.Queue(insert, tx.Org(), id.New(), "b")
			return nil
		}, false, []string{"a", "b"}, nil},
		{"an error that the function keeps to itself is no commit", func(ctx context.Context, tx *postgres.Tx) error {
			tx.AfterCommit(1)
			if _, err := tx.Exec(ctx, insert, tx.Org(), id.New(), "a"); err != nil {
				return err
			}
			_, _ = tx.Exec(ctx, "SELECT 1/0")
			return nil
		}, true, nil, nil},
		{"a savepoint undoes its own part alone", func(ctx context.Context, tx *postgres.Tx) error {
			tx.Queue(insert, tx.Org(), id.New(), "a")
			tx.AfterCommit(1)
			err := tx.Savepoint(ctx, func() error {
				tx.Queue(insert, tx.Org(), id.New(), "b")
				tx.AfterCommit(2)
				_, err := tx.Exec(ctx, "SELECT 1/0")
				return err
			})
			if err == nil {
				return errStop
			}
			return tx.Savepoint(ctx, func() error {
				tx.Queue(insert, tx.Org(), id.New(), "c")
				tx.AfterCommit(3)
				return nil
			})
		}, false, []string{"a", "c"}, []any{1, 3}},
		{"a row of another org is refused", func(_ context.Context, tx *postgres.Tx) error {
			tx.Queue(insert, id.New(), id.New(), "a")
			return nil
		}, true, nil, nil},
	} {
		for _, pooler := range []bool{false, true} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				db, notes := open(t, testkit.DB(t).URL, postgres.App, pooler)
				org := id.New()
				err := db.Tx(t.Context(), org, func(tx *postgres.Tx) error { return tc.run(t.Context(), tx) })
				if (err != nil) != tc.fails {
					t.Fatalf("err = %v, want an error: %v", err, tc.fails)
				}
				if diff := cmp.Diff(tc.want, kinds(t, db, org)); diff != "" && len(tc.want) > 0 {
					t.Error(diff)
				} else if got := kinds(t, db, org); len(got) != len(tc.want) {
					t.Errorf("rows %v, want %v", got, tc.want)
				}
				if !slices.Equal(*notes, tc.notes) {
					t.Errorf("notes %v, want %v", *notes, tc.notes)
				}
				if s := db.Stat(); s.AcquiredConns() != 0 {
					t.Errorf("%d sessions were not given back", s.AcquiredConns())
				}
			})
		}
	}
}

func TestAQueryThatForgetsItsOrgSeesNothing(t *testing.T) {
	t.Parallel()
	for _, pooler := range []bool{false, true} {
		url := testkit.DB(t).URL // a superuser's URL: the policies apply because the session sets its role
		db, _ := open(t, url, postgres.App, pooler)
		a, b := id.New(), id.New()
		for _, org := range []id.ID{a, b} {
			err := db.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				tx.Queue(insert, org, id.New(), org.String())
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := kinds(t, db, a); !slices.Equal(got, []string{a.String()}) {
			t.Errorf("org a sees %v", got)
		}
		if got := kinds(t, db, id.New()); len(got) != 0 {
			t.Errorf("a stranger sees %v", got)
		}
		if got := kinds(t, db, id.ID{}); len(got) != 0 {
			t.Errorf("no org sees %v", got)
		}
		system, _ := open(t, url, postgres.System, pooler)
		if got := kinds(t, system, id.ID{}); len(got) != 2 {
			t.Errorf("the system sees %v, want both", got)
		}
	}
}

func TestACommitThatFailsOnlyAtItsEndIsAnError(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	conn, err := pgx.Connect(t.Context(), kit.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), `
		CREATE TABLE late (id int PRIMARY KEY, other int REFERENCES late (id) DEFERRABLE INITIALLY DEFERRED);
		GRANT INSERT ON late TO funnelwork_app`); err != nil {
		t.Fatal(err)
	}
	db, notes := open(t, kit.URL, postgres.App, false)
	err = db.Tx(t.Context(), id.New(), func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO late VALUES (1, 2)")
		tx.AfterCommit(1)
		return nil
	})
	if !postgres.Violates(err, "late_other_fkey") {
		t.Errorf("err = %v, want the deferred constraint's", err)
	}
	if len(*notes) != 0 {
		t.Error("notes of a transaction that did not commit were handed on")
	}
}

func TestAServerThatIsAwayIsToldFromAStatementThatIsWrong(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(t.Context(),
		postgres.Options{URL: "postgres://nobody@127.0.0.1:1/none", Role: postgres.App})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(t.Context()); !postgres.Away(err) {
		t.Errorf("refused connection: Away = false for %v", err)
	}
	for code, want := range map[string]bool{
		"57P01": true, "53300": true, "08006": true, "40P01": true,
		"25006": true, "25P03": true, "25P04": true, "40001": true, "40003": true, "53100": true, "55P03": true,
		"57P05": true, "58000": true, "58030": true, "58P01": true, "72000": true,
		"23505": false, "25001": false, "40002": false, "42601": false, "57014": false, "XX001": false,
	} {
		if got := postgres.Away(&pgconn.PgError{Code: code}); got != want {
			t.Errorf("Away(%s) = %v, want %v", code, got, want)
		}
	}
}

// A server may end after it has accepted a session and before the session's role is set.
func TestASessionThatEndsBeforeItHasItsRoleIsLost(t *testing.T) {
	t.Parallel()
	to, err := pgconn.ParseConfig(testkit.DB(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var sessions sync.WaitGroup
	sessions.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			sessions.Go(func() { greet(client, to) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		sessions.Wait()
	})
	db, _ := open(t,
		fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", to.User, to.Password, l.Addr(), to.Database),
		postgres.App, false)
	read := func(tx *postgres.Tx) error { return tx.QueryRow(t.Context(), "SELECT 1", nil, new(int)) }
	for name, do := range map[string]func(context.Context, id.ID, func(*postgres.Tx) error) error{
		"a view":        db.ReadTx,
		"a snapshot":    db.SnapshotTx,
		"a transaction": db.Tx,
	} {
		if err := do(t.Context(), id.New(), read); !postgres.Lost(err) {
			t.Errorf("%s: %v, which is not lost", name, err)
		}
	}
}

// greet passes on a client's startup message and the server's responses, and closes the connection at the client's
// first statement.
func greet(client net.Conn, to *pgconn.Config) {
	defer func() { _ = client.Close() }()
	network, address := pgconn.NetworkAddress(to.Host, to.Port)
	server, err := (&net.Dialer{}).Dial(network, address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	message := make([]byte, 1<<10)
	for {
		n, err := client.Read(message)
		if err != nil || message[0] == 'Q' || message[0] == 'P' {
			return
		}
		if _, err := server.Write(message[:n]); err != nil {
			return
		}
	}
}
