package enrolments_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/waits"
)

func openWithClock(t *testing.T) (o *office, set func(ahead time.Duration)) {
	t.Helper()
	server, set := testkit.PostgresWithClock(t)
	return openOn(t, &testkit.Database{
		URL: server.URL, App: testkit.Open(t, server.URL, postgres.App),
		System: testkit.Open(t, server.URL, postgres.System),
	}), set
}

func TestStepsThatAClockAheadHasMadeDueAreDueOnceItIsSetBackAndDelaysStay(t *testing.T) {
	t.Parallel()
	o, set := openWithClock(t)
	within := days(3)
	task := o.enrolled(o.sequence(nil, steps.Step{
		Key: "call", Kind: steps.KindTask, Task: &steps.Task{Title: "Call"},
	}, mail("after", 2)), o.person("task@example.com"))
	conditional := o.sequence(nil, mail("first", 0), condition("clicked", "clicked", &within, "yes", "no"),
		mail("no", 0), mail("yes", 0))
	clicks := o.enrolled(conditional, o.person("clicks@example.com"))
	set(time.Hour)
	for range 2 {
		o.tick()
		o.deliver()
	}
	o.exec(`UPDATE task SET status = 'done', completed_at = now()`)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		i, err := id.Parse(o.one(`SELECT id FROM task`))
		if err != nil {
			return err
		}
		return states.TaskDone(ctx, tx, i)
	})
	if o.state(task) != "active call" || o.state(clicks) != "active clicked" {
		t.Fatal(o.state(task), o.state(clicks))
	}

	set(0)
	if o.tick(); o.state(task) != "active after" {
		t.Errorf("the step after the task: %s", o.state(task))
	}
	o.exec(`UPDATE email SET clicks = 1 WHERE enrolment_id = $1`, clicks)
	if _, err := waits.EndLate(t.Context(), o.System, true); err != nil {
		t.Fatal(err)
	}
	o.exec(`UPDATE send_group SET wake_at = now() WHERE wake_at <= now() + interval '1 minute'`)
	if o.tick(); o.state(clicks) != "active yes" {
		t.Errorf("the condition: %s", o.state(clicks))
	}
	if got := o.one(`SELECT due_at BETWEEN $2::timestamptz - interval '1 minute' AND $2 FROM enrolment WHERE id = $1`,
		task, time.Now().Add(2*day)); got != "true" {
		t.Error("the delay of a step has moved: ", o.one(`SELECT due_at FROM enrolment WHERE id = $1`, task))
	}
}

// The window closes in half an hour, which a clock that is an hour ahead believes to be over.
func TestAWindowThatIsOverByAClockAheadAloneIsNotReplaced(t *testing.T) {
	t.Parallel()
	o, set := openWithClock(t)
	// In this zone it is noon, so that no window ends at midnight.
	hours := 12 - time.Now().UTC().Hour()
	local := time.Now().UTC().Add(time.Duration(hours) * time.Hour)
	seq := o.sequence(func(s *sequences.Settings) {
		s.Schedule = always()
		s.Schedule.TimeZone = fmt.Sprintf("Etc/GMT%+d", -hours)
		s.Schedule.To = local.Add(30 * time.Minute).Format("15:04")
	}, mail("first", 0))
	o.put(seq, o.people(1)...)
	set(time.Hour)
	o.tick()
	set(0)
	o.tick()
	if got := o.one(`SELECT opens_at < now() AND closes_at > now() FROM schedule_zone`); got != "true" {
		t.Errorf("the window is %s", o.one(`SELECT opens_at || ' to ' || closes_at FROM schedule_zone`))
	}
	if o.deliver() != 1 {
		t.Error("the mail of the window is not sent")
	}
}
