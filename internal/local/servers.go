package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Wanted lists the servers that an installation has been given and those that it needs.
type Wanted struct {
	Home        string // held until Close
	DatabaseURL string // "": a private Postgres
	RedisURL    string // "": a private Redis, unless NoRedis
	NoRedis     bool
	Repository  string // as in PostgresOptions
	Log         *slog.Logger
}

// Servers are the servers that an installation connects to.
type Servers struct {
	DatabaseURL, RedisURL string
	// PrivatePostgres and PrivateRedis are set for the servers that this process started. RedisInProcess is set if its
	// Redis is no server of its own: no redis-server was found.
	PrivatePostgres, PrivateRedis, RedisInProcess bool
	// PostgresSource and RedisSource say where the programs of the private servers come from.
	PostgresSource, RedisSource Source

	home     *Home
	postgres *Postgres
	redis    *Redis
}

// Start holds the home and starts the servers that are wanted and not given, Postgres first. On an error it stops all
// of them. If another process holds the home and only a database is wanted, Start returns that process's database, and
// its Redis if it has a private one.
func Start(ctx context.Context, w Wanted) (*Servers, error) {
	s := &Servers{DatabaseURL: w.DatabaseURL, RedisURL: w.RedisURL}
	var err error
	if s.home, err = OpenHome(w.Home); err != nil {
		if errors.Is(err, ErrInUse) && w.NoRedis {
			for file, to := range map[string]*string{databaseURL: &s.DatabaseURL, redisURL: &s.RedisURL} {
				if address, unknown := readPublished(w.Home, file); unknown == nil && *to == "" {
					*to = address
				}
			}

			if s.DatabaseURL != "" {
				return s, nil
			}
		}

		return nil, err
	}

	if s.DatabaseURL == "" {
		if s.postgres, err = StartPostgres(ctx,
			PostgresOptions{Home: s.home.Dir, Repository: w.Repository, Log: w.Log}); err == nil {
			s.DatabaseURL = s.postgres.URL
			s.PrivatePostgres = true
			s.PostgresSource = s.postgres.Source
			err = s.home.publish(databaseURL, s.DatabaseURL)
		}
	}

	if err == nil && s.RedisURL == "" && !w.NoRedis {
		if s.redis, err = StartRedis(ctx,
			RedisOptions{Home: s.home.Dir, NoDownload: w.Repository == "none", Log: w.Log}); err == nil {
			s.RedisURL = s.redis.URL
			s.PrivateRedis = true
			s.RedisInProcess = s.redis.InProcess
			s.RedisSource = s.redis.Source
			err = s.home.publish(redisURL, s.RedisURL)
		}
	}

	if err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}

	return s, nil
}

// Watch returns nil when ctx ends, and an error when a private server ends before that.
func (s *Servers) Watch(ctx context.Context) error {
	var postgres, redis <-chan struct{}
	if s.postgres != nil {
		postgres = s.postgres.proc.gone
	}
	if s.redis != nil && s.redis.proc != nil {
		redis = s.redis.proc.gone
	}

	select {
	case <-ctx.Done():
		return nil
	case <-postgres:
		return fmt.Errorf("the private Postgres exited: %s", s.postgres.proc.logComplaint())
	case <-redis:
		return fmt.Errorf("the private Redis exited: %s", s.redis.proc.logComplaint())
	}
}

// Close stops the private servers gracefully, or immediately when ctx ends, and releases the home.
func (s *Servers) Close(ctx context.Context) error {
	var errs []error
	if s.redis != nil {
		errs = append(errs, s.home.withdraw(redisURL), s.redis.Stop(ctx))
	}
	if s.postgres != nil {
		errs = append(errs, s.home.withdraw(databaseURL), s.postgres.Stop(ctx))
	}
	if s.home != nil {
		errs = append(errs, s.home.Close())
	}

	return errors.Join(errs...)
}
