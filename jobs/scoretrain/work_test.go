// This file is long because all its tests share one school and its deals.

package scoretrain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/leadrescore"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
	"github.com/funnelwork/funnelwork/jobs/scoretrainnight"
)

// school is an org with training data.
type school struct {
	*testkit.Database
	t    *testing.T
	org  id.ID
	sql  *pgx.Conn // superuser
	book *models.Book
	rand *rand.Rand
	at   time.Time
}

func open(t *testing.T) *school {
	t.Helper()
	s := &school{
		Database: testkit.DB(t), t: t, org: id.New(), rand: rand.New(rand.NewPCG(1, 2)),
		at: time.Now().AddDate(-1, 0, 0),
	}
	s.sql, s.book = testkit.Pgx(t, s.URL), models.NewBook(s.App, slog.New(slog.DiscardHandler))
	s.exec(`INSERT INTO org (id, name) VALUES ($1, 'School')`, s.org)
	return s
}

func (s *school) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.sql.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *school) tx(fn func(*postgres.Tx) error) {
	s.t.Helper()
	if err := s.App.Tx(s.t.Context(), s.org, fn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *school) one(sql string, args ...any) (n int) {
	s.t.Helper()
	if err := s.sql.QueryRow(s.t.Context(), sql, args...).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// contact makes a contact as the API does.
func (s *school) contact(values map[string]any) (row contacts.Row) {
	s.t.Helper()
	s.tx(func(tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx, &contacts.Patch{
			Email: wire.Some(id.New().String() + "@acme.example"), FirstName: wire.Some("A"),
			LastName: wire.Some("B"), Attributes: wire.Some(values),
		}, s.book.For(s.t.Context(), s.org).Rate)
		return err
	})
	return row
}

// deal makes a deal some time after the previous one and closes it, unless status is "open".
func (s *school) deal(contact id.ID, status string) {
	s.t.Helper()
	s.at = s.at.Add(time.Hour)
	s.exec(`INSERT INTO deal (org_id, id, name, contact_id, pipeline_id, stage_id, status, amount, currency,
		closed_at, created_at, updated_at)
		SELECT $1, $2, 'Deal', $3, pipeline_id, id, kind, 0, 'EUR', CASE
		WHEN kind <> 'open' THEN $5::timestamptz END, $5, $5
		FROM pipeline_stage WHERE org_id = $1 AND kind = $4 ORDER BY place LIMIT 1`, s.org, id.New(), contact, status,
		s.at)
}

// pupils makes n contacts with a deal each. Plan gold is won four times as often as plan iron.
func (s *school) pupils(n int, flip bool) {
	s.t.Helper()
	for range n {
		plan, chance := "gold", 0.8
		if s.rand.IntN(2) == 0 {
			plan, chance = "iron", 0.2
		}
		if flip {
			chance = 1 - chance
		}
		status := "lost"
		if s.rand.Float64() < chance {
			status = "won"
		}
		s.deal(s.contact(map[string]any{"plan": plan, "size": float64(s.rand.IntN(50))}).ID, status)
	}
}

// train runs the job as a worker does.
func (s *school) train(anyway bool) {
	s.t.Helper()
	s.tx(func(tx *postgres.Tx) error {
		return scoretrain.Kind.Add(s.t.Context(), tx, scoretrain.Args{Anyway: anyway})
	})
	var job id.ID
	if err := s.sql.QueryRow(s.t.Context(), `SELECT id FROM job WHERE kind = 'score.train'`).Scan(&job); err != nil {
		s.t.Fatal(err)
	}
	ledger := store.New(s.App, s.System)
	run, err := ledger.Claim(s.t.Context(), s.org, job)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := (scoretrain.Job{Reads: standby.Primary(s.App)}).Handler().Call(s.t.Context(), run); err != nil {
		s.t.Fatal(err)
	}
	if err := ledger.Finish(s.t.Context(), run, store.Completion{Outcome: store.Done}); err != nil {
		s.t.Fatal(err)
	}
}

// rescore runs the enqueued steps until there are none.
func (s *school) rescore() (steps int) {
	s.t.Helper()
	for {
		var raw []byte
		err := s.sql.QueryRow(s.t.Context(),
			`DELETE FROM job WHERE id = (SELECT id FROM job WHERE kind = 'lead.rescore' ORDER BY id LIMIT 1)
				RETURNING args::text::bytea`).Scan(&raw)
		if postgres.None(err) {
			return steps
		}
		if err != nil {
			s.t.Fatal(err)
		}
		steps++
		s.tx(func(tx *postgres.Tx) error {
			return leadrescore.Job{}.Handler().Tx(s.t.Context(), tx, &queue.Claimed{Org: s.org, Raw: raw})
		})
	}
}

func (s *school) current() (v models.Version) {
	s.t.Helper()
	s.tx(func(tx *postgres.Tx) (err error) {
		v, err = models.Current(s.t.Context(), tx)
		return err
	})
	return v
}

func TestAModelIsLearnedPromotedToldAndScoresEverybody(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.pupils(260, false)
	gold, iron := s.contact(map[string]any{"plan": "Gold"}), s.contact(map[string]any{"plan": "iron"})
	if gold.LeadScore != iron.LeadScore || gold.Score.ModelVersion != "prior-1" {
		t.Fatalf("before: %+v and %+v", gold.Score, iron.Score)
	}
	s.train(false)
	v := s.current()
	if v.Number != 1 || v.Outcomes != 260 {
		t.Fatalf("version %d of %d outcomes is in use, want 1 of 260", v.Number, v.Outcomes)
	}
	if v.Model.Confidence != scoring.Learned || v.PromotedAt == nil {
		t.Fatalf("confidence %s, promoted at %v; want %s and a time", v.Model.Confidence, v.PromotedAt,
			scoring.Learned)
	}
	if n := s.one(`SELECT count(*) FROM event WHERE org_id = $1 AND type = 'score_model.trained'`, s.org); n != 1 {
		t.Errorf("told %d times", n)
	}
	if steps := s.rescore(); steps != 1 {
		t.Errorf("%d steps for 262 contacts", steps)
	}
	if n := s.one(`SELECT count(*) FROM contact_score WHERE org_id = $1 AND version <> 'v1'`, s.org); n != 0 {
		t.Errorf("%d contacts are scored by another version", n)
	}
	s.tx(func(tx *postgres.Tx) error {
		a, err := contacts.Get(t.Context(), tx, gold.ID, false)
		if err != nil {
			return err
		}
		b, err := contacts.Get(t.Context(), tx, iron.ID, false)
		if err != nil {
			return err
		}
		if a.LeadScore < b.LeadScore+30 {
			t.Errorf("gold has the score %v, iron %v; want 30 more for gold", a.LeadScore, b.LeadScore)
		}
		if a.Edit != 1 || a.Computed != gold.Computed+1 {
			t.Errorf("tag %d.%d, want 1.%d", a.Edit, a.Computed, gold.Computed+1)
		}
		if a.UpdatedAt != gold.UpdatedAt {
			t.Errorf("updated_at %v, want %v", a.UpdatedAt, gold.UpdatedAt)
		}
		// The score is the same in this process, in the batch and in a new process.
		for _, book := range []*models.Book{s.book, models.NewBook(s.App, slog.New(slog.DiscardHandler))} {
			m, err := book.In(t.Context(), tx)
			if err != nil {
				return err
			}
			if lead, from := m.Rate(&a.Contact); lead != a.LeadScore || from != a.Score {
				t.Errorf("the book says %v %+v, stored is %v %+v", lead, from, a.LeadScore, a.Score)
			}
		}
		return nil
	})
	if n := s.one(`SELECT count(*) FROM event WHERE org_id = $1 AND type = 'contact.score_changed'`, s.org); n < 200 {
		t.Errorf("%d contacts were told of", n)
	}
	s.train(false) // no new outcomes
	if v := s.current(); v.Number != 1 {
		t.Errorf("without new outcomes it is %d", v.Number)
	}
}

func TestAModelThatGotWorseIsKeptAndDoesNotScore(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.pupils(250, false)
	s.train(false)
	// Random outcomes teach nothing; the model must learn from the real ones that follow.
	s.pupils(200, true)
	s.exec(`UPDATE score_current SET trained = 0 WHERE org_id = $1`, s.org)
	s.exec(
		`UPDATE score_model SET learned_to = (SELECT max(at) FROM score_snapshot WHERE org_id = $1)
			WHERE org_id = $1`, s.org)
	s.pupils(60, false)
	s.train(true)
	if v := s.current(); v.Number != 1 {
		t.Errorf("in use is %d", v.Number)
	}
	s.tx(func(tx *postgres.Tx) error {
		v, err := models.Get(t.Context(), tx, 2)
		if err != nil {
			return err
		}
		if v.PromotedAt != nil || v.Report.Comparison.Won() {
			t.Errorf("the second version: %+v", v.Report.Comparison)
		}
		return nil
	})
	if n := s.one(`SELECT count(*) FROM event WHERE org_id = $1 AND type = 'score_model.trained'`, s.org); n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestWhatIsWrittenAfterTheDealWasMadeTeachesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 120 {
		c := s.contact(map[string]any{"plan": "gold"})
		status := []string{"won", "lost"}[s.rand.IntN(2)]
		s.deal(c.ID, status)
		s.exec(`UPDATE contact SET attributes = attributes || jsonb_build_object('call', $3::text)
			WHERE org_id = $1 AND id = $2`, s.org, c.ID, status)
	}
	s.tx(func(tx *postgres.Tx) error {
		ex, err := models.Examples(t.Context(), tx)
		if err != nil {
			return err
		}
		if len(ex) != 120 {
			t.Errorf("%d examples", len(ex))
		}
		for _, e := range ex {
			if _, ok := e.Contact.Values["call"]; ok || e.Contact.Values["plan"] != "gold" {
				t.Fatalf("an example has %v", e.Contact.Values)
			}
		}
		return nil
	})
}

// fact inserts a click or reply of a contact.
func (s *school) fact(contact id.ID, kind string, machine bool, at time.Time) {
	s.t.Helper()
	s.exec(`INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, machine, why, at)
		VALUES ($1, $2, $2, $3, $4, $5, '{}', $6)`, s.org, id.New(), contact, kind, machine, at)
}

func TestClicksAndRepliesTeachAsTheyWereKnownAtTheDeal(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 40 {
		c, deal := s.contact(nil), s.at.Add(time.Hour) // when the next deal is made
		days := []float64{s.rand.Float64() * 60, s.rand.Float64() * 60}
		for _, d := range days {
			s.fact(c.ID, "replied", false, deal.Add(-time.Duration(d*24*float64(time.Hour))))
		}
		s.fact(c.ID, "clicked", true, deal.Add(-time.Hour))
		s.fact(c.ID, "clicked", false, deal) // at the moment of the deal itself
		s.fact(c.ID, "replied", false, deal.Add(time.Duration(s.rand.IntN(3600))*time.Second))
		s.deal(c.ID, "won")
		s.fact(c.ID, "replied", false, deal.Add(-24*time.Hour)) // which has become known after the deal
		s.tx(func(tx *postgres.Tx) error {
			ex, err := models.Examples(t.Context(), tx)
			if err != nil {
				return err
			}
			want := make([]float64, 6)
			for i, halfLife := range []float64{7, 30, 90} {
				for _, d := range days {
					want[3+i] += math.Pow(0.5, d/halfLife)
				}
			}
			if diff := cmp.Diff(want, ex[0].Contact.Engagement, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Fatalf("replies %v days before the deal (-want +got):\n%s", days, diff)
			}
			return nil
		})
	}
}

func TestRepliesThatEndADealAreQuarantined(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before time.Duration // from the reply of a deal that is won to the deal
		leaks  bool
	}{
		"an order in the mail":      {10 * time.Minute, true},
		"an answer two days before": {48 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			for i := range 120 {
				contact := s.contact(nil)
				if i%3 != 0 { // so that an answer alone does not tell the outcome
					s.fact(contact.ID, "replied", false, s.at.Add(time.Hour-c.before))
				}
				s.deal(contact.ID, []string{"lost", "won"}[i%2])
			}
			learned, err := models.Learn(t.Context(), func(fn func(*postgres.Tx) error) error {
				return s.App.ReadTx(t.Context(), s.org, fn)
			})
			if err != nil {
				t.Fatal(err)
			}
			quarantined := map[scoring.Feature]string{}
			for _, q := range learned.Report.Quarantined {
				quarantined[q.Feature] = q.Reason
			}
			for _, f := range append(scoring.Replied(), scoring.Clicked()...) {
				want := ""
				if c.leaks && slices.Contains(scoring.Replied(), f) {
					want = "edited_near_outcome"
				}
				if got := quarantined[f]; got != want {
					t.Errorf("%s is quarantined for %q, want %q", f, got, want)
				}
			}
		})
	}
}

func TestAFieldThatIsEditedWhenDealsEndIsQuarantined(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 120 {
		c := s.contact(map[string]any{"plan": "gold", "note": "a", "quiet": "a"})
		s.tx(func(tx *postgres.Tx) error {
			ch, err := contacts.Update(t.Context(), tx, c.ID, nil,
				&contacts.Patch{Attributes: wire.Some(map[string]any{"note": fmt.Sprint(s.rand.IntN(3))})},
				scoring.Shipped().Rate)
			if err != nil {
				return err
			}
			return contacts.Announce(t.Context(), tx, &ch)
		})
		s.at = time.Now()
		s.deal(c.ID, []string{"won", "lost"}[s.rand.IntN(2)])
	}
	s.train(true)
	s.tx(func(tx *postgres.Tx) error {
		v, err := models.Get(t.Context(), tx, 1)
		if err != nil {
			return err
		}
		q := v.Report.Quarantined
		if len(q) != 1 {
			t.Errorf("%d quarantined features, want 1: %+v", len(q), q)
			return nil
		}
		if q[0].Feature != "attributes.note" || q[0].Reason != "edited_near_outcome" {
			t.Errorf("quarantined %s for %s, want attributes.note for edited_near_outcome", q[0].Feature, q[0].Reason)
		}
		return nil
	})
}

func TestOpenDealsCountAsNotWonAfterNinetyDays(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.at = time.Now().AddDate(0, 0, -91)
	s.deal(s.contact(nil).ID, "open")
	s.at = time.Now().AddDate(0, 0, -89)
	s.deal(s.contact(nil).ID, "open")
	s.deal(s.contact(nil).ID, "won")
	s.tx(func(tx *postgres.Tx) error {
		ex, err := models.Examples(t.Context(), tx)
		if err != nil {
			return err
		}
		var won []bool
		for _, e := range ex {
			won = append(won, e.Won)
		}
		if diff := cmp.Diff([]bool{true, false}, won); diff != "" {
			t.Errorf("whether the examples are won (-want +got):\n%s", diff)
		}
		return nil
	})
}

func TestTheNightFindsWhoHasNews(t *testing.T) {
	t.Parallel()
	s := open(t)
	night := func() int {
		job := scoretrainnight.Job{System: s.System}
		if err := job.Work(t.Context(), &queue.Run[scoretrainnight.Args]{Claimed: &queue.Claimed{}}); err != nil {
			t.Fatal(err)
		}
		return s.one(`WITH gone AS (DELETE FROM job WHERE kind = 'score.train' RETURNING 1) SELECT count(*) FROM gone`)
	}
	if n := night(); n != 0 {
		t.Errorf("%d trainings without a deal", n)
	}
	s.at = time.Now().Add(-2 * time.Hour)
	s.deal(s.contact(nil).ID, "won")
	if n := night(); n != 1 {
		t.Errorf("%d trainings after the first deal", n)
	}
	s.train(true)
	if n := night(); n != 0 {
		t.Errorf("%d trainings without news", n)
	}
}

func TestAnOrgMayGoBackToAnyVersion(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.pupils(200, false)
	s.train(true)
	for _, number := range []int{0, 1} {
		s.tx(func(tx *postgres.Tx) error {
			_, err := models.Use(t.Context(), tx, number)
			return err
		})
		s.book.Forget(s.org)
		if v := s.book.For(t.Context(), s.org).Version; v != models.Name(number) {
			t.Errorf("the book has %s, want version %d", v, number)
		}
	}
}

func TestABookWithoutADatabaseKeepsWhatItKnows(t *testing.T) {
	t.Parallel()
	s := open(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if v := s.book.For(gone, s.org).Version; v != "prior-1" {
		t.Errorf("without an answer: %s", v)
	}
}

// Steps of a version that is no longer in use end, because the change of version has enqueued its own pass.
func TestStepsOfAVersionThatIsNoLongerInUseEnd(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.pupils(200, false)
	s.train(true)
	s.tx(func(tx *postgres.Tx) error {
		_, err := models.Use(t.Context(), tx, 0)
		return err
	})
	if steps := s.rescore(); steps != 1 {
		t.Errorf("%d steps", steps)
	}
	if n := s.one(`SELECT count(*) FROM contact_score WHERE org_id = $1 AND version = 'v1'`, s.org); n != 0 {
		t.Errorf("%d contacts are scored by a version that is not in use", n)
	}
}

func TestManyContactsAreScoredInStepsEachOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 25 {
		s.contact(map[string]any{"plan": "gold"})
	}
	model := scoring.Prior()
	model.Version, model.Intercept = "v9", 1
	var after id.ID
	var told, steps int
	for {
		var tell []contacts.Change
		s.tx(func(tx *postgres.Tx) (err error) {
			tell, after, err = contacts.RescoreAfter(t.Context(), tx, after, 10, model.Rate, scoring.Moved)
			return err
		})
		told, steps = told+len(tell), steps+1
		if after == (id.ID{}) {
			break
		}
	}
	if told != 25 || steps != 3 {
		t.Errorf("%d told of in %d steps", told, steps)
	}
	if n := s.one(`SELECT count(*) FROM score_history WHERE org_id = $1 AND version = 'v9'`, s.org); n != 25 {
		t.Errorf("%d records", n)
	}
	want, _ := model.Rate(&events.Contact{
		Email: "x@acme.example", Stage: "lead",
		Attributes: map[string]any{"plan": "gold"},
	})
	if n := s.one(`SELECT count(*) FROM contact_score WHERE org_id = $1 AND abs(score - $2) < 0.001
		AND announced = score AND computed = 1`, s.org, want); n != 25 {
		t.Errorf("%d contacts have the score %v", n, math.Round(want*100)/100)
	}
}

// Otherwise the rescoring could skip a contact that is being scored with the previous version.
func TestAVersionComesIntoUseWhenNobodyScoresByTheOneBefore(t *testing.T) {
	t.Parallel()
	s := open(t)
	book := models.NewBook(s.App, slog.New(slog.DiscardHandler))
	var scored atomic.Bool
	used := make(chan error, 1)
	s.tx(func(tx *postgres.Tx) error {
		if _, err := book.In(t.Context(), tx); err != nil {
			return err
		}
		go func() {
			used <- s.App.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
				tx.Queue(`INSERT INTO score_model (org_id, number, created_at, learned_to, outcomes, model,
					report) VALUES ($1, 1, now(), now(), 1, $2, '{}')`, s.org, encoded(t))
				if _, err := models.Use(t.Context(), tx, 1); err != nil {
					return err
				}
				if err := tx.Flush(t.Context()); err != nil {
					return err
				}
				if !scored.Load() {
					return errors.New("it did not wait")
				}
				return nil
			})
		}()
		for s.one(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event = 'advisory'`) == 0 {
			select {
			case err := <-used:
				return fmt.Errorf("it is in use already: %w", err)
			default:
			}
		}
		scored.Store(true)
		return nil
	})
	if err := <-used; err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T) []byte {
	t.Helper()
	b, err := json.Marshal(scoring.Prior())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
