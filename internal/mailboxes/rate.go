package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ByRate is the reason of a Slot that waits for rate_per_second.
const ByRate = "rate_per_second"

// maxRateWait is the longest wait that TakeRate reserves a moment for. Ten connections, the slots of a concurrency key,
// wait for less at any rate.
const maxRateWait = 15 * time.Second

// rateSQL reserves the next moment of a mailbox, by Postgres's clock. The moments of one mailbox lie 1.05/rate seconds
// apart: the twentieth is what may lie between a moment and the final dot. A lost reservation does no harm, since its
// moment has passed when Postgres has recovered; so the commit is asynchronous.
const rateSQL = `
UPDATE mailbox
SET rate_next_at = greatest(CASE WHEN NOT ` + stampedAhead + ` THEN rate_next_at END, clock_timestamp())
	+ make_interval(secs => 1.05 / rate_per_second)
WHERE org_id = $1 AND id = $2 AND rate_per_second IS NOT NULL
	AND (rate_next_at IS NULL OR rate_next_at < clock_timestamp() + $3::interval OR ` + stampedAhead + `)
RETURNING greatest(rate_next_at - make_interval(secs => 1.05 / rate_per_second) - clock_timestamp(), interval '0'),
	set_config('synchronous_commit', 'off', true)`

// stampedAhead is true of a moment that no mail has reserved since the clock of Postgres was set back: it is further
// ahead than maxRateWait.
const stampedAhead = `rate_next_at > clock_timestamp() + interval '1 minute'`

// TakeRate reserves the next moment at which a mailbox with rate_per_second may mark a mail. The caller waits for the
// slot's At and marks at once. A slot that is not free reserves nothing, and may be asked for again at its At. TakeRate
// has a transaction of its own, since the row stays locked until its end.
func TakeRate(ctx context.Context, db *postgres.DB, org, mailbox id.ID) (s Slot, err error) {
	var wait time.Duration
	err = db.Tx(ctx, org, func(tx *postgres.Tx) error {
		var setting string
		return tx.QueryRow(ctx, rateSQL, []any{org, mailbox, maxRateWait}, &wait, &setting)
	})
	switch {
	case postgres.None(err):
		return Slot{Reason: ByRate, At: time.Now().Add(maxRateWait / 2)}, nil
	case err != nil:
		return Slot{}, fmt.Errorf("reserve rate of mailbox: %w", err)
	}
	return Slot{Free: true, At: time.Now().Add(wait)}, nil
}
