package tenants_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/tenants"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// settle is the kind that the catalogue enqueues.
var settle = queue.Define[plans.SettleArgs]("entitlement.sync", queue.Options{})

type office struct {
	*testing.T
	*tenants.Service
	db  *testkit.Database
	sql *pgx.Conn
}

func open(t *testing.T) *office {
	db := testkit.DB(t)
	catalogue := plans.Standard().Enqueuing(settle.Add)
	return &office{t, tenants.New(db.App, db.System, catalogue), db, testkit.Pgx(t, db.URL)}
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) ask(sql string, args ...any) (said string) {
	o.Helper()
	if err := o.sql.QueryRow(o.Context(), "SELECT coalesce(("+sql+")::text, 'none')", args...).Scan(&said); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
	return said
}

// org creates an org with an owner.
func (o *office) org(name, owner string) id.ID {
	o.Helper()
	org, user := id.New(), id.New()
	o.exec(`INSERT INTO org (id, name) VALUES ($1, $2)`, org, name)
	o.exec(`INSERT INTO app_user (id, email, email_folded) VALUES ($1, $2, lower($2))`, user, owner)
	o.exec(`INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, 'owner')`, org, user)
	return org
}

var grace = tenants.By{Actor: "grace", Reason: "unpaid"}

func TestOperatorsFindOrgsByNameMemberIDStatusAndPlan(t *testing.T) {
	t.Parallel()
	o := open(t)
	engines, shop := o.org("Difference Engines", "Ada@example.com"), o.org("Shop 100%", "bob@example.com")
	third := o.org("Third", "eve@example.com")
	o.exec(`UPDATE org SET suspended_at = now() WHERE id = $1`, shop)
	o.exec(`UPDATE org SET plan = 'solo_pro' WHERE id = $1`, third)
	for _, c := range []struct {
		filter tenants.Filter
		want   []id.ID
	}{
		{tenants.Filter{}, []id.ID{third, shop, engines}},
		{tenants.Filter{Search: "engine"}, []id.ID{engines}},
		{tenants.Filter{Search: "0%"}, []id.ID{shop}},
		{tenants.Filter{Search: "ada@EXAMPLE.com"}, []id.ID{engines}},
		{tenants.Filter{Search: third.String()}, []id.ID{third}},
		{tenants.Filter{Search: "nobody"}, nil},
		{tenants.Filter{Status: "suspended"}, []id.ID{shop}},
		{tenants.Filter{Status: "active", Plan: "solo_pro"}, []id.ID{third}},
	} {
		all, err := o.List(t.Context(), c.filter, nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []id.ID
		for _, one := range all {
			got = append(got, one.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.filter, diff)
		}
	}
	all, err := o.List(t.Context(), tenants.Filter{}, &shop, 10)
	if err != nil || len(all) != 1 || all[0].ID != engines {
		t.Errorf("after the second: %+v, %v", all, err)
	}
	d, err := o.Show(t.Context(), engines)
	if err != nil || d.Name != "Difference Engines" || d.Status != "active" || d.Members != 1 ||
		!slices.Equal(d.Owners, []string{"Ada@example.com"}) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := o.Show(t.Context(), id.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown org: %v", err)
	}
}

// claim reports whether the jobs of an org may start.
func (o *office) claims(org, job id.ID) bool {
	o.Helper()
	o.exec(`UPDATE job SET wake_at = now() WHERE id = $1`, job)
	_, err := store.New(o.db.App, o.db.System).Claim(o.Context(), org, job)
	o.exec(`UPDATE job SET owner = NULL, lease_until = NULL WHERE id = $1`, job)
	return err == nil
}

var kind = queue.Define[struct{}]("test.kind", queue.Options{})

func TestASuspensionHoldsTheJobsUntilItEndsWhateverPausesDo(t *testing.T) {
	t.Parallel()
	o := open(t)
	org := o.org("Engines", "ada@example.com")
	if err := o.db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		return kind.Add(t.Context(), tx, struct{}{})
	}); err != nil {
		t.Fatal(err)
	}
	job, err := id.Parse(o.ask(`SELECT id FROM job WHERE kind = 'test.kind'`))
	if err != nil {
		t.Fatal(err)
	}
	pauses := operator.New(store.New(o.db.System, o.db.System), nil)
	act := func(what func(context.Context, operator.By, string, string) (bool, error), want bool) {
		t.Helper()
		if did, err := what(t.Context(), operator.By{Actor: "ada"}, "org", org.String()); err != nil || did != want {
			t.Errorf("changed %v, %v; want %v", did, err, want)
		}
	}
	held := func(want bool) {
		t.Helper()
		if o.claims(org, job) == want {
			t.Errorf("its job may start: %v", !want)
		}
	}
	held(false)
	for range 2 {
		d, err := o.Suspend(t.Context(), grace, org)
		if err != nil || d.Status != "suspended" || d.SuspendedReason != "unpaid" || d.Jobs.Open != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
		held(true)
	}
	act(pauses.Resume, false) // a suspension is no pause
	held(true)
	act(pauses.Pause, true)
	act(pauses.Resume, true)
	held(true)
	act(pauses.Pause, true)
	if _, err := o.Resume(t.Context(), grace, org); err != nil {
		t.Fatal(err)
	}
	held(true) // paused still
	act(pauses.Resume, true)
	held(false)
	if n := o.ask(`SELECT count(*) FROM job_pause`); n != "0" {
		t.Errorf("%s pauses are left", n)
	}
	for range 2 {
		if d, err := o.Resume(t.Context(), grace, org); err != nil || d.Status != "active" || d.SuspendedReason != "" {
			t.Errorf("%+v, %v", d, err)
		}
	}
	if got := o.ask(`SELECT string_agg(action || ' ' || (detail->>'by') || ' ' || (detail->>'reason'), ', ' ORDER BY id)
		FROM audit_log WHERE org_id = $1`, org); got !=
		"organization.suspended grace unpaid, organization.resumed grace unpaid" {
		t.Errorf("the org's log: %s", got)
	}
	got := o.ask(`SELECT string_agg(act || ' ' || scope, ', ' ORDER BY id) FROM job_act WHERE actor = 'grace'`)
	if got != "org.suspend org "+org.String()+", org.resume org "+org.String() {
		t.Errorf("the operators' log: %s", got)
	}
}

func TestAnEmailThatWaitedForTheEndOfASuspensionIsNotLate(t *testing.T) {
	t.Parallel()
	o := open(t)
	org := o.org("Engines", "ada@example.com")
	o.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, purpose, subject, to_email, to_domain, message_id,
			message_hash, status, due_at, created_at, updated_at)
		SELECT $1, g, g, g, 'personal', 'x', 'x@x.example', 'x.example', g::text, uuid_send(g), 'planned',
			now() - interval '30 hours', now(), now() FROM (SELECT gen_random_uuid() AS g) x`, org)
	if _, err := o.Suspend(t.Context(), grace, org); err != nil {
		t.Fatal(err)
	}
	o.exec(`UPDATE org SET suspended_at = now() - interval '29 hours' WHERE id = $1`, org)
	if _, err := o.Resume(t.Context(), grace, org); err != nil {
		t.Fatal(err)
	}
	if late := o.ask(`SELECT due_at < now() - interval '1 hour' FROM email`); late != "false" {
		t.Error("the email keeps the time at which it was due")
	}
}

func TestASuspensionNeedsAReasonAndAnOrg(t *testing.T) {
	t.Parallel()
	o := open(t)
	org := o.org("Engines", "ada@example.com")
	if _, err := o.Suspend(t.Context(), tenants.By{Actor: "grace"}, org); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("without a reason: %v", err)
	}
	if _, err := o.Suspend(t.Context(), grace, id.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown org: %v", err)
	}
	if _, err := o.Resume(t.Context(), grace, id.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown org: %v", err)
	}
	if n := o.ask(`SELECT count(*) FROM job_pause`); n != "0" {
		t.Errorf("%s pauses", n)
	}
}

func TestOperatorsPutAnOrgOnAPlanUnlessItsPaymentsDecide(t *testing.T) {
	t.Parallel()
	o := open(t)
	org := o.org("Engines", "ada@example.com")
	for range 2 {
		if err := o.SetPlan(t.Context(), grace, org, "white_label_enterprise"); err != nil {
			t.Fatal(err)
		}
	}
	r, err := o.Rights(t.Context(), org)
	if err != nil || r.Plan != "white_label_enterprise" || r.Status != plans.Active ||
		!r.Features[plans.CustomDomain].Value.On {
		t.Errorf("%+v, %v", r, err)
	}
	if got := o.ask(`SELECT string_agg(data::text, ' ') FROM event WHERE org_id = $1 AND type = 'plan.changed'`,
		org); strings.Count(got, "white_label_enterprise") != 1 {
		t.Errorf("announced: %s", got)
	}
	if got := o.ask(`SELECT plan || ' ' || (writes_until IS NULL) FROM org WHERE id = $1`, org); got !=
		"white_label_enterprise true" {
		t.Errorf("the org has %s", got)
	}
	for _, reason := range []string{"", " \t"} {
		err := o.SetPlan(t.Context(), tenants.By{Actor: "grace", Reason: reason}, org, "trial")
		if !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("a plan with the reason %q: %v", reason, err)
		}
	}
	if err := o.SetPlan(t.Context(), grace, org, "gold"); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("an unknown plan: %v", err)
	}
	if err := o.SetPlan(t.Context(), grace, id.New(), "trial"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown org: %v", err)
	}
	o.exec(`UPDATE subscription SET stripe_subscription_id = 'sub_1' WHERE org_id = $1`, org)
	if err := o.SetPlan(t.Context(), grace, org, "trial"); !fault.Is(err, fault.Conflict) {
		t.Errorf("an org with payments: %v", err)
	}
}

func TestOperatorsChangeRightsAndSeeTheirUse(t *testing.T) {
	t.Parallel()
	o := open(t)
	org := o.org("Engines", "ada@example.com")
	until := time.Now().Add(time.Hour)
	if err := o.Override(t.Context(), grace, org, plans.Contacts, json.RawMessage(`7`), &until); err != nil {
		t.Fatal(err)
	}
	addon, err := o.Add(t.Context(), grace, org, plans.Webhooks, 10, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := o.Rights(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Features[plans.Contacts]; c.Value.Max != 7 || c.Source != plans.FromOverride {
		t.Errorf("contacts: %+v", c)
	}
	if len(r.Grants) != 2 || r.Grants[0].ExpiresAt == nil || r.Grants[1].ID == nil || *r.Grants[1].ID != addon {
		t.Errorf("grants: %+v", r.Grants)
	}
	o.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at)
		SELECT $1, gen_random_uuid(), n || '@x.test', n || '@x.test', '', '', '', 'lead', now(),
		now()
		FROM generate_series(1, 3) n`, org)
	u, err := o.Usage(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	if c := u.Features[plans.Contacts]; c.Used != 3 || c.Limit.Max != 7 {
		t.Errorf("contacts: %+v", c)
	}
	if m := u.Features[plans.Members]; m.Used != 1 {
		t.Errorf("members: %+v", m)
	}
	if err := o.EndOverride(t.Context(), grace, org, plans.Contacts); err != nil {
		t.Fatal(err)
	}
	if err := o.EndAddOn(t.Context(), grace, org, addon); err != nil {
		t.Fatal(err)
	}
	if r, err = o.Rights(t.Context(), org); err != nil || len(r.Grants) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for what, err := range map[string]error{
		"an unknown override": o.EndOverride(t.Context(), grace, org, plans.Contacts),
		"an unknown add-on":   o.EndAddOn(t.Context(), grace, org, addon),
		"an unknown org":      o.Override(t.Context(), grace, id.New(), plans.Contacts, json.RawMessage(`7`), nil),
	} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := o.Override(t.Context(), grace, org, "wings", json.RawMessage(`7`), nil); err == nil ||
		!fault.Is(err, fault.ValidationFailed) {
		t.Errorf("an unknown feature: %v", err)
	}
	if got := o.ask(`SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log WHERE org_id = $1`, org); got !=
		strings.Join([]string{"plan.overridden", "plan.addon_added", "plan.override_ended", "plan.addon_ended"}, " ") {
		t.Errorf("the log: %s", got)
	}
}
