package jobs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/sheet"
	suppressions "github.com/funnelwork/funnelwork/internal/suppression/imports"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/contactimportundo"
	"github.com/funnelwork/funnelwork/jobs/suppressionimport"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

// operated is one org and an operator for its jobs.
type operated struct {
	*testkit.Database
	t        *testing.T
	org      id.ID
	sql      *pgx.Conn // superuser
	store    *store.Store
	operator *operator.Operator
	hooks    *webhooks.Service
	endpoint id.ID
}

func operate(t *testing.T) *operated {
	t.Helper()
	o := &operated{Database: testkit.DB(t), t: t, org: id.New()}
	o.sql = testkit.Pgx(t, o.URL)
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, o.org)
	o.store = store.New(o.App, o.System)
	o.store.Hooks = jobs.Hooks("https://shop.test")
	o.operator = operator.New(o.store, nil)
	o.hooks = &webhooks.Service{Box: testkit.Box(t), Policy: outbound.Policy{AllowPrivate: true}}
	o.tx(func(ctx context.Context, tx *postgres.Tx) error {
		v, _, err := o.hooks.Create(ctx, tx,
			webhooks.New{URL: "https://example.com/hook", Events: []string{"webhook.disabled"}, Enabled: true})
		o.endpoint = v.ID
		return err
	})
	return o
}

func (o *operated) exec(sql string, args ...any) {
	o.t.Helper()
	if _, err := o.sql.Exec(o.t.Context(), sql, args...); err != nil {
		o.t.Fatalf("%s: %v", sql, err)
	}
}

func (o *operated) one(sql string, args ...any) string {
	o.t.Helper()
	var s *string
	if err := o.sql.QueryRow(o.t.Context(), "SELECT ("+sql+")::text", args...).Scan(&s); err != nil {
		o.t.Fatalf("%s: %v", sql, err)
	}
	if s == nil {
		return "null"
	}
	return *s
}

func (o *operated) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	o.t.Helper()
	if err := o.App.Tx(o.t.Context(), o.org, func(tx *postgres.Tx) error { return fn(o.t.Context(), tx) }); err != nil {
		o.t.Fatal(err)
	}
}

// job returns the key of the only job of a kind.
func (o *operated) job(kind string) operator.Key {
	o.t.Helper()
	job, err := id.Parse(o.one(`SELECT id FROM job WHERE org_id = $1 AND kind = $2`, o.org, kind))
	if err != nil {
		o.t.Fatal(err)
	}
	return operator.Key{Org: o.org, ID: job}
}

// act applies an operator's action to a job, or makes its own run fail for good.
func (o *operated) act(name string, k operator.Key) {
	o.t.Helper()
	var got []operator.Result
	var err error
	by := operator.By{Actor: "ada", Reason: "because"}
	switch name {
	case "drop":
		got, err = o.operator.Drop(o.t.Context(), by, k)
	case "archive":
		got, err = o.operator.Archive(o.t.Context(), by, k)
	case "run":
		got, err = o.operator.Run(o.t.Context(), by, k)
	case "drop what fits":
		var n int
		if n, _, err = o.operator.DropMatching(o.t.Context(), by, operator.Filter{State: operator.Open, Org: &k.Org},
			time.Minute); n > 0 {
			got = []operator.Result{operator.Acted}
		}
	case "redrive":
		var r *operator.Redrive
		if r, err = o.operator.StartRedrive(o.t.Context(), by, operator.Filter{Org: &k.Org}, operator.MaxRate,
			func(context.Context, *postgres.Tx, id.ID) error { return nil }); err == nil {
			o.exec(`UPDATE job_redrive SET stepped_at = stepped_at - interval '1 second' WHERE id = $1`, r.ID)
			_, _, err = o.operator.StepRedrive(o.t.Context(), r.ID)
			got = []operator.Result{operator.Acted}
		}
	case "death":
		o.exec(`UPDATE job SET wake_at = now(), run_at = now(), owner = NULL WHERE id = $1`, k.ID)
		var c *queue.Claimed
		if c, err = o.store.Claim(o.t.Context(), k.Org, k.ID); err == nil {
			err = o.store.Finish(o.t.Context(), c, store.Completion{Outcome: store.Died, Error: "no"})
			got = []operator.Result{operator.Acted}
		}
	}
	if err != nil {
		o.t.Fatalf("%s: %v", name, err)
	}
	if diff := cmp.Diff([]operator.Result{operator.Acted}, got); diff != "" {
		o.t.Fatalf("%s (-want +got):\n%s", name, diff)
	}
}

// delivery makes a delivery with the given number of attempts and the next one in an hour.
func (o *operated) delivery(tries int) id.ID {
	o.t.Helper()
	o.tx(func(ctx context.Context, tx *postgres.Tx) error {
		return events.Announce(ctx, tx,
			events.WebhookDisabled{Endpoint: events.Webhook{ID: o.endpoint, Events: []string{}}})
	})
	k := o.job(events.DeliverKind)
	if tries > 0 {
		o.exec(`UPDATE webhook_delivery SET status = 'failed', attempts = $2, next_attempt_at = now() + interval
			'1 hour' WHERE id = $1`, k.ID, tries)
		o.exec(
			`UPDATE job SET attempt = $2, run_at = now() + interval '1 hour', wake_at = NULL, due = false
				WHERE id = $1`, k.ID, tries)
	}
	return k.ID
}

func (o *operated) shows(delivery id.ID) string {
	o.t.Helper()
	var d webhooks.Delivery
	o.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		d, err = o.hooks.GetDelivery(ctx, tx, delivery)
		return err
	})
	switch {
	case d.NextAttemptAt == nil:
		return string(d.Status)
	case time.Until(d.NextAttemptAt.Time) > time.Minute:
		return string(d.Status) + ", again later"
	default:
		return string(d.Status) + ", again now"
	}
}

func TestADeliverySaysWhatAnOperatorMadeOfItsJob(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tries int
		acts  []string
		want  string
	}{
		"left alone":                      {2, nil, "failed, again later"},
		"dropped":                         {2, []string{"drop"}, "exhausted"},
		"dropped before its first try":    {0, []string{"drop"}, "exhausted"},
		"dropped by a filter":             {2, []string{"drop what fits"}, "exhausted"},
		"archived":                        {2, []string{"archive"}, "exhausted"},
		"archived and dropped":            {2, []string{"archive", "drop"}, "exhausted"},
		"archived and run again":          {2, []string{"archive", "run"}, "failed, again now"},
		"archived untried and run again":  {0, []string{"archive", "run"}, "pending"},
		"archived and redriven":           {2, []string{"archive", "redrive"}, "failed, again now"},
		"run now":                         {2, []string{"run"}, "failed, again now"},
		"dead of a failure of ours":       {2, []string{"death"}, "exhausted"},
		"dead of one of ours and revived": {2, []string{"death", "redrive"}, "failed, again now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := operate(t)
			d := o.delivery(tc.tries)
			for _, act := range tc.acts {
				o.act(act, operator.Key{Org: o.org, ID: d})
			}
			if got := o.shows(d); got != tc.want {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
		})
	}
}

func TestADeliveryThatCameToItsEndKeepsItWhateverAnOperatorDoes(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"delivered", "discarded"} {
		for _, act := range []string{"run", "drop"} {
			o := operate(t)
			d := o.delivery(0)
			o.exec(`UPDATE webhook_delivery SET status = $2 WHERE id = $1`, d, status)
			o.act(act, operator.Key{Org: o.org, ID: d})
			if got := o.shows(d); got != status {
				t.Errorf("%s of a job whose delivery is %s: it is %s", act, status, got)
			}
		}
	}
}

func TestADeliveryWhoseJobLostItsWorkerTooOftenIsExhausted(t *testing.T) {
	t.Parallel()
	o := operate(t)
	d := o.delivery(2)
	o.exec(`UPDATE job SET losses = $2, wake_at = now() + interval '1 hour', owner = NULL WHERE id = $1`, d,
		store.MaxLosses-1)
	ref := queue.Ref{
		ID: d, Org: o.org, Kind: events.DeliverKind, Lane: queue.Webhooks,
		MaxAttempts: events.DeliverAttempts,
	}
	client, err := redisx.Open(testkit.Redis(t), redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	courier := dispatch.New(o.store, client)
	if _, err := courier.Push(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	// A worker took the task and died.
	if err := client.HSet(t.Context(), asynqx.TaskKey("webhooks", ref.TaskID()), "state", "active").Err(); err != nil {
		t.Fatal(err)
	}
	if p, err := courier.Push(t.Context(), ref); err != nil || p.Died != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if got := o.one(`SELECT state FROM job WHERE id = $1`, d); got != "dead" {
		t.Fatalf("the job is %s", got)
	}
	if got := o.shows(d); got != "exhausted" {
		t.Errorf("it says %q", got)
	}
}

func TestImportsExportsBulkChangesAndReplaysWhoseJobsAreEndedSaySo(t *testing.T) {
	t.Parallel()
	var which id.ID
	importOf := func(ctx context.Context, o *operated) {
		s, err := imports.Stage(ctx, o.App, o.org, strings.NewReader("email,first_name,last_name\na@b.example,A,B\n"),
			sheet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.tx(func(ctx context.Context, tx *postgres.Tx) error {
			i, err := imports.Queue(ctx, tx, s, imports.Choices{})
			if which = i.ID; err != nil {
				return err
			}
			return contactimport.Kind.Add(ctx, tx, contactimport.Args{Import: i.ID})
		})
	}
	for kind, tc := range map[string]struct {
		begin            func(ctx context.Context, o *operated)
		shown            string
		open, stopped    string
		afterRun, column string
	}{
		contactimport.Kind.Name(): {
			begin: importOf, shown: "contact_import", column: "status", open: "queued",
			stopped: "failed", afterRun: "failed",
		},
		contactimportundo.Kind.Name(): {begin: func(ctx context.Context, o *operated) {
			importOf(ctx, o)
			o.exec(`DELETE FROM job WHERE org_id = $1`, o.org)
			o.exec(`UPDATE contact_import SET status = 'completed', undo_status = 'queued' WHERE id = $1`, which)
			o.tx(func(ctx context.Context, tx *postgres.Tx) error {
				return contactimportundo.Kind.Add(ctx, tx, contactimportundo.Args{Import: which})
			})
		}, shown: "contact_import", column: "undo_status", open: "queued", stopped: "failed", afterRun: "failed"},
		contactexport.Kind.Name(): {begin: func(_ context.Context, o *operated) {
			o.tx(func(ctx context.Context, tx *postgres.Tx) error {
				e, err := exports.Start(ctx, tx, exports.Wanted{Format: exports.CSV})
				if which = e.ID; err != nil {
					return err
				}
				return contactexport.Kind.Add(ctx, tx, contactexport.Args{Export: e.ID})
			})
		}, shown: "contact_export", column: "status", open: "queued", stopped: "failed", afterRun: "failed"},
		contactbulk.Kind.Name(): {begin: func(_ context.Context, o *operated) {
			o.tx(func(ctx context.Context, tx *postgres.Tx) error {
				b, err := bulk.Ask(ctx, tx, bulk.Action{Type: bulk.Archive}, json.RawMessage(`{"all":[]}`), false)
				if which = b.ID; err != nil {
					return err
				}
				return contactbulk.Kind.Add(ctx, tx, contactbulk.Args{Bulk: b.ID})
			})
		}, shown: "contact_bulk", column: "status", open: "queued", stopped: "failed", afterRun: "failed"},
		suppressionimport.Kind.Name(): {begin: func(ctx context.Context, o *operated) {
			s, err := suppressions.Stage(ctx, o.App, o.org, "user/ada", strings.NewReader("email\na@b.example\n"),
				sheet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o.tx(func(ctx context.Context, tx *postgres.Tx) error {
				i, err := suppressions.Queue(ctx, tx, s, suppressions.Choices{})
				if which = i.ID; err != nil {
					return err
				}
				return suppressionimport.Kind.Add(ctx, tx, suppressionimport.Args{Import: which})
			})
		}, shown: "suppression_import", column: "status", open: "queued", stopped: "failed", afterRun: "failed"},
		webhookreplay.Kind.Name(): {begin: func(_ context.Context, o *operated) {
			o.tx(func(ctx context.Context, tx *postgres.Tx) error {
				r, err := o.hooks.Replay(ctx, tx, o.endpoint,
					webhooks.Range{From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour)})
				if err != nil {
					return err
				}
				which = *r.ID
				return webhookreplay.Kind.Add(ctx, tx, webhookreplay.Args{Replay: which})
			})
		}, shown: "webhook_replay", column: "status", open: "queued", stopped: "stopped", afterRun: "running"},
	} {
		for _, act := range []string{"drop", "archive", "death"} {
			o := operate(t)
			tc.begin(t.Context(), o)
			k := o.job(kind)
			says := func() string { return o.one(`SELECT `+tc.column+` FROM `+tc.shown+` WHERE id = $1`, which) }
			got := []string{says()}
			o.act(act, k)
			got = append(got, says())
			want := []string{tc.open, tc.stopped}
			if act == "archive" {
				o.act("run", k)
				got, want = append(got, says()), append(want, tc.afterRun)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %s:\n%s", act, kind, diff)
			}
		}
	}
}

// TestAnActWhoseHookFailsChangesNoJob checks that rows and job stay consistent if a hook fails.
func TestAnActWhoseHookFailsChangesNoJob(t *testing.T) {
	t.Parallel()
	o := operate(t)
	d := o.delivery(2)
	o.exec(`REVOKE UPDATE ON webhook_delivery FROM funnelwork_app`)
	if _, err := o.operator.Drop(t.Context(), operator.By{Actor: "ada", Reason: "because"},
		operator.Key{Org: o.org, ID: d}); err == nil {
		t.Error("dropped")
	}
	if n := o.one(`SELECT count(*) FROM job WHERE id = $1`, d); n != "1" {
		t.Errorf("%s jobs are left", n)
	}
	if n := o.one(`SELECT count(*) FROM job_act`); n != "0" {
		t.Errorf("%s acts are noted", n)
	}
}

// without is the kinds without dependent rows, or with rows that become due by themselves.
var without = strings.Fields(`
	account.notice account.tell account.warn adaccounts.daily adaccounts.sync ai.sweep billing.overage billing.settle
	billing.sync contact.duplicates contact.index contact.index_sweep domain.sweep domain.verify email.reconcile
	inbound.mail inbound.opinion keys.reseal lead.fade lead.rescore lead.score lead.score_many mail.system
	mailbox.check mailbox.domains mailbox.sweep mailbox.sync overview.count plan.settle plan.sweep platform.redrive
	platform.retain quota.announce score.train_night segment.sync sending.domains sequence.compare sequence.count
	sequence.enter sequence.step stripe.event token.refresh token.revoke token.sweep tracking.judge
	webhook.health webhook.tell`)

func TestEveryKindHasAHookOrIsKnownToNeedNone(t *testing.T) {
	t.Parallel()
	hooks := jobs.Hooks("")
	known := map[string]bool{}
	for _, kind := range without {
		if known[kind] = true; hooks[kind].Kind != "" {
			t.Errorf("%s has a hook", kind)
		}
	}
	for _, h := range jobs.All(jobs.Deps{Log: testkit.Log(t)}) {
		if !known[h.Kind] && hooks[h.Kind].Kind == "" {
			t.Errorf("%s: does a row promise people a run of it? Then it needs a hook", h.Kind)
		}
	}
}
