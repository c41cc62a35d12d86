package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The two roles of sessions. Migrations create them.
const (
	App    = "funnelwork_app"    // one org at a time, enforced by row policies
	System = "funnelwork_system" // relay, sweeps, logins: all orgs, but only the required tables
)

// Options configures a DB. URL is a libpq URL or DSN.
type Options struct {
	URL  string
	Role string // App or System
	// MaxConns is the pool's size; 0 means 16.
	MaxConns int32
	// Pooler must be set if URL is that of a transaction pooler: no prepared statements are kept on the server, and the
	// role is set in every transaction.
	Pooler bool
	// Name is shown in pg_stat_activity.
	Name string
	// Tracer, if not nil, traces the round trips.
	Tracer pgx.QueryTracer
	// AfterCommit receives the notes of each committed transaction, in order. It must not block.
	AfterCommit func(ctx context.Context, notes []any)
	// Writes is shared by the pools of one database. If nil, the pool has one of its own, which logs nothing.
	Writes *Writes
	// Standby must be set if URL leads to a standby, which takes no writes.
	Standby bool
}

// DB is a pool of sessions of one role. It is safe for concurrent use.
type DB struct {
	pool   *pgxpool.Pool
	points *getBatcher // nil behind a pooler
	pooled bool        // behind a transaction pooler: role and settings are set in each transaction
	role   string
	after  func(context.Context, []any)
	kept   sync.Map // see Tx.PoolValue
	writes *Writes
}

// Open creates the pool without waiting for the server. If the database is unavailable, the first use fails.
func Open(ctx context.Context, o Options) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("read DATABASE_URL: %w", err)
	}

	cfg.MaxConns = 16
	if o.MaxConns > 0 {
		cfg.MaxConns = o.MaxConns
	}
	cfg.MaxConnIdleTime = 5 * time.Minute
	cfg.HealthCheckPeriod = 15 * time.Second
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 3 * time.Second
	}
	cfg.ConnConfig.OnNotice = keepWarning
	cfg.ConnConfig.Tracer = o.Tracer
	cfg.ConnConfig.ValidateConnect = preferWritable(cfg.ConnConfig.ValidateConnect)
	db := &DB{after: o.AfterCommit, role: o.Role}
	if !o.Standby {
		db.writes = cmp.Or(o.Writes, NewWrites(slog.New(slog.DiscardHandler)))
	}
	if o.Pooler {
		// Statements are described, for the types of their arguments, and never prepared by name.
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		cfg.ConnConfig.StatementCacheCapacity = 0
		db.pooled = true
	} else {
		cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
		cfg.ConnConfig.RuntimeParams["jit"] = "off" // see the package comment
		cfg.ConnConfig.RuntimeParams["application_name"] = "funnelwork " + o.Name
		cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
		// A dead client host's row locks are released within 25 s.
		cfg.ConnConfig.RuntimeParams["tcp_keepalives_idle"] = "10"
		cfg.ConnConfig.RuntimeParams["tcp_keepalives_interval"] = "5"
		cfg.ConnConfig.RuntimeParams["tcp_keepalives_count"] = "3"
		cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "SET ROLE "+o.Role)
			return err
		}
	}
	if db.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if !o.Pooler && o.Role == App {
		db.points = newGetBatcher(db.pool)
	}
	db.writes.add(db)
	return db, nil
}

// Close waits for the sessions in use and closes all sessions.
func (db *DB) Close() {
	db.writes.remove(db)
	if db.points != nil {
		db.points.close()
	}
	db.pool.Close()
}

// Stat returns the pool's statistics, for metrics.
func (db *DB) Stat() *pgxpool.Stat { return db.pool.Stat() }

// Ping checks that the server is reachable.
func (db *DB) Ping(ctx context.Context) error { return db.pool.Ping(ctx) }
