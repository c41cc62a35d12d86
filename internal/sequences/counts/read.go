package counts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Counts are those of a sequence or a broadcast.
type Counts struct {
	Enrolments map[string]int64 // by state, without zeros
	Emails     []Emails         // of the steps and variants that have any, ordered by these
}

// Emails are the counts of the emails of a step and a variant.
type Emails struct {
	Step    string  // "" of a broadcast
	Variant *string // nil: none

	Waiting      int // scheduled or planned
	Transmitting int
	Sent         int
	Unknown      int
	Failed       int
	Cancelled    int

	Delivered      int
	Bounced        int
	Complained     int
	Replied        int
	Clicked        int
	Opened         int
	MachineClicked int // emails with such a click
	MachineOpened  int
	Unsubscribed   int // emails that were the last one of an enrolment that is unsubscribed
	MachineClicks  int // sum over the emails of a broadcast; 0 of a sequence
	MachineOpens   int

	First *time.Time // when the first of them was marked; nil: none is
}

// All returns the number of the emails.
func (e *Emails) All() int {
	return e.Waiting + e.Transmitting + e.Sent + e.Unknown + e.Failed + e.Cancelled
}

// Read returns the counts of each of the sequences and broadcasts of tx's org, as of one moment.
func Read(ctx context.Context, tx *postgres.Tx, sources ...id.ID) (map[id.ID]*Counts, error) {
	tx.Queue(byKeys)
	found, err := readRows(ctx, tx, `SELECT `+listed+` FROM (`+counted+`) AS x ORDER BY step, variant`, sources)
	if err != nil {
		return nil, err
	}

	isCounted := map[id.ID]bool{}
	for i := range found {
		isCounted[found[i].source] = true
	}

	uncounted := slices.DeleteFunc(slices.Clone(sources), func(i id.ID) bool { return isCounted[i] })
	if len(uncounted) > 0 {
		now, err := readRows(ctx, tx, `SELECT `+listed+` FROM (`+live+`) AS x ORDER BY step, variant`, uncounted)
		if err != nil {
			return nil, err
		}
		found = append(found, now...)
	}
	out := make(map[id.ID]*Counts, len(sources))
	for _, i := range sources {
		out[i] = &Counts{Enrolments: map[string]int64{}}
	}

	for i := range found {
		if err := found[i].lookUpFirst(ctx, tx); err != nil {
			return nil, err
		}
		found[i].addTo(out[found[i].source])
	}

	return out, nil
}

// row is a row of counts.
type row struct {
	source     id.ID
	variant    string // "": none
	enrolments []int64
	emails     Emails
	uncertain  bool // whether First was taken away
}

// listed are the columns of a row.
const listed = `source_id, step, variant, ` + enrolmentAmounts + `, ` + emailAmounts + `, marked_at,
	coalesce(unmarked_at <= marked_at, false)`

// readRows returns the rows of a query about sources.
func readRows(ctx context.Context, tx *postgres.Tx, sql string, sources []id.ID) ([]row, error) {
	found, err := tx.Query(ctx, sql, tx.Org(), sources)
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}

	all, err := pgx.CollectRows(found, func(from pgx.CollectableRow) (r row, err error) {
		e := &r.emails
		r.enrolments = make([]int64, len(states.All()))
		targets := []any{&r.source, &e.Step, &r.variant}
		for i := range r.enrolments {
			targets = append(targets, &r.enrolments[i])
		}
		return r, from.Scan(append(targets, &e.Waiting, &e.Transmitting, &e.Sent, &e.Unknown, &e.Failed, &e.Cancelled,
			&e.Delivered, &e.Bounced, &e.Complained, &e.Replied, &e.Clicked, &e.Opened, &e.MachineClicked,
			&e.MachineOpened, &e.Unsubscribed, &e.MachineClicks, &e.MachineOpens, &e.First, &r.uncertain)...)
	})
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}

	return all, nil
}

// addTo adds what is not zero to the counts of the row's source.
func (r *row) addTo(to *Counts) {
	for i, state := range states.All() {
		if n := r.enrolments[i]; n != 0 {
			to.Enrolments[state] += n
		}
	}

	if r.emails.All() == 0 {
		return
	}
	if r.variant != "" {
		r.emails.Variant = &r.variant
	}
	if r.emails.Step != "" { // an update of these alone is not counted
		r.emails.MachineClicks = 0
		r.emails.MachineOpens = 0
	}
	to.Emails = append(to.Emails, r.emails)
}

// lookUpFirst reads the time of the first mark of the row's emails if the one that was counted was taken away.
func (r *row) lookUpFirst(ctx context.Context, tx *postgres.Tx) error {
	if !r.uncertain {
		return nil
	}
	r.emails.First = nil
	if err := tx.QueryRow(ctx, `SELECT (`+firstMark("$1", "$2", "$3", "$4")+`)`,
		[]any{tx.Org(), r.source, r.emails.Step, r.variant}, &r.emails.First); err != nil {
		return fmt.Errorf("read first mark: %w", err)
	}
	return nil
}
