package enrolments

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/templates"
)

// Engine executes the steps of enrolments. It is safe for concurrent use.
type Engine struct {
	Emails    *emails.Service
	Templates *templates.Service
	// Send enqueues the job of an email.
	Send func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error
	// Model returns the scoring model of tx's org. Changed records the scores of changed contacts.
	Model   func(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error)
	Changed func(ctx context.Context, tx *postgres.Tx, changed []contacts.Change) error
	Log     *slog.Logger
}

const (
	groupsAtOnce = 500              // groups that a tick looks at
	stepsAtOnce  = 1000             // enrolments that a tick takes in groups that send nothing
	mailsAtOnce  = 200              // emails that a tick writes
	recheck      = time.Minute      // of a group that waits for a person
	busy         = time.Second      // until the mails that are under way are looked at again
	retryStep    = 5 * time.Minute  // of a step that failed by an error of ours
	checkEvery   = 10 * time.Minute // of a condition that waits
)

// tick is one look at the groups of an org that are due.
type tick struct {
	*Engine
	tx  *postgres.Tx
	now time.Time // by Postgres's clock
	// earliest is now, or the time by the process's clock if that is earlier: Postgres's clock may be ahead and be set
	// back, and what has waited for it must not wait again.
	earliest time.Time
	groups   []*group
	versions map[versionKey]*loaded
	boxes    map[id.ID]*mailboxes.Sending
	news     map[id.ID]*newLimit
	earlier  map[id.ID]earlier           // of the enrolments that are being executed
	stops    map[id.ID]comparisons.Stops // of sequences
	stored   map[int64]bool              // groups whose rows are written
	model    *scoring.Model
	base     *string // of links
	left     int     // emails
	ending   *id.ID  // archived sequence whose enrolments this tick has ended
}

// group is a row of send_group that is looked at.
type group struct {
	id            int64
	sequence      id.ID
	mailbox       *id.ID // nil: steps that send nothing
	schedule      []byte
	zone          string
	opens, closes *time.Time
	body          []byte
	status        *string // of the sequence; nil: it is gone
	wake          time.Time

	open  bool
	stays bool // due, for the next tick
	// floor is the time before which the group need not be looked at; newFloor is that of first steps.
	floor, newFloor time.Time
}

// Tick looks at the groups of tx's org that are due, and executes their due steps as far as their mailboxes may send.
// It ends after a bounded amount of work; what is left is due at once.
func (e *Engine) Tick(ctx context.Context, tx *postgres.Tx) error {
	t := &tick{
		Engine: e, tx: tx, versions: map[versionKey]*loaded{}, boxes: map[id.ID]*mailboxes.Sending{},
		news: map[id.ID]*newLimit{}, stops: map[id.ID]comparisons.Stops{}, stored: map[int64]bool{}, left: mailsAtOnce,
	}
	tx.Queue(planning)
	for _, part := range []func(context.Context) error{
		t.readDueGroups, t.decideOpenGroups, t.resumeDue, t.runSilentSteps, t.runMailSteps, t.raiseWakeTimes,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}

	return nil
}

// planning precedes the statements of a tick. The tables swing between empty and millions of rows, so that statistics
// mislead the planner.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('plan_cache_mode', 'force_generic_plan', true)`

// groupsSQL reads the org's groups that are due at $2, by an index that has the groups of this org together.
const groupsSQL = `
SELECT g.id, g.sequence_id, g.mailbox_id, g.schedule, g.zone, z.opens_at, z.closes_at, z.body, q.status, g.wake_at
FROM send_group g
	LEFT JOIN schedule_zone z ON z.org_id = $1 AND z.schedule = g.schedule AND z.zone = g.zone
	LEFT JOIN sequence q ON q.org_id = $1 AND q.id = g.sequence_id
WHERE g.org_id = $1 AND g.wake_at <= $2 ORDER BY g.wake_at LIMIT $3`

// readDueGroups reads the groups that are due.
func (t *tick) readDueGroups(ctx context.Context) error {
	if err := t.tx.QueryRow(ctx, `SELECT clock_timestamp()`, nil, &t.now); err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	if t.earliest = time.Now(); t.now.Before(t.earliest) {
		t.earliest = t.now
	}
	rows, err := t.tx.Query(ctx, groupsSQL, t.tx.Org(), t.now, groupsAtOnce)
	if err != nil {
		return fmt.Errorf("read groups: %w", err)
	}

	t.groups, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*group, error) {
		g := &group{}
		return g, row.Scan(&g.id, &g.sequence, &g.mailbox, &g.schedule, &g.zone, &g.opens, &g.closes, &g.body,
			&g.status, &g.wake)
	})
	if err != nil {
		return fmt.Errorf("read groups: %w", err)
	}

	return nil
}

// decideOpenGroups decides which groups are open: the sequence is active and the window open. It ends the enrolments of
// archived sequences.
func (t *tick) decideOpenGroups(ctx context.Context) error {
	for _, g := range t.groups {
		switch {
		case g.status == nil || *g.status == sequences.Archived:
			if err := t.endAll(ctx, g); err != nil {
				return err
			}
		case *g.status != sequences.Active:
			g.floor = t.now.Add(recheck)
		case g.mailbox == nil:
			g.open = true
		default:
			if err := t.decideWindow(g); err != nil {
				return err
			}
		}
	}

	return nil
}

// endAll ends enrolments of the archived sequence of a group. A tick ends those of one sequence, and executes no steps
// that send nothing besides: a transaction has at most 4,096 events.
func (t *tick) endAll(ctx context.Context, g *group) error {
	if t.ending != nil {
		g.stays = g.sequence != *t.ending
		return nil
	}
	t.ending = &g.sequence
	_, err := EndAll(ctx, t.tx, g.sequence, sequences.Archived, "")
	return err
}

// decideWindow decides whether the window of a group is open. A window that has closed, by the clocks of Postgres and
// of the process, is replaced by the next one.
func (t *tick) decideWindow(g *group) error {
	if g.opens == nil || g.closes == nil {
		g.floor = t.now.Add(recheck)
		return nil
	}
	if !g.closes.After(t.earliest) {
		var w states.Window
		if err := json.Unmarshal(g.body, &w); err != nil {
			return fmt.Errorf("decode schedule: %w", err)
		}
		opens, closes, err := nextWindow(w.Schedule(), g.zone, t.earliest)
		if err != nil {
			return err
		}
		g.opens, g.closes = &opens, &closes
		t.tx.Queue(`UPDATE schedule_zone SET opens_at = $4, closes_at = $5 WHERE org_id = $1 AND schedule = $2
			AND zone = $3 AND closes_at <= $6`, t.tx.Org(), g.schedule, g.zone, opens, closes,
			t.earliest)
	}
	if g.open = !g.opens.After(t.now); !g.open {
		g.floor = *g.opens
	}

	return nil
}

// resumeDue ends the pauses of the groups whose time has come.
func (t *tick) resumeDue(ctx context.Context) error {
	var active []int64
	for _, g := range t.groups {
		if g.status != nil && *g.status == sequences.Active {
			active = append(active, g.id)
		}
	}
	if len(active) == 0 {
		return nil
	}

	found, err := readWhere(ctx, t.tx, `n.id IN (SELECT o.id FROM unnest($2::bigint[]) AS g (id), LATERAL (
		SELECT p.id FROM enrolment p WHERE p.org_id = $1 AND p.grp = g.id AND p.resume_at <= $3
		ORDER BY p.resume_at LIMIT $4) o) AND n.resume_at <= $3 ORDER BY n.id FOR UPDATE SKIP LOCKED`, active, t.now,
		stepsAtOnce)
	if err != nil || len(found) == 0 {
		return err
	}
	_, err = resumePaused(ctx, t.tx, "time", `n.id = ANY ($3::uuid[])`, idsOf(found))

	return err
}
