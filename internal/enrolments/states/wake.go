package states

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// lockOf returns the advisory lock of a group.
func lockOf(org id.ID, group int64) int64 {
	b := binary.BigEndian.AppendUint64([]byte("send_group/"+org.String()+"/"), uint64(group))
	sum := sha256.Sum256(b)
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// Due queues that a step of the group is due at a time. Call it after the statement that makes the step due.
func Due(tx *postgres.Tx, group int64, at time.Time) {
	tx.Queue(`SELECT pg_advisory_xact_lock_shared($1)`, lockOf(tx.Org(), group))
	tx.Queue(`UPDATE send_group SET wake_at = $3 WHERE org_id = $1 AND id = $2 AND (wake_at IS NULL OR wake_at > $3)`,
		tx.Org(), group, at)
}

// TryRaise returns those of the groups that wake_at may be raised of until tx ends: no other transaction that has
// called Due for them is under way.
func TryRaise(ctx context.Context, tx *postgres.Tx, groups []int64) ([]int64, error) {
	locks := make([]int64, len(groups))
	for i, g := range groups {
		locks[i] = lockOf(tx.Org(), g)
	}
	free := make([]bool, 0, len(groups))
	err := tx.QueryRow(ctx, `SELECT coalesce(array_agg(pg_try_advisory_xact_lock(k) ORDER BY n), '{}')
		FROM unnest($1::bigint[]) WITH ORDINALITY AS u (k, n)`, []any{locks}, &free)
	if err != nil {
		return nil, fmt.Errorf("lock groups: %w", err)
	}
	out := make([]int64, 0, len(groups))
	for i, g := range groups {
		if free[i] {
			out = append(out, g)
		}
	}
	return out, nil
}

// Wake queues that all groups of a sequence are looked at now: it was resumed, or archived. It also changes wake_at of
// groups that are due: a tick that read the status of the sequence before does not raise a wake_at that has changed.
func Wake(tx *postgres.Tx, sequence id.ID) {
	tx.Queue(`UPDATE send_group SET wake_at = clock_timestamp() WHERE org_id = $1 AND id IN (SELECT id FROM send_group
		WHERE org_id = $1 AND sequence_id = $2 ORDER BY id FOR UPDATE)`, tx.Org(), sequence)
}

// Group is a row of send_group.
type Group struct {
	Sequence id.ID
	Mailbox  id.ID // zero: steps that send nothing
	Schedule []byte
	Zone     string
}

// ID returns the id of the group, a hash of it.
func (g *Group) ID() int64 {
	b := slices.Concat(g.Sequence[:], g.Mailbox[:], g.Schedule, []byte(g.Zone))
	sum := sha256.Sum256(b)
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// Window is a schedule in its stored form.
type Window struct {
	Days     [7]bool  `json:"days"` // from Sunday
	From     int      `json:"from"` // minutes after midnight
	To       int      `json:"to"`
	Holidays []string `json:"holidays"`
}

// WindowOf returns the stored form of a schedule.
func WindowOf(s *schedule.Schedule) Window {
	w := Window{Days: s.Days, From: int(s.From), To: int(s.To), Holidays: make([]string, 0, len(s.Holidays))}
	for day := range s.Holidays {
		w.Holidays = append(w.Holidays, day.String())
	}
	slices.Sort(w.Holidays)
	return w
}

// Schedule returns the schedule.
func (w *Window) Schedule() *schedule.Schedule {
	s := &schedule.Schedule{
		Days: w.Days, From: schedule.Clock(w.From), To: schedule.Clock(w.To),
		Holidays: make(map[schedule.Date]struct{}, len(w.Holidays)),
	}
	for _, text := range w.Holidays {
		if day, err := schedule.ParseDate(text); err == nil {
			s.Holidays[day] = struct{}{}
		}
	}
	return s
}

// Key returns the JSON of the schedule and its hash.
func (w *Window) Key() (body string, hash []byte, err error) {
	b, err := json.Marshal(w)
	if err != nil {
		return "", nil, fmt.Errorf("encode schedule: %w", err)
	}
	sum := sha256.Sum256(b)
	return string(b), sum[:16], nil
}
