package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"

	"github.com/funnelwork/funnelwork/internal/local/debian"
)

// RedisServer is a redis-server that can be run.
type RedisServer struct {
	Path string
	// Libraries is the value of LD_LIBRARY_PATH with which it runs, "" if it needs none.
	Libraries string
	Source    Source
}

// errNoRedis is why no installed redis-server is used.
var errNoRedis = errors.New("no redis-server is installed")

// FindRedis returns the installed redis-server, else one that an earlier start fetched, else fetches one from the
// distribution's packages. It logs which. The error says why there is none.
func FindRedis(ctx context.Context, o RedisOptions) (RedisServer, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if path, err := exec.LookPath("redis-server"); err == nil {
		r := RedisServer{Path: path, Source: Installed}
		r.logServer(ctx, o.Log, errNotGiven)
		return r, nil
	}

	dir, err := packagesDir(o.Home)
	if err != nil {
		return RedisServer{}, fmt.Errorf("%w: %w", errNoRedis, err)
	}

	if r, ok := fetchedRedis(ctx, dir); ok {
		r.logServer(ctx, o.Log, errNoRedis)
		return r, nil
	}

	if o.NoDownload {
		return RedisServer{}, errNoRedis
	}

	if _, err := (debian.Store{Dir: dir, Log: o.Log}).Redis(ctx); err != nil {
		return RedisServer{}, fmt.Errorf("%w; the distribution's packages: %w", errNoRedis, err)
	}

	r, ok := fetchedRedis(ctx, dir)
	if !ok {
		return RedisServer{}, fmt.Errorf("%w; the distribution's packages: the unpacked one does not run", errNoRedis)
	}

	r.logServer(ctx, o.Log, errNoRedis)

	return r, nil
}

// logServer logs which redis-server is used, and why not one of an earlier source.
func (r RedisServer) logServer(ctx context.Context, log *slog.Logger, reason error) {
	log.InfoContext(ctx, "using Redis", "source", r.Source, "program", r.Path, "reason", reason)
}

// fetchedRedis returns a redis-server that has been fetched into dir and runs.
func fetchedRedis(ctx context.Context, dir string) (RedisServer, bool) {
	for _, tree := range debian.Trees(dir, "redis-server") {
		libs := tree.Libraries()
		for _, path := range tree.Glob("usr/bin/redis-server") {
			cmd := exec.CommandContext(ctx, path, "--version")
			cmd.Env = serverEnv(libs)
			if cmd.Run() == nil {
				return RedisServer{Path: path, Libraries: libs, Source: Packages}, true
			}
		}
	}

	return RedisServer{}, false
}
