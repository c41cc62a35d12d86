package enrolments

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

// plan decides the mailbox, the zone and the group of new enrolments.
type plan struct {
	sequence id.ID
	windows  *schedule.Schedule
	fixed    string // zone of the schedule; "": that of the contact
	orgZone  string
	boxes    []box
	body     string // of the schedule, with its hash
	hash     []byte
	groups   map[int64]states.Group
	zones    map[string]*time.Location // by name, since loading one reads a file; nil: there is no such zone
}

type box struct {
	id   id.ID
	zone string
}

// planOf returns the plan of a version. mailbox replaces its mailboxes; nil: it does not.
func planOf(ctx context.Context, tx *postgres.Tx, v *sequences.Version, mailbox *id.ID) (*plan, error) {
	p, err := newGroupPlan(v)
	if err != nil {
		return nil, err
	}
	ids := v.MailboxIDs
	if mailbox != nil {
		ids = []id.ID{*mailbox}
	}
	if len(v.Steps) == 0 {
		return nil, fault.New(fault.SequenceNotActive, "The sequence has no steps.")
	}

	mailboxes.LockUse(tx, ids...)
	rows, err := tx.Query(ctx, `SELECT id, time_zone FROM mailbox WHERE org_id = $1 AND id = ANY ($2::uuid[])
		AND archived_at IS NULL ORDER BY id`, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read mailboxes: %w", err)
	}

	if p.boxes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (b box, err error) {
		return b, row.Scan(&b.id, &b.zone)
	}); err != nil {
		return nil, fmt.Errorf("read mailboxes: %w", err)
	}

	if len(p.boxes) == 0 {
		if mailbox != nil {
			return nil, fault.Invalid("mailbox_id", "unknown_mailbox", "There is no such mailbox.")
		}
		return nil, fault.New(fault.MailboxNotActive, "The sequence has no mailbox that is left.")
	}

	if _, err := org.Setting(ctx, tx, "time_zone", &p.orgZone); err != nil {
		return nil, err
	}

	return p, nil
}

// newGroupPlan returns the part of a plan that decides the groups of steps.
func newGroupPlan(v *sequences.Version) (*plan, error) {
	p := &plan{
		sequence: v.Sequence, windows: v.Schedule.Windows(), groups: map[int64]states.Group{},
		zones: map[string]*time.Location{},
	}
	if v.Schedule.TimeZone != sequences.ContactZone {
		p.fixed = v.Schedule.TimeZone
	}
	w := states.WindowOf(p.windows)
	var err error
	p.body, p.hash, err = w.Key()
	return p, err
}

// chooseMailbox returns the mailbox of a new enrolment. The random bits of its id spread them evenly.
func (p *plan) chooseMailbox(enrolment id.ID) box {
	return p.boxes[binary.BigEndian.Uint64(enrolment[8:])<<2>>2%uint64(len(p.boxes))]
}

// chooseZone returns the zone of an enrolment: of the schedule, else of the contact, the mailbox or the org.
func (p *plan) chooseZone(contact string, b box) string {
	for _, zone := range [...]string{p.fixed, contact, b.zone, p.orgZone} {
		if zone != "" && p.loadLocation(zone) != nil {
			return zone
		}
	}
	return "UTC"
}

// loadLocation returns a zone; nil: there is no such zone.
func (p *plan) loadLocation(zone string) *time.Location {
	location, known := p.zones[zone]
	if !known {
		location, _ = time.LoadLocation(zone) // nil with an error
		p.zones[zone] = location
	}
	return location
}

// addGroup returns the group of a step, and keeps it for queueGroups.
func (p *plan) addGroup(s *steps.Step, mailbox id.ID, zone string) int64 {
	g := states.Group{Sequence: p.sequence, Schedule: []byte{}}
	if s.Kind == steps.KindEmail {
		g.Mailbox, g.Schedule, g.Zone = mailbox, p.hash, zone
	}
	i := g.ID()
	p.groups[i] = g
	return i
}

// queueGroups queues the rows of the groups.
func (p *plan) queueGroups(tx *postgres.Tx, now time.Time) error {
	for _, i := range slices.Sorted(maps.Keys(p.groups)) {
		g := p.groups[i]
		if !g.Mailbox.IsZero() {
			opens, closes, err := nextWindow(p.windows, g.Zone, now)
			if err != nil {
				return err
			}
			tx.Queue(`INSERT INTO schedule_zone (org_id, schedule, zone, body, opens_at, closes_at)
				VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`, tx.Org(), g.Schedule, g.Zone, p.body, opens,
				closes)
		}
		var mailbox *id.ID
		if !g.Mailbox.IsZero() {
			mailbox = &g.Mailbox
		}
		tx.Queue(`INSERT INTO send_group (org_id, id, sequence_id, mailbox_id, schedule, zone)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`, tx.Org(), i, g.Sequence, mailbox, g.Schedule,
			g.Zone)
	}
	clear(p.groups)

	return nil
}

// never is when a window opens that does not.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// nextWindow returns the first window of a schedule that ends after at. Without one it opens never, and is looked at
// again after a month.
func nextWindow(s *schedule.Schedule, zone string, at time.Time) (opens, closes time.Time, err error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return opens, closes, fmt.Errorf("zone of group: %w", err)
	}
	opens, closes, ok := s.Next(at, location)
	if !ok {
		return never, at.Add(30 * 24 * time.Hour), nil
	}
	return opens, closes, nil
}

// forgetGroup makes queueGroups leave out a group, which has its row.
func (p *plan) forgetGroup(group int64) { delete(p.groups, group) }
