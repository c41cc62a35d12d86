package enrolments

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
)

// dueSQL is when the first enrolment of a group with a priority is due; NULL: there is none.
const dueSQL = `(SELECT n.due_at FROM enrolment n WHERE n.org_id = $1 AND n.grp = u.id AND n.prio = %d
	AND n.due_at IS NOT NULL ORDER BY n.due_at LIMIT 1)`

// raiseSQL sets wake_at of groups that are held to the end of the hold, without a look at their enrolments, and of the
// others to when their first enrolment is due or its pause ends, but not before a floor. It leaves out groups whose
// wake_at has changed since it was read.
var raiseSQL = `
UPDATE send_group g SET wake_at = u.wake FROM (
	SELECT u.id, u.was, CASE WHEN u.held THEN u.floor ELSE least(
		(SELECT greatest(d, u.floor) FROM (SELECT ` + fmt.Sprintf(dueSQL, followUp) + ` AS d) x WHERE d IS NOT NULL),
		(SELECT greatest(d, u.first) FROM (SELECT ` + fmt.Sprintf(dueSQL, first) + ` AS d) x WHERE d IS NOT NULL),
		(SELECT greatest(n.resume_at, u.floor) FROM enrolment n WHERE n.org_id = $1 AND n.grp = u.id
			AND n.resume_at IS NOT NULL ORDER BY n.resume_at LIMIT 1)) END AS wake
	FROM unnest($2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::boolean[], $6::timestamptz[])
		AS u (id, floor, first, held, was)
) u
WHERE g.org_id = $1 AND g.id = u.id AND g.wake_at = u.was AND g.wake_at IS DISTINCT FROM u.wake`

// raiseWakeTimes sets wake_at of the groups to when they are looked at next, unless a transaction that makes a step due
// is under way.
func (t *tick) raiseWakeTimes(ctx context.Context) error {
	all := make([]int64, 0, len(t.groups))
	of := make(map[int64]*group, len(t.groups))
	for _, g := range t.groups {
		if !g.stays {
			all, of[g.id] = append(all, g.id), g
		}
	}
	if len(all) == 0 {
		return nil
	}

	free, err := states.TryRaise(ctx, t.tx, all)
	if err != nil || len(free) == 0 {
		return err
	}

	floors, firsts, was := make([]time.Time, len(free)), make([]time.Time, len(free)), make([]time.Time, len(free))
	held := make([]bool, len(free))
	for i, id := range free {
		g := of[id]
		floors[i], firsts[i], was[i], held[i] = g.floor, g.newFloor, g.wake, !g.open && g.floor.After(t.now)
		if firsts[i].Before(floors[i]) {
			firsts[i] = floors[i]
		}
	}
	t.tx.Queue(raiseSQL, t.tx.Org(), free, floors, firsts, held, was)

	return nil
}
