package mailboxes

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// most is how many automated mails a mailbox without limits may have under way, and perRate the seconds of its rate.
const (
	most    = 500
	perRate = 20
)

// Room returns how many more automated mails of a mailbox may be prepared now, when underWay of them are not sent yet.
// Without any, the slot says why and when to look again. TakeSlot decides at each mark.
func Room(ctx context.Context, tx *postgres.Tx, mailbox id.ID, underWay int) (n int, s Slot, err error) {
	var rate *int
	g, err := readGate(ctx, tx, mailbox, "")
	if postgres.None(err) {
		return 0, Slot{Reason: Disabled}, nil
	}
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT rate_per_second FROM mailbox WHERE org_id = $1 AND id = $2`,
			[]any{tx.Org(), mailbox}, &rate)
	}
	if err != nil {
		return 0, s, fmt.Errorf("read mailbox: %w", err)
	}

	if s, stopped := g.stoppedSlot(); stopped {
		return 0, s, nil
	}

	if g.silent {
		return 0, Slot{Reason: ServerSilent, At: g.now.Add(silentAgain)}, nil
	}

	n = most
	if rate != nil {
		n = min(most, max(perRate**rate, 1))
	}
	if g.gapMax > 0 {
		n = 1
		if g.nextSlot != nil && g.now.Before(*g.nextSlot) {
			return 0, Slot{Reason: ByGap, At: *g.nextSlot}, nil
		}
	}
	if limit, reason := g.windowLimit(true); limit > 0 {
		at, full, err := fullUntil(ctx, tx, mailbox, limit, g.now)
		if err != nil || full {
			return 0, Slot{Reason: reason, At: at}, err
		}
		var marked int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM email WHERE org_id = $1 AND mailbox_id = $2
			AND marked_at > $3`, []any{tx.Org(), mailbox, g.now.Add(-Window)}, &marked); err != nil {
			return 0, s, fmt.Errorf("count marks: %w", err)
		}
		n = min(n, limit-marked)
	}
	if n -= underWay; n > 0 {
		return n, Slot{Free: true}, nil
	}

	return 0, Slot{Reason: UnderWay}, nil
}

// UnderWay is the reason of a Slot that waits for the mails that are under way.
const UnderWay = "under_way"
