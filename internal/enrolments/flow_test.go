package enrolments_test

import (
	"context"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

func days(n int) schedule.Delay { return schedule.Delay{Value: n, Unit: schedule.Days} }

// condition is a step that branches on a fact.
func condition(key, field string, within *schedule.Delay, then, otherwise string) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindCondition, Condition: &steps.Condition{
		Filter: map[string]any{"field": field, "op": "eq", "value": true}, Within: within, Then: then, Else: otherwise,
	}}
}

func TestAConditionIsDecidedEarlyWhenItBecomesTrue(t *testing.T) {
	t.Parallel()
	o := open(t)
	within := days(3)
	seq := o.sequence(nil, mail("first", 0), condition("clicked", "clicked", &within, "yes", "no"), mail("no", 0),
		mail("yes", 0))
	clicks, silent := o.enrolled(seq, o.person("clicks@example.com")), o.enrolled(seq, o.person("silent@example.com"))
	o.tick()
	o.deliver()
	o.tick()
	if o.state(clicks) != "active clicked" || o.state(silent) != "active clicked" {
		t.Fatal(o.state(clicks), o.state(silent))
	}
	o.exec(`UPDATE email SET clicks = 1 WHERE enrolment_id = $1`, clicks)
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return states.Noticed(ctx, tx, clicks) })
	o.tick()
	if o.state(clicks) != "active yes" || o.state(silent) != "active clicked" {
		t.Fatal(o.state(clicks), o.state(silent))
	}
	o.passes(3*day + time.Minute)
	o.tick()
	if o.state(silent) != "active no" {
		t.Error(o.state(silent))
	}
	o.tick()
	o.deliver()
	if got := o.one(`SELECT string_agg(step, ' ' ORDER BY step) FROM email WHERE status = 'sent'`); got !=
		"first first no yes" {
		t.Error(got)
	}
}

func TestATaskThatIsDoneDuringAPauseIsNotWaitedForAfterIt(t *testing.T) {
	t.Parallel()
	o := open(t)
	e := o.enrolled(o.sequence(nil, steps.Step{Key: "call", Kind: steps.KindTask, Task: &steps.Task{Title: "Call"}},
		mail("after", 1)), o.person("ada@example.com"))
	o.tick()
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.Pause(ctx, tx, e, "user/1")
		return err
	})
	o.exec(`UPDATE task SET status = 'done', completed_at = now()`)
	task, err := id.Parse(o.one(`SELECT id FROM task`))
	if err != nil {
		t.Fatal(err)
	}
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return states.TaskDone(ctx, tx, task) })
	if o.tick(); o.state(e) != "paused call paused_by_user" {
		t.Fatal(o.state(e))
	}
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := enrolments.Resume(ctx, tx, e, "user/1")
		return err
	})
	if o.tick(); o.state(e) != "active after" {
		t.Error(o.state(e))
	}
}

func TestATaskIsWaitedForUntilItIsDone(t *testing.T) {
	t.Parallel()
	o := open(t)
	e := o.enrolled(o.sequence(nil, steps.Step{Key: "call", Kind: steps.KindTask, Task: &steps.Task{Title: "Call"}},
		mail("after", 1)), o.person("ada@example.com"))
	o.tick()
	o.passes(5 * day)
	if o.tick(); o.state(e) != "active call" || o.one(`SELECT count(*) FROM task`) != "1" {
		t.Fatal(o.state(e))
	}
	o.exec(`UPDATE task SET status = 'done', completed_at = now()`)
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		task, err := id.Parse(o.one(`SELECT id FROM task`))
		if err != nil {
			return err
		}
		return states.TaskDone(ctx, tx, task)
	})
	if o.tick(); o.state(e) != "active after" {
		t.Fatal(o.state(e))
	}
	if o.tick(); o.deliver() != 0 {
		t.Error("the delay after the task was not waited for")
	}
	o.passes(day + time.Second)
	if o.tick(); o.deliver() != 1 {
		t.Error(o.state(e))
	}
}

func TestAnUpdateAndAWebhookStepRunInOrder(t *testing.T) {
	t.Parallel()
	o := open(t)
	endpoint := id.New()
	o.exec(`INSERT INTO webhook_endpoint (org_id, id, url, events, description, enabled, secret, created_at, updated_at)
		VALUES ($1, $2, 'https://example.com', '{contact.created}', '', true, '', now(), now())`, o.org, endpoint)
	ada := o.person("ada@example.com")
	e := o.enrolled(o.sequence(nil,
		steps.Step{Key: "mql", Kind: steps.KindUpdate, Update: &steps.Update{
			Set: map[string]any{"job_title": "Countess"}, AddTags: []string{"warm"},
		}},
		steps.Step{Key: "tell", Kind: steps.KindWebhook, Webhook: &steps.Webhook{EndpointID: endpoint}},
	), ada)
	o.tick()
	if got := o.one(`SELECT job_title || ' ' || array_to_string(tags, ',') FROM contact`); got != "Countess warm" {
		t.Error(got)
	}
	if o.tick(); o.state(e) != "finished tell completed" {
		t.Error(o.state(e))
	}
	if got := o.one(`SELECT string_agg(event_type, ' ') FROM webhook_delivery WHERE endpoint_id = $1`, endpoint); got !=
		"sequence.step_reached" {
		t.Error(got)
	}
}

func TestAGoalAndAWonDealEndEnrolments(t *testing.T) {
	t.Parallel()
	o := open(t)
	goal := func(s *sequences.Settings) {
		s.Exclusive = false
		s.Goal = map[string]any{"field": "stage", "op": "eq", "value": "customer"}
	}
	ada := o.person("ada@example.com")
	first := o.enrolled(o.sequence(goal, mail("first", 1)), ada)
	second := o.enrolled(o.sequence(func(s *sequences.Settings) { s.Exclusive = false }, mail("first", 1)), ada)
	o.exec(`UPDATE contact SET stage = 'customer'`)
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return states.DealWon(ctx, tx, ada) })
	if o.state(second) != "goal_met first deal_won" || o.state(first) != "goal_met first deal_won" {
		t.Error(o.state(first), o.state(second))
	}
	eve := o.person("eve@example.com")
	o.exec(`UPDATE contact SET stage = 'customer'`)
	third := o.enrolled(o.sequence(goal, mail("first", 1)), eve)
	o.passes(day + time.Second)
	if o.tick(); o.state(third) != "goal_met first goal" || len(o.mails) != 0 {
		t.Error(o.state(third))
	}
}

func TestACompanyReplyEndsTheEnrolmentsOfColleaguesWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	o := open(t)
	company := id.New()
	ada, eve, joe := o.person("ada@acme.example"), o.person("eve@acme.example"), o.person("joe@other.example")
	o.exec(`UPDATE contact SET company_id = $1 WHERE email LIKE '%acme%'`, company)
	together := o.sequence(func(s *sequences.Settings) { s.StopOn.CompanyReply = true }, mail("first", 0), mail("b", 1))
	a, e, m := o.enrolled(together, ada), o.enrolled(together, eve), o.enrolled(together, joe)
	o.tick()
	o.deliver()
	o.reply(ada, nil)
	if o.state(a) != "replied b reply" || o.state(e) != "replied b company_reply" || o.state(m) != "active b" {
		t.Error(o.state(a), o.state(e), o.state(m))
	}
}
