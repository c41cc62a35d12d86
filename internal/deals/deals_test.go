package deals_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// shop is one org in its own database.
type shop struct {
	*testkit.Database
	t   *testing.T
	org id.ID
}

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{testkit.DB(t), t, id.New()}
	if err := s.System.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, s.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) tx(fn func(ctx context.Context, tx *postgres.Tx) error) error {
	return s.App.Tx(s.t.Context(), s.org, func(tx *postgres.Tx) error { return fn(s.t.Context(), tx) })
}

func (s *shop) must(fn func(ctx context.Context, tx *postgres.Tx) error) {
	s.t.Helper()
	if err := s.tx(fn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) pipelines() (all []deals.Pipeline) {
	s.t.Helper()
	s.must(func(ctx context.Context, tx *postgres.Tx) error {
		rows, err := deals.ListPipelines(ctx, tx, false, nil, 10)
		for _, r := range rows {
			all = append(all, r.Value)
		}
		return err
	})
	return all
}

func (s *shop) get(i id.ID) (row deals.Row) {
	s.t.Helper()
	s.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		row, err = deals.Get(ctx, tx, i, true)
		return err
	})
	return row
}

// wish returns a random patch.
func wish(r *rand.Rand, all []deals.Pipeline) *deals.Patch {
	p := &deals.Patch{}
	pick := all[r.IntN(len(all))]
	if r.IntN(2) == 0 {
		p.Status = wire.Some([]string{deals.Open, deals.Won, deals.Lost}[r.IntN(3)])
	}
	if r.IntN(3) == 0 {
		p.StageID = wire.Some(pick.Stages[r.IntN(len(pick.Stages))].ID.String())
	}
	if r.IntN(5) == 0 {
		p.PipelineID = wire.Some(pick.ID.String())
	}
	if r.IntN(4) == 0 {
		p.LostReason = wire.Some("reason " + fmt.Sprint(r.IntN(3)))
	}
	if r.IntN(4) == 0 {
		p.Amount = wire.Some(r.Int64N(1000))
	}
	if r.IntN(4) == 0 {
		p.Name = wire.Some(fmt.Sprint("Deal ", r.IntN(3)))
	}
	return p
}

// TestWhateverIsAskedStatusIsTheStagesKindAndTheEventsTellIt sends random changes and replays the events into a second
// deal. It checks that this deal equals the stored one, that its status is the kind of its stage, and that each win and
// each loss is announced once.
func TestWhateverIsAskedStatusIsTheStagesKindAndTheEventsTellIt(t *testing.T) {
	t.Parallel()
	s := open(t)
	two := []deals.StagePatch{
		{Name: wire.Some("Talk"), Kind: wire.Some("open")},
		{Name: wire.Some("Yes"), Kind: wire.Some("won")},
		{Name: wire.Some("Yes, later"), Kind: wire.Some("won")},
		{Name: wire.Some("No"), Kind: wire.Some("lost")},
		{Name: wire.Some("Wait"), Kind: wire.Some("open")},
	}
	s.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := deals.CreatePipeline(ctx, tx, &deals.PipelinePatch{Name: wire.Some("Second"), Stages: wire.Some(two)})
		return err
	})
	all := s.pipelines()
	kinds, homes := map[id.ID]string{}, map[id.ID]id.ID{}
	for _, p := range all {
		for _, st := range p.Stages {
			kinds[st.ID], homes[st.ID] = st.Kind, p.ID
		}
	}
	taken, refused := 0, 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := wish(r, all)
		p.Name, p.LostReason = wire.Some("Deal"), wire.Field[string]{}
		if p.StageID.Set {
			p.Status, p.PipelineID = wire.Field[string]{}, wire.Field[string]{}
		}
		var row deals.Row
		s.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
			row, err = deals.Create(ctx, tx, p)
			return err
		})
		told := deals.Events(&deals.Change{Row: row})
		folded, _ := told[0].Data()
		wins, losses := count(told, "deal.won"), count(told, "deal.lost")
		entries := map[string]int{row.Value.Status: 1}
		for range 40 {
			before := s.get(row.Value.ID)
			var ch deals.Change
			err := s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
				ch, err = deals.Update(ctx, tx, row.Value.ID, nil, wish(r, all))
				return err
			})
			now := s.get(row.Value.ID)
			if err != nil {
				if !fault.Is(err, fault.ValidationFailed) {
					t.Fatal(err)
				}
				if refused++; !cmp.Equal(before, now) {
					t.Errorf("a refused change made %+v of %+v", now, before)
				}
				continue
			}
			taken++
			d := now.Value
			if kind := kinds[d.StageID]; kind != d.Status {
				t.Fatalf("status %s in a stage of kind %s: %+v", d.Status, kind, d)
			}
			if home := homes[d.StageID]; home != d.PipelineID {
				t.Fatalf("pipeline %s with a stage of pipeline %s: %+v", d.PipelineID, home, d)
			}
			if (d.ClosedAt == nil) != (d.Status == deals.Open) {
				t.Fatalf("status %s, but closed at %v: %+v", d.Status, d.ClosedAt, d)
			}
			if d.LostReason != nil && d.Status != deals.Lost {
				t.Fatalf("status %s, but lost because of %q: %+v", d.Status, *d.LostReason, d)
			}
			told := deals.Events(&ch)
			for _, e := range told {
				folded, _ = e.Data()
			}
			if d.Status != before.Value.Status {
				entries[d.Status]++
			}
			if got := count(told, "deal.stage_changed"); (got == 1) != (d.StageID != before.Value.StageID) || got > 1 {
				t.Errorf("%d moves are told from %+v to %+v", got, before.Value, d)
			}
			if got := count(told,
				"deal.reopened"); (got == 1) != (d.Status == deals.Open && before.Value.Status != deals.Open) {
				t.Errorf("%d reopenings are told from %s to %s", got, before.Value.Status, d.Status)
			}
			wins, losses = wins+count(told, "deal.won"), losses+count(told, "deal.lost")
			if diff := cmp.Diff(d, folded.(deals.Deal)); diff != "" {
				t.Fatalf("the events tell another deal than is stored:\n%s", diff)
			}
			if ch.Edit != now.Edit || (ch.Edit == before.Edit) != (len(told) == 0) {
				t.Errorf("edit %d after %d, %d events", now.Edit, before.Edit, len(told))
			}
		}
		if wins != entries[deals.Won] || losses != entries[deals.Lost] {
			t.Errorf("%d wins and %d losses are told of %v", wins, losses, entries)
		}
	}
	if taken < 100 || refused < 50 {
		t.Errorf("%d changes were taken and %d refused: that says little", taken, refused)
	}
}

func count(all []events.Event, name string) (n int) {
	for _, e := range all {
		if e.Type() == name {
			n++
		}
	}
	return n
}

func TestDealsGoToTheSurvivorAndComeBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	conn := testkit.Pgx(t, s.URL)
	var people [3]id.ID
	for i := range people {
		people[i] = id.New()
		if _, err := conn.Exec(t.Context(),
			`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
				created_at, updated_at)
			VALUES ($1, $2, $3, $3, 'A', 'B', 'b', 'lead', now(), now())`, s.org, people[i],
			fmt.Sprintf("p%d@acme.example", i)); err != nil {
			t.Fatal(err)
		}
	}
	var made []id.ID
	for i := range 6 {
		s.must(func(ctx context.Context, tx *postgres.Tx) error {
			row, err := deals.Create(ctx, tx,
				&deals.Patch{Name: wire.Some(fmt.Sprint("Deal ", i)), ContactID: wire.Some(people[i%3].String())})
			made = append(made, row.Value.ID)
			return err
		})
	}
	s.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := deals.Archive(ctx, tx, made[5], nil)
		return err
	})
	holder := func() (out []id.ID) {
		for _, i := range made {
			row := s.get(i)
			if row.Value.ContactID == nil {
				out = append(out, id.ID{})
				continue
			}
			out = append(out, *row.Value.ContactID)
		}
		return out
	}
	before := holder()
	var moved []byte
	s.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		moved, err = deals.Repoint(ctx, tx, people[1:], people[0])
		return err
	})
	if diff := cmp.Diff([]id.ID{people[0], people[0], people[0], people[0], people[0], people[0]},
		holder()); diff != "" {
		t.Error(diff)
	}
	// One deal is reassigned in between: Return leaves it unchanged.
	s.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := deals.Update(ctx, tx, made[1], nil, &deals.Patch{ContactID: wire.Some(people[2].String())})
		return err
	})
	s.must(func(ctx context.Context, tx *postgres.Tx) error { return deals.Return(ctx, tx, moved) })
	before[1] = people[2]
	if diff := cmp.Diff(before, holder()); diff != "" {
		t.Error(diff)
	}
	var held []deals.Deal
	s.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		if held, err = deals.Held(ctx, tx, people[2]); err != nil {
			return err
		}
		deals.Erase(tx, people[2])
		return nil
	})
	if len(held) != 3 {
		t.Errorf("%d deals held, want 3", len(held))
	}
	for i, want := range map[int]id.ID{0: people[0], 2: {}, 5: {}} {
		if got := holder()[i]; got != want {
			t.Errorf("deal %d has contact %s, want %s", i, got, want)
		}
	}
}

// TestAPipelineIsNotArchivedUnderADealOnItsWay checks that the deal's transaction locks the pipeline until it ends.
func TestAPipelineIsNotArchivedUnderADealOnItsWay(t *testing.T) {
	t.Parallel()
	s := open(t)
	var p deals.PipelineRow
	s.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		p, err = deals.CreatePipeline(ctx, tx, &deals.PipelinePatch{Name: wire.Some("Second")})
		return err
	})
	conn := testkit.Pgx(t, s.URL)
	written, archived := make(chan struct{}), make(chan error, 1)
	go func() {
		<-written
		archived <- s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, err := deals.ArchivePipeline(ctx, tx, p.Value.ID, nil)
			return err
		})
	}()
	s.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := deals.Create(ctx, tx,
			&deals.Patch{Name: wire.Some("Deal"), PipelineID: wire.Some(p.Value.ID.String())})
		close(written)
		for waits := 0; err == nil && waits == 0; { // until the other transaction waits, or has returned
			select {
			case got := <-archived:
				t.Fatalf("the pipeline's archiving did not wait: %v", got)
			default:
				err = conn.QueryRow(ctx,
					`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
						AND wait_event_type = 'Lock'`).Scan(&waits)
			}
		}
		return err
	})
	if err := <-archived; !fault.Is(err, fault.InUse) {
		t.Errorf("the pipeline's archiving ended with %v", errors.Unwrap(err))
	}
}
