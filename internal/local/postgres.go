package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the private server's only login; the database has the same name.
const superuser = "funnelwork"

// PostgresOptions configures a private Postgres.
type PostgresOptions struct {
	// Home holds the data and fetched binaries, or the pointers to them. If empty, a new directory is used and removed
	// with the server, and fetched binaries are kept in the user's cache directory.
	Home string
	// Repository is the Maven repository for downloads if neither this machine nor its distribution has binaries; ""
	// means the default Repository. "none" disables downloads of every kind.
	Repository string
	// Places are glob patterns of directories with binaries, searched after PATH; nil means the usual ones.
	Places []string
	// Fast gives up durability, for tests. Without a Home the files are in memory if there is room: each test creates
	// and drops a database of a thousand files, and ext4 spends a third of two processors on allocating them.
	Fast bool
	// Template, if not nil, is copied where there is no cluster yet.
	Template *Template
	// TCP uses a loopback port with a password even if sockets would work.
	TCP bool
	// Env holds more variables of the server's processes, as NAME=VALUE.
	Env []string
	Log *slog.Logger

	clean bool // Fast, but stopped with a shutdown checkpoint
}

// Postgres is a running private server. Its superuser owns the one database, at URL.
type Postgres struct {
	URL     string
	Version string
	Source  Source
	proc    *process
}

// Done returns a channel that is closed when the server has ended, whether or not it was stopped.
func (p *Postgres) Done() <-chan struct{} { return p.proc.gone }

// Stop shuts the server down: sessions are terminated and committed data is on disk. If ctx ends first, the server is
// killed, and recovers at its next start.
func (p *Postgres) Stop(ctx context.Context) error { return p.proc.stop(ctx) }

// StartPostgres starts the server of o.Home and waits until it answers, for a minute at most, because a server that was
// killed first recovers. Before anything else it finds the binaries, and fetches them if none are installed, which has
// limits of its own. The error is ErrNoPostgres if there are none.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	p, err := startPostgres(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("private Postgres: %w", err)
	}
	return p, nil
}

func startPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	s, err := chooseSite(o.Home, "postgres", o.Fast)
	if err != nil {
		return nil, err
	}

	data := filepath.Join(s.dir, "data")
	made := 0
	if v, err := os.ReadFile(filepath.Join(data, "PG_VERSION")); err == nil {
		made, _ = strconv.Atoi(strings.TrimSpace(string(v)))
	}

	bin, err := o.findBinaries(ctx, s.dir, made)
	template := ""
	if err == nil && made == 0 && o.Template != nil {
		template, err = o.Template.ensureTemplate(ctx, o, bin)
	}

	if err != nil {
		s.discard()
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	sock, err := s.socketDir(".s.PGSQL.5432")
	if err != nil {
		return nil, err
	}

	// Settings are Postgres's defaults, so that the private server behaves like a given one.
	args := []string{
		bin.toolPath("postgres"), "-D", data, "-c", "cluster_name=funnelwork", "-c",
		"log_checkpoints=off",
	}
	if o.Fast {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
			"-c", "max_wal_size=256MB", "-c", "max_connections=400") // for a small disk; for many concurrent tests
	} else {
		args = append(args, "-c", "fsync=on", "-c", "synchronous_commit=on")
	}

	query := url.Values{"sslmode": {"disable"}}
	address := &url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + superuser}
	signal := "INT"
	if o.Fast && !o.clean {
		signal = "QUIT"
	}

	if o.TCP || sock == "" {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		address.Host = "127.0.0.1:" + strconv.Itoa(port)
		args = append(args, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-p",
			strconv.Itoa(port))
	} else {
		query.Set("host", sock)
		query.Set("port", "5432")
		args = append(args, "-c", "listen_addresses=", "-c",
			"unix_socket_directories="+quoteDir(sock), "-p", "5432")
	}

	p := &Postgres{Version: bin.version, Source: bin.source}
	p.proc, err = startProcess(ctx,
		command{
			argv: args, dir: s.dir, name: "postgres", user: s.user, signal: signal, remove: s.remove, libs: bin.libs,
			env: o.Env,
		},
		func() error {
			if err := o.createCluster(ctx, bin, s, data, template); err != nil {
				return err
			}

			_ = os.Remove(filepath.Join(data, "postmaster.pid")) // no server holds the lock, so it is stale
			if sock != "" {
				_ = os.Remove(filepath.Join(sock, ".s.PGSQL.5432"))
				_ = os.Remove(filepath.Join(sock, ".s.PGSQL.5432.lock"))
			}

			return nil
		})
	if err != nil {
		s.discard()
		return nil, err
	}

	if address.Host != "" {
		secret, err := os.ReadFile(filepath.Join(s.dir, "password"))
		if err != nil {
			return nil, errors.Join(err, p.proc.stop(ctx))
		}
		address.User = url.UserPassword(superuser, strings.TrimSpace(string(secret)))
	}

	address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // pgx does not decode a plus in a path
	p.URL = address.String()
	if err := p.proc.awaitReady(ctx, func(ctx context.Context) error {
		return ensureDatabase(ctx,
			p.URL)
	}); err != nil {
		return nil, err
	}

	return p, nil
}

// quoteDir returns an entry for a list of directories in a Postgres setting.
func quoteDir(dir string) string { return `"` + strings.ReplaceAll(dir, `"`, `""`) + `"` }

// createCluster creates the data directory if there is none, as a copy of template if that is not empty. It appears
// complete or not at all.
func (o PostgresOptions) createCluster(ctx context.Context, bin binaries, s site, data,
	template string,
) error {
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	// Leftovers of a killed start: its initdb may still be writing there, so what cannot be removed now is removed next
	// time.
	old, _ := filepath.Glob(data + ".part*")
	for _, dir := range old {
		_ = os.RemoveAll(dir)
	}

	part := data + ".part-" + rand.Text()[:8]
	var err error
	if template == "" {
		err = runInitdb(ctx, bin, s, part, o.Fast)
	} else {
		err = copyTree(template, part, s.user)
	}

	if err != nil {
		return err
	}

	return os.Rename(part, data)
}

func runInitdb(ctx context.Context, bin binaries, s site, data string, fast bool) error {
	pw := filepath.Join(s.dir, "password")
	if _, err := os.Stat(pw); err != nil {
		if err := os.WriteFile(pw, []byte(rand.Text()+"\n"), 0o600); err != nil {
			return err
		}

		if s.user != nil {
			if err := os.Chown(pw, s.user.uid, s.user.gid); err != nil {
				return err
			}
		}
	}

	argv := []string{
		bin.toolPath("initdb"), "-D", data, "-U", superuser, "--encoding=UTF8", "--no-locale",
		"--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile=" + pw, "--no-instructions",
	}
	if fast {
		argv = append(argv, "--no-sync")
	}

	uid := strconv.Itoa(os.Geteuid())
	if _, err := user.LookupId(uid); err == nil || s.user != nil {
		return runTool(ctx, s.dir, s.user, bin.libs, argv...)
	}

	// Only initdb insists on a name for its user. Containers may run as a bare number: there it gets a user namespace
	// in which that number is nobody.
	inNamespace := append([]string{"unshare", "--user", "--map-user=65534"}, argv...)
	if err := runTool(ctx, s.dir, nil, bin.libs, inNamespace...); err != nil {
		return fmt.Errorf(
			"user %s has no name, which initdb requires (set DATABASE_URL, or use a user in /etc/passwd): %w", uid,
			err)
	}

	return nil
}

// ensureDatabase returns nil once the server accepts connections and the database exists.
func ensureDatabase(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}

	u.Path = "/postgres"
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return err
	}

	defer func() { _ = conn.Close(ctx) }()

	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", superuser).
		Scan(&there); err != nil || there {
		return err
	}

	_, err = conn.Exec(ctx, "CREATE DATABASE "+superuser)

	return err
}
