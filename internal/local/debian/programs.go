package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// zones is the directory of time zones that is compiled into Debian's Postgres.
const zones = "/usr/share/zoneinfo"

var serverPackage = regexp.MustCompile(`^postgresql-(\d+)$`)

// Postgres fetches a Postgres of the given major version or, if that is 0, the distribution's own, which must be of
// version `oldest` or later. Its binaries are in usr/lib/postgresql/<major>/bin of the tree.
func (s Store) Postgres(ctx context.Context, oldest, major int) (Tree, error) {
	if _, err := os.Stat(zones); err != nil {
		return Tree{}, fmt.Errorf("%s is missing, which the distribution's Postgres reads (package tzdata)", zones)
	}

	return s.fetchTree(ctx, program{
		name: "Postgres",
		packages: func(ctx context.Context, a *apt, config string) ([]string, error) {
			version := strconv.Itoa(major)
			if major == 0 {
				own, err := a.findDependency(ctx, config, "postgresql", serverPackage)
				if err != nil {
					return nil, err
				}

				if n, _ := strconv.Atoi(own); n < oldest {
					return nil, tooOld("Postgres", own, strconv.Itoa(oldest))
				}

				version = own
			}

			return []string{"postgresql-" + version, "postgresql-client-" + version}, nil
		},
		probe: func(t Tree) []string {
			for _, file := range t.Glob("usr/lib/postgresql/*/bin/postgres") {
				return []string{file, "--version"}
			}
			return nil
		},
	})
}

// Redis fetches the distribution's Redis, which must be of version 6.2 or later. Its server is usr/bin/redis-server of
// the tree.
func (s Store) Redis(ctx context.Context) (Tree, error) {
	return s.fetchTree(ctx, program{
		name: "Redis",
		packages: func(context.Context, *apt, string) ([]string, error) {
			return []string{"redis-server", "redis-tools"}, nil // the second has the program of the first on Debian
		},
		refuse: func(p pkg) error {
			var first, second int
			if _, err := fmt.Sscanf(p.upstreamVersion(), "%d.%d", &first, &second); err != nil ||
				first < 6 || first == 6 && second < 2 {
				return tooOld("Redis", p.upstreamVersion(), "6.2")
			}
			return nil
		},
		probe: func(t Tree) []string {
			for _, file := range t.Glob("usr/bin/redis-server") {
				return []string{file, "--version"}
			}
			return nil
		},
	})
}

// ErrTooOld means that the distribution's package is of a version that is not supported.
var ErrTooOld = errors.New("the distribution's version is too old")

func tooOld(name, version, oldest string) error {
	return fmt.Errorf("%w: it has %s %s, and %s or later is needed", ErrTooOld, name, version, oldest)
}
