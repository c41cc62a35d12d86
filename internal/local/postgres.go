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

// PostgresOptions say where and how a private Postgres runs.
type PostgresOptions struct {
	// Home holds the data, or the pointer to it. Empty: a new directory that goes away with the server.
	Home string
	// Repository is the Maven repository that binaries are downloaded from where none are installed; "" means
	// Repository, "none" that nothing is downloaded.
	Repository string
	// Places are glob patterns of directories with binaries, looked at after PATH; nil means the usual ones.
	Places []string
	// Fast gives up durability, for tests. Without a Home its files are in memory where there is room: each test makes and
	// drops a database of a thousand files, and ext4 spends a third of two processors on where not to put the next one.
	Fast bool
	// Template, where not empty, is a directory in which one made cluster is kept and copied from.
	Template string
	// TCP uses a loopback port with a password although sockets would work.
	TCP bool
	Log *slog.Logger
}

// Postgres is a private server that is up. Its superuser owns the one database that URL names.
type Postgres struct {
	URL     string
	Version string
	proc    *process
}

// Done is closed when the server has ended, asked or not.
func (p *Postgres) Done() <-chan struct{} { return p.proc.gone }

// Stop ends the server: sessions are cut, what is committed is on the disk. When ctx ends before that, the
// server is cut short, and recovers at its next start.
func (p *Postgres) Stop(ctx context.Context) error { return p.proc.stop(ctx) }

// StartPostgres starts the server of o.Home and waits until it answers, for a minute at most, because a
// server that was killed first recovers. ErrNoPostgres where there are no binaries.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	p, err := startPostgres(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("private Postgres: %w", err)
	}
	return p, nil
}

// ErrNoPostgres means that neither installed binaries were found nor a download was allowed.
var ErrNoPostgres = errors.New("no Postgres 15 or later is installed")

func startPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, err := place(o.Home, "postgres", o.Fast)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	bin, err := o.binaries(ctx, s, data)
	if err != nil {
		s.discard()
		return nil, err
	}
	sock, err := s.socketDir(".s.PGSQL.5432")
	if err != nil {
		return nil, err
	}
	// Postgres's own defaults, so that what is tried and tested here behaves as on a server that was given to us.
	args := []string{bin.tool("postgres"), "-D", data, "-c", "cluster_name=funnelwork", "-c", "log_checkpoints=off"}
	if o.Fast {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
			"-c", "max_wal_size=256MB", "-c", "max_connections=400") // a small disk; many tests side by side
	} else {
		args = append(args, "-c", "fsync=on", "-c", "synchronous_commit=on")
	}
	query := url.Values{"sslmode": {"disable"}}
	address := &url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + superuser}
	signal := "INT"
	if o.Fast {
		signal = "QUIT"
	}
	if o.TCP || sock == "" {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		address.Host = "127.0.0.1:" + strconv.Itoa(port)
		args = append(args, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-p", strconv.Itoa(port))
	} else {
		query.Set("host", sock)
		query.Set("port", "5432")
		args = append(args, "-c", "listen_addresses=", "-c", "unix_socket_directories="+quoted(sock), "-p", "5432")
	}
	p := &Postgres{Version: bin.version}
	p.proc, err = start(ctx, command{argv: args, dir: s.dir, name: "postgres", user: s.user, signal: signal, remove: s.remove}, func() error {
		if err := o.cluster(ctx, bin, s, data); err != nil {
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
	address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // pgx takes a plus in a path for a plus
	p.URL = address.String()
	if err := p.proc.ready(ctx, func(ctx context.Context) error { return ensureDatabase(ctx, p.URL) }); err != nil {
		return nil, err
	}
	return p, nil
}

// quoted is one entry of a list of directories, as a setting of Postgres has it.
func quoted(dir string) string { return `"` + strings.ReplaceAll(dir, `"`, `""`) + `"` }

// binaries are those that made data, or else the newest installed, or else downloaded ones.
func (o PostgresOptions) binaries(ctx context.Context, s site, data string) (binaries, error) {
	patterns := o.Places
	if patterns == nil {
		patterns = places()
	}
	made := 0
	if v, err := os.ReadFile(filepath.Join(data, "PG_VERSION")); err == nil {
		made, _ = strconv.Atoi(strings.TrimSpace(string(v)))
	}
	if b, ok := find(ctx, patterns, made); ok {
		return b, nil
	}
	if o.Repository == "none" {
		return binaries{}, ErrNoPostgres
	}
	dir := s.dir
	if o.Template != "" {
		dir = o.Template
	}
	b, err := download(ctx, dir, o.Repository, s.user, o.Log)
	if err == nil && made != 0 && b.major != made {
		return b, fmt.Errorf("the data in %s is of Postgres %d, which is not installed any more", data, made)
	}
	return b, err
}

// cluster makes the data directory where there is none. It appears whole or not at all.
func (o PostgresOptions) cluster(ctx context.Context, bin binaries, s site, data string) error {
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Of a start that was killed: its initdb may still be writing there, and what cannot go now goes the next time.
	old, _ := filepath.Glob(data + ".part*")
	for _, dir := range old {
		_ = os.RemoveAll(dir)
	}
	part := data + ".part-" + rand.Text()[:8]
	if o.Template == "" {
		if err := initdb(ctx, bin, s, part, o.Fast); err != nil {
			return err
		}
		return os.Rename(part, data)
	}
	kept := filepath.Join(o.Template, "cluster-"+bin.version)
	lock, err := await(ctx, kept+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		if err := initdb(ctx, bin, s, part, true); err != nil {
			return err
		}
		if err := copyTree(part, kept+".part", nil); err != nil {
			return err
		}
		if err := os.Rename(kept+".part", kept); err != nil {
			return err
		}
		return os.Rename(part, data)
	}
	if err := copyTree(kept, part, s.user); err != nil {
		return err
	}
	return os.Rename(part, data)
}

func initdb(ctx context.Context, bin binaries, s site, data string, fast bool) error {
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
	argv := []string{bin.tool("initdb"), "-D", data, "-U", superuser, "--encoding=UTF8", "--no-locale", "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile=" + pw, "--no-instructions"}
	if fast {
		argv = append(argv, "--no-sync")
	}
	uid := strconv.Itoa(os.Geteuid())
	if _, err := user.LookupId(uid); err == nil || s.user != nil {
		return call(ctx, s.dir, s.user, argv...)
	}
	// initdb, and it alone, insists on a name for its user. Containers run us as a bare number: there it gets a
	// name space in which that number is nobody.
	if err := call(ctx, s.dir, nil, append([]string{"unshare", "--user", "--map-user=65534"}, argv...)...); err != nil {
		return fmt.Errorf("user %s has no name, which initdb wants (give DATABASE_URL, or a user that is in /etc/passwd): %w", uid, err)
	}
	return nil
}

// ensureDatabase answers nil once the server does and the database is there.
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
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", superuser).Scan(&there); err != nil || there {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+superuser)
	return err
}

// copyTree copies a directory of plain files and gives the copy to u.
func copyTree(from, to string, u *owner) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		if d.IsDir() {
			err = os.Mkdir(target, 0o700) //nolint:gosec // nobody else may enter either directory
		} else {
			var b []byte
			if b, err = os.ReadFile(path); err == nil { //nolint:gosec // as above
				err = os.WriteFile(target, b, 0o600) //nolint:gosec // as above
			}
		}
		if err != nil || u == nil {
			return err
		}
		return os.Chown(target, u.uid, u.gid) //nolint:gosec // as above
	})
}
