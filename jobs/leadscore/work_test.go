package leadscore_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

type desk struct {
	*testkit.Database
	t   *testing.T
	org id.ID
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{testkit.DB(t), t, id.New()}
	if err := d.System.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, d.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) create(email string) (row contacts.Row) {
	d.t.Helper()
	if err := d.App.Tx(d.t.Context(), d.org, func(tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx,
			&contacts.Patch{Email: wire.Some(email), FirstName: wire.Some("A"), LastName: wire.Some("B")},
			scoring.Shipped().Rate)
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
	return row
}

func (d *desk) run(m *scoring.Model, ids ...id.ID) {
	d.t.Helper()
	j := leadscore.Job{Model: func(context.Context, *postgres.Tx) (*scoring.Model, error) { return m, nil }}
	if err := d.App.Tx(d.t.Context(), d.org, func(tx *postgres.Tx) error {
		return j.Work(d.t.Context(), tx,
			&queue.Run[leadscore.Args]{Claimed: &queue.Claimed{}, Args: leadscore.Args{Contacts: ids}})
	}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) get(i id.ID) (row contacts.Row) {
	d.t.Helper()
	if err := d.App.ReadTx(d.t.Context(), d.org, func(tx *postgres.Tx) (err error) {
		row, err = contacts.Get(d.t.Context(), tx, i, true)
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
	return row
}

// told and recorded count the events and history rows of the job.
func (d *desk) told() (n int) {
	return d.one(`SELECT count(*) FROM event WHERE type = 'contact.score_changed'`)
}

// recorded counts first records, which are in contact_score, and later ones.
func (d *desk) recorded() (n int) {
	return d.one(`SELECT (SELECT count(*) FROM contact_score WHERE first_version IS DISTINCT FROM '') +
		(SELECT count(*) FROM score_history)`)
}

func (d *desk) one(sql string) (n int) {
	d.t.Helper()
	if err := d.App.ReadTx(d.t.Context(), d.org, func(tx *postgres.Tx) error {
		return tx.QueryRow(d.t.Context(), sql, nil, &n)
	}); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// shifted returns the prior with another base, which moves every score.
func shifted(version string, by float64) *scoring.Model {
	m := scoring.Prior()
	m.Version, m.Intercept, m.Confidence = version, m.Intercept+by, scoring.Learned
	return m
}

func TestTheFirstRunRecordsAndChangesNothing(t *testing.T) {
	t.Parallel()
	d := open(t)
	made := d.create("a@acme.example")
	d.run(scoring.Prior(), made.ID)
	d.run(scoring.Prior(), made.ID, made.ID)
	if now := d.get(made.ID); fmt.Sprint(now) != fmt.Sprint(made) {
		t.Errorf("%+v became %+v", made, now)
	}
	if d.told() != 0 || d.recorded() != 1 {
		t.Errorf("%d events, %d records; want 0 and 1", d.told(), d.recorded())
	}
}

func TestANewModelMovesTheSecondPartOfTheETagAlone(t *testing.T) {
	t.Parallel()
	d := open(t)
	made := d.create("a@acme.example")
	for i, step := range []struct {
		model          *scoring.Model
		told, recorded int
	}{
		{scoring.Prior(), 0, 1},
		{shifted("m2", 0.1), 0, 2},  // less than 5 points, same band
		{shifted("m2", 0.1), 0, 2},  // repeated: no change
		{shifted("m3", 0.2), 0, 3},  // still near the announced score
		{shifted("m4", 1.5), 1, 4},  // far
		{shifted("m5", 1.55), 1, 5}, // near the last announced score
	} {
		before := d.get(made.ID)
		d.run(step.model, made.ID)
		now := d.get(made.ID)
		want, from := step.model.Rate(&now.Contact)
		if now.LeadScore != want || now.Score != from {
			t.Errorf("step %d: score %v by %+v, want %v by %+v", i, now.LeadScore, now.Score, want, from)
		}
		moved := 0
		if before.Score != now.Score {
			moved = 1
		}
		if now.Edit != 1 || now.Computed != before.Computed+moved {
			t.Errorf("step %d: tag %d.%d, want 1.%d", i, now.Edit, now.Computed, before.Computed+moved)
		}
		if now.UpdatedAt != made.UpdatedAt {
			t.Errorf("step %d: updated_at %v, want %v", i, now.UpdatedAt, made.UpdatedAt)
		}
		if d.told() != step.told || d.recorded() != step.recorded {
			t.Errorf("step %d: %d events, %d records; want %d and %d", i, d.told(), d.recorded(), step.told,
				step.recorded)
		}
	}
}

func TestTheFirstScoreIsExportedWhateverReplacesIt(t *testing.T) {
	t.Parallel()
	d := open(t)
	untouched, edited, bulk, rescored := d.create("a@acme.example"), d.create("b@acme.example"),
		d.create("c@acme.example"), d.create("d@acme.example")
	opportunity := contacts.Patch{Stage: wire.Some("opportunity")}
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		if _, err := contacts.Update(t.Context(), tx, edited.ID, nil, &opportunity,
			scoring.Shipped().Rate); err != nil {
			return err
		}
		changed, _, err := contacts.BulkUpdate(t.Context(), tx, []id.ID{bulk.ID}, contacts.Live,
			func(*contacts.Contact) contacts.Patch { return opportunity }, scoring.Shipped().Rate)
		if err != nil {
			return err
		}
		return leadscore.Settle(t.Context(), tx, changed)
	}); err != nil {
		t.Fatal(err)
	}
	d.run(scoring.Prior(), edited.ID)
	for range 2 {
		d.run(shifted("m2", 0.1), rescored.ID)
	}
	for made, want := range map[*contacts.Row]int{&untouched: 1, &edited: 2, &bulk: 2, &rescored: 2} {
		var held contacts.Held
		if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) (err error) {
			held, err = contacts.Export(t.Context(), tx, made.ID)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		first, last := held.ScoreHistory[0], held.ScoreHistory[len(held.ScoreHistory)-1]
		if len(held.ScoreHistory) != want || first != (contacts.RecordedScore{
			RecordedAt: made.CreatedAt, LeadScore: made.LeadScore, Probability: made.Score.Probability,
			ModelVersion: made.Score.ModelVersion,
		}) {
			t.Errorf("%s: records %+v, want %d after that of its creation", made.Email, held.ScoreHistory, want-1)
		}
		if now := d.get(made.ID); last.LeadScore != now.LeadScore || last.ModelVersion != now.Score.ModelVersion {
			t.Errorf("%s: last record %+v, score %v", made.Email, last, now.LeadScore)
		}
	}
}

func TestWhatWasMovedByAnEditIsToldByTheJob(t *testing.T) {
	t.Parallel()
	d := open(t)
	made := d.create("a@acme.example")
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		_, err := contacts.Update(t.Context(), tx, made.ID, nil, &contacts.Patch{Stage: wire.Some("opportunity")},
			scoring.Shipped().Rate)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.run(scoring.Prior(), made.ID)
	d.run(scoring.Prior(), made.ID)
	if d.told() != 1 {
		t.Errorf("%d events, want 1", d.told())
	}
}

func TestAContactThatIsGoneNeedsNoScore(t *testing.T) {
	t.Parallel()
	d := open(t)
	made, stays := d.create("a@acme.example"), d.create("b@acme.example")
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		_, err := contacts.Archive(context.WithoutCancel(t.Context()), tx, made.ID, nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.run(shifted("m2", 2), made.ID, id.New(), stays.ID)
	type facts struct{ Gone, Stays, Events int }
	if diff := cmp.Diff(facts{0, 1, 1},
		facts{d.get(made.ID).Computed, d.get(stays.ID).Computed, d.told()}); diff != "" {
		t.Errorf("moves of the tags, and events (-want +got):\n%s", diff)
	}
}

func TestBackgroundWorkRecordsAndTellsWhatItHasMoved(t *testing.T) {
	t.Parallel()
	d := open(t)
	near, far, same := d.create("a@acme.example"), d.create("b@acme.example"), d.create("c@acme.example")
	patches := map[id.ID]contacts.Patch{
		near.ID: {Phone: wire.Some("1")}, far.ID: {Stage: wire.Some("opportunity")},
		same.ID: {LastName: wire.Some("C")},
	}
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		changed, _, err := contacts.BulkUpdate(t.Context(), tx, []id.ID{near.ID, far.ID, same.ID}, contacts.Live,
			func(c *contacts.Contact) contacts.Patch { return patches[c.ID] }, scoring.Shipped().Rate)
		if err != nil {
			return err
		}
		return leadscore.Settle(t.Context(), tx, changed)
	}); err != nil {
		t.Fatal(err)
	}
	if scoring.Moved(near.LeadScore, d.get(near.ID).LeadScore) || near.LeadScore == d.get(near.ID).LeadScore {
		t.Fatalf("a phone moves the score by too much for this test, or not at all: %v, %v", near.LeadScore,
			d.get(near.ID).LeadScore)
	}
	if d.told() != 1 || d.recorded() != 3+2 {
		t.Errorf("%d events, %d records; want 1, and 2 beside the 3 first ones", d.told(), d.recorded())
	}
	d.run(scoring.Prior(), far.ID, near.ID) // finds nothing to do
	if d.told() != 1 || d.recorded() != 3+2 {
		t.Errorf("the job after it makes it %d events, %d records", d.told(), d.recorded())
	}
}

func TestAToldScoreShowsTheContactsSegments(t *testing.T) {
	t.Parallel()
	d := open(t)
	var made contacts.Row
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) (err error) {
		made, err = contacts.Create(tx,
			&contacts.Patch{
				Email: wire.Some("a@acme.example"), FirstName: wire.Some("A"), LastName: wire.Some("B"),
				Segment: wire.Some([]string{"hot"}),
			}, scoring.Shipped().Rate)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.run(shifted("m2", 2), made.ID)
	if n := d.one(
		`SELECT count(*) FROM event WHERE type = 'contact.score_changed'
			AND data -> 'object' ->> 'segment' = '["hot"]'`); n != 1 {
		t.Error("the event does not show the segment")
	}
}

// Background work that settles its scores enqueues no job, so a job that waited for it must use its results.
func TestAJobThatWaitedForAChangeRatesWhatItLeft(t *testing.T) {
	t.Parallel()
	d := open(t)
	made := d.create("a@acme.example")
	waiting := testkit.Pgx(t, d.URL)
	rescored := make(chan error, 1)
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		changed, _, err := contacts.BulkUpdate(t.Context(), tx, []id.ID{made.ID}, contacts.Live,
			func(*contacts.Contact) contacts.Patch {
				return contacts.Patch{Stage: wire.Some("opportunity")}
			}, scoring.Shipped().Rate)
		if err != nil {
			return err
		}
		if err := leadscore.Settle(t.Context(), tx, changed); err != nil {
			return err
		}
		if err := tx.Flush(t.Context()); err != nil {
			return err
		}
		go func() {
			rescored <- d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
				_, err := contacts.Rescore(t.Context(), tx, []id.ID{made.ID}, scoring.Shipped().Rate, scoring.Moved,
					scoring.Fades)
				return err
			})
		}()
		for waits := false; !waits; {
			if err := waiting.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-rescored; err != nil {
		t.Fatal(err)
	}
	now := d.get(made.ID)
	if want, _ := scoring.Shipped().Rate(&now.Contact); now.Stage != "opportunity" || now.LeadScore != want {
		t.Errorf("stage %s has the score %v, want %v", now.Stage, now.LeadScore, want)
	}
}

// fact inserts a click or reply of a contact of some age, in days.
func (d *desk) fact(contact id.ID, kind string, machine bool, days float64) {
	d.t.Helper()
	if err := d.App.Tx(d.t.Context(), d.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, machine, why, at)
			VALUES ($1, $2, $2, $3, $4, $5, '{}', now() - make_interval(secs => $6::float8 * 86400))`, d.org, id.New(),
			contact, kind, machine, days)
		return nil
	}); err != nil {
		d.t.Fatal(err)
	}
}

func TestHumanClicksAndRepliesCountByTheirAge(t *testing.T) {
	t.Parallel()
	d := open(t)
	made, other := d.create("a@acme.example"), d.create("b@acme.example")
	d.fact(made.ID, "clicked", false, 7)
	d.fact(made.ID, "clicked", false, 30)
	d.fact(made.ID, "clicked", true, 0)
	d.fact(made.ID, "opened", false, 0)
	d.fact(made.ID, "replied", false, 90)
	d.fact(made.ID, "replied", false, -1) // of a clock that goes wrong
	d.run(scoring.Prior(), made.ID, other.ID)
	now := d.get(made.ID)
	want := []float64{
		0.5 + math.Pow(0.5, 30.0/7), math.Pow(0.5, 7.0/30) + 0.5, math.Pow(0.5, 7.0/90) + math.Pow(0.5, 30.0/90),
		math.Pow(0.5, 90.0/7), 0.125, 0.5,
	}
	if diff := cmp.Diff(want, now.Engagement, cmpopts.EquateApprox(0, 1e-4)); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
	if now.LeadScore <= made.LeadScore {
		t.Errorf("the score went from %v to %v", made.LeadScore, now.LeadScore)
	}
	if still := d.get(other.ID); still.Engagement != nil || still.LeadScore != other.LeadScore {
		t.Errorf("the other contact has %v, %v", still.Engagement, still.LeadScore)
	}
	// An edit keeps what the score has seen.
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		_, err := contacts.Update(t.Context(), tx, made.ID, nil, &contacts.Patch{LastName: wire.Some("C")},
			scoring.Shipped().Rate)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if after := d.get(made.ID); after.LeadScore != now.LeadScore {
		t.Errorf("an edit of the name moves the score from %v to %v", now.LeadScore, after.LeadScore)
	}
}

func TestAContactIsFoundWhenItsEngagementHasFaded(t *testing.T) {
	t.Parallel()
	d := open(t)
	fresh, old, gone := d.create("a@acme.example"), d.create("b@acme.example"), d.create("c@acme.example")
	for _, c := range []id.ID{fresh.ID, old.ID, gone.ID} {
		d.fact(c, "clicked", false, 6.9)
	}
	d.run(scoring.Prior(), fresh.ID, old.ID, gone.ID)
	before := d.get(old.ID)
	if err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		if _, err := contacts.Archive(t.Context(), tx, gone.ID, nil); err != nil {
			return err
		}
		tx.Queue(`UPDATE email_fact SET at = at - interval '3 hours' WHERE org_id = $1 AND contact_id <> $2`, d.org,
			fresh.ID)
		tx.Queue(`UPDATE contact_score SET fades_at = fades_at - interval '3 hours' WHERE org_id = $1
			AND contact_id <> $2`, d.org, fresh.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	faded := func() []id.ID {
		t.Helper()
		found, err := contacts.Faded(t.Context(), d.System, 100)
		if err != nil {
			t.Fatal(err)
		}
		return found[d.org]
	}
	if diff := cmp.Diff([]id.ID{old.ID}, faded()); diff != "" {
		t.Fatalf("faded (-want +got):\n%s", diff)
	}
	d.run(scoring.Prior(), old.ID)
	if now := d.get(old.ID); now.LeadScore >= before.LeadScore {
		t.Errorf("the score went from %v to %v", before.LeadScore, now.LeadScore)
	}
	if again := faded(); again != nil {
		t.Errorf("%v are found after their scoring", again)
	}
}
