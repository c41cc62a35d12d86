package inboundopinion_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
	"github.com/funnelwork/funnelwork/jobs/inboundopinion"
)

// oracle is a model that says the same of every mail.
type oracle struct {
	text  string // "": it is not to be had
	asked []string
}

func (o *oracle) Complete(_ context.Context, c ai.Call) (ai.Reply, error) {
	o.asked = append(o.asked, c.User)
	if o.text == "" {
		return ai.Reply{}, &ai.UnavailableError{Class: "busy"}
	}
	return ai.Reply{Text: o.text, Usage: ai.TokenUsage{TotalTokens: 100}}, nil
}

func says(label string, confidence float64) string {
	return fmt.Sprintf(`{"label":%q,"confidence":%v,"reason":"It reads so."}`, label, confidence)
}

// office is an org with messages.
type office struct {
	testing.TB
	*testkit.Database
	sql *pgx.Conn
	org id.ID
	job inboundopinion.Job
}

func open(t *testing.T, model ai.Provider) *office {
	t.Helper()
	o := &office{TB: t, Database: testkit.DB(t), org: id.New()}
	o.sql = testkit.Pgx(t, o.URL)
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
	o.job = inboundopinion.Job{
		App: o.App, AI: model, Plans: plans.NewService(o.App, nil), Log: testkit.Log(t),
		Inbound: inboundmail.Intake(o.App, testkit.Box(t)),
	}
	return o
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

// message inserts a message that was read.
func (o *office) message(class, by string) id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at, read_at, thread_id, subject, text,
		class, sure, class_by) VALUES ($1, $2, $2, $3, 'http', now(), now(), $2, 'Re: Looms',
		'Quarterly figures attached', $4, $4 = 'auto_reply', $5)`, o.org, i, i[:], class, by)
	return i
}

func (o *office) ask(message id.ID, attempt int) error {
	o.Helper()
	return o.job.Work(o.Context(), &queue.Run[inboundopinion.Args]{
		Claimed: &queue.Claimed{ID: id.New(), Org: o.org, Attempt: attempt},
		Args:    inboundopinion.Args{Message: message},
	})
}

// state returns the class of a message, who gave it, and the tokens that the org has used and reserved.
func (o *office) state(message id.ID) (out string) {
	o.Helper()
	if err := o.sql.QueryRow(o.Context(), `SELECT class || ' ' || class_by || ' ' ||
		coalesce((SELECT used || '+' || reserved FROM ai_quota WHERE org_id = $1), '-') FROM message WHERE id = $2`,
		o.org, message).Scan(&out); err != nil {
		o.Fatal(err)
	}
	return out
}

func TestAnOpinionIsRecordedWhereTheRulesKnowNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		says("positive", 0.9):    "human ai 100+0",
		says("negative", 0.7):    "human ai 100+0",
		says("ooo", 0.95):        "auto_reply ai 100+0",
		says("unsubscribe", 0.8): "unsubscribe_request ai 100+0",
		says("positive", 0.69):   "unknown rule 100+0",
		`I am a person.`:         "unknown rule 0+0", // an answer in another form costs nothing
		"":                       "unknown rule 0+0",
	} {
		model := &oracle{text: text}
		o := open(t, model)
		message := o.message("unknown", "rule")
		first, last := o.ask(message, 1), o.ask(message, 3)
		if fails := strings.HasSuffix(want, " 0+0"); (first != nil) != fails || last != nil {
			t.Errorf("%s: %v, at last %v", text, first, last)
		}
		got := o.state(message)
		if got = strings.Replace(got, "200+0", "100+0", 1); got != want { // what is undecided is asked about again
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if len(model.asked) == 0 || !strings.Contains(model.asked[0], "Quarterly figures") {
			t.Errorf("asked %q", model.asked)
		}
		var effects int
		if err := o.sql.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM event WHERE org_id = $1)
			+ (SELECT count(*) FROM suppression WHERE org_id = $1)`, o.org).Scan(&effects); err != nil || effects > 0 {
			t.Errorf("%s: %d effects, %v", text, effects, err)
		}
	}
}

func TestWhatIsDecidedIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	model := &oracle{text: says("positive", 1)}
	o := open(t, model)
	for _, m := range [][2]string{{"auto_reply", "rule"}, {"bounce", "rule"}, {"unknown", "person"}, {"human", "ai"}} {
		message := o.message(m[0], m[1])
		if err := o.ask(message, 1); err != nil {
			t.Error(err)
		}
		if err := o.App.Tx(t.Context(), o.org, func(tx *postgres.Tx) error {
			return o.job.Inbound.Opine(t.Context(), tx, message, "positive", 1)
		}); err != nil {
			t.Error(err)
		}
		if got := o.state(message); got != m[0]+" "+m[1]+" -" {
			t.Errorf("%v became %s", m, got)
		}
	}
	if len(model.asked) > 0 {
		t.Errorf("asked %q", model.asked)
	}
	o.job.AI = nil
	if err := o.ask(o.message("unknown", "rule"), 1); err != nil {
		t.Error(err)
	}
}

func TestWithoutTokensThereIsNoOpinion(t *testing.T) {
	t.Parallel()
	model := &oracle{text: says("positive", 1)}
	o := open(t, model)
	o.exec(`INSERT INTO ai_quota (org_id, period, used)
		VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC'), $2)`, o.org, ai.Unlimited)
	message := o.message("unknown", "rule")
	if err := o.ask(message, 1); err != nil || len(model.asked) > 0 {
		t.Errorf("%v, asked %q", err, model.asked)
	}
}

// A person confirms what the model has said, and what follows from the class follows then.
func TestAPersonConfirmsAnOpinion(t *testing.T) {
	t.Parallel()
	o := open(t, &oracle{text: says("unsubscribe", 1)})
	contact, message := id.New(), o.message("unknown", "rule")
	o.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, 'ada@example.com', 'ada@example.com', 'Ada', 'L', 'l', 'lead', now(),
		now())`, o.org, contact)
	o.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced,
		scored_at) VALUES ($1, $2, 1, 0.01, 'prior-1', 'prior', 1, now())`, o.org, contact)
	o.exec(`UPDATE message SET contact_id = $2, from_email = 'ada@example.com', from_folded = 'ada@example.com'
		WHERE id = $1`, message, contact)
	if err := o.ask(message, 1); err != nil {
		t.Fatal(err)
	}
	suppressed := func() (n int) {
		t.Helper()
		if err := o.sql.QueryRow(t.Context(), `SELECT count(*) FROM suppression WHERE org_id = $1`, o.org).
			Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := suppressed(); n != 0 {
		t.Fatalf("the model has suppressed %d addresses", n)
	}
	if err := o.App.Tx(t.Context(), o.org, func(tx *postgres.Tx) error {
		_, err := inboundmail.Intake(o.App, testkit.Box(t)).SetClass(t.Context(), tx, message, "unsubscribe_request",
			nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if n := suppressed(); n != 1 {
		t.Errorf("%d suppressions after a person has confirmed it", n)
	}
}
