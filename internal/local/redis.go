package local

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// RedisOptions configures a private Redis.
type RedisOptions struct {
	// Home holds its append-only file and a fetched redis-server. If empty, a new directory is used and removed with
	// the server, in memory if there is room, and a fetched redis-server is kept in the user's cache directory.
	Home string
	// Server is the program to run. Without a Path, StartRedis calls FindRedis.
	Server RedisServer
	// NoDownload fetches no redis-server.
	NoDownload bool
	// TCP uses a loopback port with a password even if sockets would work.
	TCP bool
	Log *slog.Logger
}

// Redis is a running private server. It keeps every key (noeviction) and, with a Home, loses at most the last second.
type Redis struct {
	URL string
	// InProcess reports that no redis-server was found and that Redis runs in this process: its contents end with it.
	InProcess bool
	Source    Source
	opts      RedisOptions
	site      site
	port      int
	secret    string
	proc      *process
	pid       int
	mini      *miniredis.Miniredis
	stopClock func()
}

// StartRedis starts the redis-server that FindRedis finds, else an in-process one, which it logs in one line.
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Server.Path == "" {
		server, err := FindRedis(ctx, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}

		if err != nil {
			return playRedis(ctx, o, err)
		}

		o.Server = server
	}

	s, err := chooseSite(o.Home, "redis", true)
	if err != nil {
		return nil, fmt.Errorf("private Redis: %w", err)
	}

	r := &Redis{opts: o, site: s, Source: o.Server.Source}
	if err = r.chooseAddress(); err == nil {
		err = r.Start(ctx)
	}

	if err != nil {
		s.discard()
		return nil, fmt.Errorf("private Redis: %w", err)
	}

	return r, nil
}

const socketName = "redis.sock"

// chooseAddress chooses the address.
func (r *Redis) chooseAddress() error {
	sock, err := r.site.socketDir(socketName)
	if err != nil {
		return err
	}

	if sock != "" && !r.opts.TCP {
		r.URL = (&url.URL{Scheme: "unix", Path: filepath.Join(sock, socketName)}).String()
		return nil
	}

	if r.port, err = freePort(); err != nil {
		return err
	}

	r.secret = rand.Text()
	r.URL = "redis://:" + r.secret + "@127.0.0.1:" + strconv.Itoa(r.port)

	return nil
}

// Start starts the server again after Halt, with the same address and contents.
func (r *Redis) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	opt, err := redis.ParseURL(r.URL)
	if err != nil {
		return err
	}

	argv := []string{
		r.opts.Server.Path, "--dir", r.site.dir, "--daemonize", "no",
		"--appendonly", "yes", "--appendfsync", "everysec",
		"--save", "", "--maxmemory-policy", "noeviction",
		"--port", strconv.Itoa(r.port), "--bind", "127.0.0.1",
	}
	if r.port == 0 {
		argv = append(argv, "--unixsocket", opt.Addr, "--unixsocketperm", "700")
	} else {
		argv = append(argv, "--requirepass", r.secret)
	}

	c := command{
		argv: argv, dir: r.site.dir, name: "redis", user: r.site.user, signal: "INT", remove: r.site.remove,
		libs: r.opts.Server.Libraries,
	}
	r.proc, err = startProcess(ctx, c, func() error {
		if r.port == 0 {
			_ = os.Remove(opt.Addr)
		}
		return nil
	})
	if err != nil {
		return err
	}

	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()

	if err := r.proc.awaitReady(ctx, func(ctx context.Context) error { return client.Ping(ctx).Err() }); err != nil {
		return err
	}

	info, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		return err
	}

	r.pid, err = strconv.Atoi(info["Server"]["process_id"])

	return err
}

// Halt ends the server so that Start can continue it. It does not support the in-process server.
func (r *Redis) Halt(ctx context.Context) error { return r.proc.stopKeeping(ctx) }

// Stop saves the contents and ends the server.
func (r *Redis) Stop(ctx context.Context) error {
	if r.mini != nil {
		r.stopClock()
		r.mini.Close()
		return nil
	}

	err := r.proc.stop(ctx)
	r.site.discard()

	return err
}

// Signal sends sig to the server and not to its watchdog (SIGSTOP and SIGCONT simulate a hung server). The server must
// be running, and must not be the in-process one.
func (r *Redis) Signal(sig syscall.Signal) error { return syscall.Kill(r.pid, sig) }

// playRedis serves the protocol from this process. The library's clock does not run by itself, so keys would never
// expire: each second it is advanced by the elapsed time.
func playRedis(ctx context.Context, o RedisOptions, reason error) (*Redis, error) {
	m := miniredis.NewMiniRedis()
	secret := rand.Text()
	m.RequireAuth(secret) // the port is open to every user of the machine
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("in-process Redis: %w", err)
	}

	o.Log.WarnContext(ctx,
		"no redis-server found: using an in-process Redis, for trials only; queued work is kept in Postgres",
		"reason", reason)
	stop := make(chan struct{})
	wg := sync.WaitGroup{}
	wg.Go(func() {
		tick := time.NewTicker(time.Second)
		last := time.Now()
		defer tick.Stop()

		for {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				m.FastForward(now.Sub(last))
				last = now
			}
		}
	})

	return &Redis{
		URL: "redis://:" + secret + "@" + m.Addr(), InProcess: true, Source: InProcess, opts: o, mini: m,
		stopClock: sync.OnceFunc(func() {
			close(stop)
			wg.Wait()
		}),
	}, nil
}
