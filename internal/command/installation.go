package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/migrations"
)

// checkInstallation returns an error if the settings contradict the database: this binary is older than the schema
// allows, or the given Redis works for another database. A Redis that is away is not asked.
func (p *process) checkInstallation(ctx context.Context) error {
	var (
		installation id.ID
		servesFrom   int64
	)
	err := p.system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT id, serves_from FROM installation", nil, &installation, &servesFrom)
	})
	if err != nil {
		return fmt.Errorf("read installation: %w", err)
	}

	newest, err := migrations.Newest()
	if err != nil {
		return err
	}
	if newest < servesFrom {
		return fmt.Errorf("DATABASE_URL: the schema is served by versions from migration %d on, and this one has %d: "+
			"start a newer funnelwork", servesFrom, newest)
	}
	if p.servers != nil && p.servers.PrivateRedis {
		return nil
	}

	return p.claimRedis(ctx, installation.String())
}

// installationKey holds the id of the installation whose working set a Redis has.
const installationKey = "funnelwork:installation"

// claimRedis marks the given Redis as the installation's. Jobs and limits of another installation's Redis would be
// neither its own nor ours.
func (p *process) claimRedis(ctx context.Context, installation string) error {
	asking, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()

	err := p.workers.SetArgs(asking, installationKey, installation, redis.SetArgs{Mode: "NX"}).Err()
	if err != nil && !errors.Is(err, redis.Nil) {
		p.log.WarnContext(ctx, "redis not asked whose it is", "error", err)
		return ctx.Err()
	}

	owner, err := p.workers.Get(asking, installationKey).Result()
	switch {
	case err != nil && !errors.Is(err, redis.Nil):
		p.log.WarnContext(ctx, "redis not asked whose it is", "error", err)
		return ctx.Err()
	case owner == installation || owner == "":
		return nil
	default:
		return invalidSetting("redis-url", "REDIS_URL", fmt.Errorf("%s is used by another installation (%s; this "+
			"database's is %s): give this one a Redis of its own, or delete the key %s there if the other is gone",
			redisx.Address(p.RedisURL), owner, installation, installationKey))
	}
}
