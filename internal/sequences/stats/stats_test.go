package stats_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/significance"
	"github.com/funnelwork/funnelwork/internal/sequences/stats"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// office is an org with emails of one sequence.
type office struct {
	*testing.T
	*testkit.Database
	sql           *pgx.Conn
	org, sequence id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	db := testkit.DB(t)
	o := &office{T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New(), sequence: id.New()}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
	return o
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) tx(fn func(tx *postgres.Tx) error) {
	o.Helper()
	if err := o.App.Tx(o.Context(), o.org, fn); err != nil {
		o.Fatal(err)
	}
}

// email inserts an email of a step with its enrolment.
func (o *office) email(step, status string) (email id.ID) {
	o.Helper()
	email = id.New()
	o.exec(`INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, grp, mailbox_id, zone,
		last_email_id, created_at, state_at)
		VALUES ($1, $2, $3, 1, $2, 'active', $4, 1, $1, 'UTC', $2, now(), now())`, o.org, email, o.sequence, step)
	o.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, enrolment_id, step, automated, purpose, subject,
			to_email, to_domain, message_id, message_hash, status, due_at, marked_at, created_at, updated_at)
		SELECT org_id, id, org_id, id, id, step, true, 'marketing', 's', 't@x.example', 'x.example', id::text,
			decode(md5(id::text), 'hex'), $2, now(), now() - interval '1 hour', now(), now()
		FROM enrolment WHERE id = $1`, email, status)
	return email
}

// record writes a fact that an incoming mail tells.
func (o *office) record(email id.ID, f emails.Incoming) {
	o.Helper()
	o.tx(func(tx *postgres.Tx) error { return emails.Record(o.Context(), tx, email, &f) })
}

func mail(key string) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindEmail, Email: &steps.Email{Text: "Hi"}}
}

func TestAStepIsCountedFromTheFactsOfItsEmailsWithMachinesApart(t *testing.T) {
	t.Parallel()
	o := open(t)
	now := wire.Now()
	all := make([]id.ID, 8)
	for i := range all {
		all[i] = o.email("hello", emails.Sent)
	}
	for _, status := range []string{emails.Planned, emails.Transmitting, emails.Unknown, emails.Failed} {
		o.email("hello", status)
	}
	o.email("before", emails.Sent) // a step of an earlier version
	for i, f := range map[int]emails.Facts{
		0: {Opens: 3, MachineOpens: 2}, 1: {MachineOpens: 5}, 2: {Clicks: 2, MachineClicks: 1}, 3: {MachineClicks: 4},
	} {
		o.tx(func(tx *postgres.Tx) error {
			emails.AddFacts(tx, all[i], &f)
			return nil
		})
	}
	o.record(all[0], emails.Incoming{RepliedAt: &now})
	o.record(all[2], emails.Incoming{RepliedAt: &now})
	o.record(all[4], emails.Incoming{Bounced: "hard"})
	o.record(all[5], emails.Incoming{DeliveredAt: &now})
	o.exec(`UPDATE enrolment SET state = 'unsubscribed', ended_at = now() WHERE id = $1`, all[6])
	var got []stats.Step
	o.tx(func(tx *postgres.Tx) (err error) {
		got, err = stats.Of(t.Context(), tx, o.sequence, []steps.Step{
			mail("unsent"), {Key: "pause", Kind: steps.KindWait}, mail("hello"),
		})
		return err
	})
	none := stats.Rate{High: 1}
	want := []stats.Step{
		{StepKey: "unsent", ReplyRate: none, ClickRate: none, BounceRate: none},
		{
			StepKey: "hello", Planned: 12, Sent: 8, Unknown: 2, Delivered: 1, Bounced: 1, Replied: 2, Clicked: 1,
			Opened: 1, MachineClicks: 2, MachineOpens: 2, Unsubscribed: 1,
			ReplyRate: stats.RateOf(2, 10), ClickRate: stats.RateOf(1, 10), BounceRate: stats.RateOf(1, 10),
		},
		{
			StepKey: "before", Planned: 1, Sent: 1, ReplyRate: stats.RateOf(0, 1), ClickRate: stats.RateOf(0, 1),
			BounceRate: stats.RateOf(0, 1),
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(stats.Step{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := stats.RateOf(2, 10); r.Value != 0.2 || r.Low < 0.05 || r.Low > 0.06 || r.High < 0.5 || r.High > 0.52 {
		t.Errorf("2 of 10 is %+v", r)
	}
}

func TestVariantsAreComparedFromTheDayAfterTheYoungestBegan(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(age time.Duration) *time.Time {
		then := now.Add(-age)
		return &then
	}
	arms := []significance.Arm{{Trials: 300, Successes: 60}, {Trials: 300, Successes: 10}}
	const day = 24 * time.Hour
	if got := stats.Compare(arms, []*time.Time{at(9 * day), at(day)}, now); len(got) != 2 || got[0] < 0.99 {
		t.Errorf("after a day: %v", got)
	}
	if got := stats.Compare(arms, []*time.Time{at(9 * day), at(day - time.Minute)}, now); got != nil {
		t.Errorf("before: %v", got)
	}
}
