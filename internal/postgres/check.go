package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Oldest is the first version of Postgres that the product runs on.
const Oldest = 15

// checkTime is how long Check waits for the server.
const checkTime = 10 * time.Second

// Check connects once, within 10 s, and returns the server's version, such as "15.14". Its errors name DATABASE_URL
// and never repeat the password in it.
func Check(ctx context.Context, url string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	cfg, err := parseURL(url)
	if err != nil {
		return "", fmt.Errorf("DATABASE_URL: %w", err)
	}

	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // also behind a pooler
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return "", connectError{at: databaseAddress(cfg), err: err}
	}

	defer func() { _ = conn.Close(ctx) }()
	var number int
	const sql = "SELECT current_setting('server_version'), current_setting('server_version_num')::int"
	if err := conn.QueryRow(ctx, sql).Scan(&version, &number); err != nil {
		return "", fmt.Errorf("DATABASE_URL: read the server's version: %w", err)
	}

	version, _, _ = strings.Cut(version, " ") // a distribution adds its own
	if number/10000 < Oldest {
		return version, fmt.Errorf("DATABASE_URL: %s runs Postgres %s; want %d or later", databaseAddress(cfg), version,
			Oldest)
	}

	return version, nil
}

// CheckURL reports what is wrong with the form of url, a libpq URL or keyword string. It connects to no server, and
// its error never repeats url, which may hold a password.
func CheckURL(url string) error {
	_, err := parseURL(url)
	return err
}

// Address returns the server and the database that url leads to, without its login: "host:5432/database". It returns
// "" for a url that CheckURL refuses.
func Address(url string) string {
	cfg, err := parseURL(url)
	if err != nil {
		return ""
	}
	return databaseAddress(cfg)
}

func databaseAddress(cfg *pgx.ConnConfig) string {
	return net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))) + "/" + cfg.Database
}

func parseURL(url string) (*pgx.ConnConfig, error) {
	const want = "want postgres://user:password@host:port/database, or keywords such as host=db dbname=app"
	scheme, _, isURL := strings.Cut(url, "://")
	if isURL && scheme != "postgres" && scheme != "postgresql" && !strings.Contains(scheme, "=") {
		return nil, errors.New("not a Postgres URL; " + want)
	}

	cfg, err := pgx.ParseConfig(url)
	if err == nil {
		return cfg, nil
	}
	// pgx quotes url first, and leaves out the password if it can tell which part that is.
	text := err.Error()
	if i := strings.LastIndex(text, "`: "); i >= 0 {
		text = text[i+len("`: "):]
	}
	if strings.Contains(text, "keyword/value") { // its cause quotes words of a password that has blanks
		text = "neither a URL nor a list of keywords"
	}

	return nil, fmt.Errorf("%s; %s", text, want)
}

// connectError is a failed attempt to connect. Its text has one cause where pgx lists each of its attempts.
type connectError struct {
	at  string
	err error
}

func (c connectError) Unwrap() error { return c.err }

func (c connectError) Error() string { return "DATABASE_URL: connect to " + c.at + ": " + c.cause() }

func (c connectError) cause() string {
	if pg, ok := errors.AsType[*pgconn.PgError](c.err); ok {
		return pg.Message
	}
	if lookup, ok := errors.AsType[*net.DNSError](c.err); ok {
		return lookup.Err
	}
	if errors.Is(c.err, context.DeadlineExceeded) {
		return "no reply within " + checkTime.String()
	}
	if op, ok := errors.AsType[*net.OpError](c.err); ok {
		return op.Err.Error()
	}
	return c.err.Error()
}
