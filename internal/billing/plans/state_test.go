package plans_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// settle stands for the kind of jobs/entitlementsync.
var settle = queue.Define[plans.SettleArgs]("plan.settle", queue.Options{})

// house is a test database.
type house struct {
	*testkit.Database
	*testing.T
	plans *plans.Service
	sql   *pgx.Conn
	org   id.ID
}

func open(t *testing.T) *house {
	t.Helper()
	h := &house{Database: testkit.DB(t), T: t}
	h.plans = plans.NewService(h.App, plans.Standard().Enqueuing(settle.Add))
	h.sql = testkit.Pgx(t, h.URL)
	h.org = h.found()
	return h
}

// found creates an org as sign-up does.
func (h *house) found() id.ID {
	h.Helper()
	org := id.New()
	h.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, org)
	h.tx(org, func(ctx context.Context, tx *postgres.Tx) error { return h.plans.Settle(ctx, tx) })
	return org
}

func (h *house) exec(sql string, args ...any) {
	h.Helper()
	if _, err := h.sql.Exec(h.Context(), sql, args...); err != nil {
		h.Fatal(err)
	}
}

func (h *house) tx(org id.ID, fn func(context.Context, *postgres.Tx) error) {
	h.Helper()
	if err := h.App.Tx(h.Context(), org, func(tx *postgres.Tx) error { return fn(h.Context(), tx) }); err != nil {
		h.Fatal(err)
	}
}

func (h *house) set(org id.ID, s plans.State) (before *plans.Stored) {
	h.Helper()
	h.tx(org, func(ctx context.Context, tx *postgres.Tx) (err error) {
		before, err = h.plans.Set(ctx, tx, s)
		return err
	})
	return before
}

func (h *house) of(org id.ID) *plans.Entitlements {
	h.Helper()
	now, err := h.plans.Of(h.Context(), org)
	if err != nil {
		h.Fatal(err)
	}
	return now
}

func one[T any](h *house, sql string, args ...any) (v T) {
	h.Helper()
	if err := h.sql.QueryRow(h.Context(), sql, args...).Scan(&v); err != nil {
		h.Fatalf("%s: %v", sql, err)
	}
	return v
}

func active(plan string) plans.State {
	return plans.State{Plan: plan, Interval: "month", Status: plans.Active, Quantity: 1}
}

func TestANewOrgIsOnTheTrialAndSetMovesEverything(t *testing.T) {
	t.Parallel()
	h := open(t)
	now := h.of(h.org)
	part := cmpopts.IgnoreFields(plans.Rights{}, "Features", "Overage", "Until")
	if diff := cmp.Diff(plans.Rights{Plan: "trial", Status: plans.Trialing, Open: true}, now.Rights, part); diff != "" {
		t.Fatalf("a new org (-want +got):\n%s", diff)
	}
	if most := now.Features[plans.Contacts].Value.Max; most != plans.Unlimited {
		t.Fatalf("a new org: at most %d contacts, want no limit", most)
	}
	if _, counted := now.Used[plans.Contacts]; counted {
		t.Error("contacts are counted though there is no limit")
	}
	h.exec(`INSERT INTO plan_addon (org_id, id, feature, amount) VALUES ($1, $2, 'contacts', 5)`, h.org, id.New())
	h.exec(`INSERT INTO plan_override (org_id, feature, value, source)
		VALUES ($1, 'webhooks', '3', 'override'), ($1, 'api_requests_per_minute', '250', 'override')`, h.org)
	end := wire.At(time.Now().Add(time.Hour))
	s := active("solo_starter")
	s.PeriodEnd, s.Customer, s.Subscription, s.Item = &end, "cus_1", "sub_1", "si_1"
	before := h.set(h.org, s)
	if before.Plan != "trial" || before.Version != now.Version {
		t.Errorf("before: %+v", before)
	}
	after := h.of(h.org)
	want := map[string]plans.Right{
		plans.Contacts: {Value: plans.Value{Type: plans.Limit, Max: 1005}, Source: plans.FromAddOn},
		plans.Webhooks: {Value: plans.Value{Type: plans.Limit, Max: 3}, Source: plans.FromOverride},
		plans.Members:  {Value: plans.Value{Type: plans.Limit, Max: 3}, Source: plans.FromPlan},
	}
	for name, right := range want {
		if after.Features[name] != right {
			t.Errorf("%s: %+v, want %+v", name, after.Features[name], right)
		}
	}
	if after.Version <= now.Version {
		t.Errorf("version %d after %d", after.Version, now.Version)
	}
	if diff := cmp.Diff(plans.Rights{Plan: "solo_starter", Status: plans.Active, Open: true}, after.Rights,
		part); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if got := one[string](h, `SELECT plan || ' ' || rate_per_minute FROM org WHERE id = $1`,
		h.org); got != "solo_starter 250" {
		t.Errorf("the org says %s", got)
	}
	if caps := one[string](h,
		`SELECT string_agg(feature || ' ' || cap, ', ' ORDER BY feature) FROM quota WHERE org_id = $1`,
		h.org); caps != "ad_accounts 1, client_orgs 0, contacts 1005, emails_month 5000, mailboxes 2, members 3, "+
		"social_accounts 5, webhooks 3" {
		t.Errorf("limits: %s", caps)
	}
	if again := h.set(h.org, s); again.Version != after.Version || h.of(h.org).Version != after.Version {
		t.Error("setting what is so moved the version")
	}
	var stored *plans.Stored
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) (err error) {
		stored, err = plans.Read(ctx, tx)
		return err
	})
	if diff := cmp.Diff(s, stored.State); diff != "" {
		t.Errorf("what was set is not what is stored:\n%s", diff)
	}
	if err := h.App.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
		_, err := h.plans.Set(t.Context(), tx, active("gold"))
		return err
	}); err == nil {
		t.Error("a plan that there is not was set")
	}
}

func TestTheAnswerFromMemoryIsTheOneFromScratch(t *testing.T) {
	t.Parallel()
	h := open(t)
	agency := h.found()
	h.set(agency, active("agency_growth"))
	h.exec(`UPDATE org SET parent_org_id = $2 WHERE id = $1`, h.org, agency)
	h.exec(`UPDATE subscription SET plan = 'client', status = 'active' WHERE org_id = $1`, h.org)
	h.exec(`INSERT INTO client_org (org_id, id, name, created_by, created_at, updated_at)
		VALUES ($1, $2, 'Test', $2, now(), now())`, agency, h.org)
	for _, act := range []func(){
		func() { h.set(agency, active("agency_scale")) },
		func() { h.set(agency, plans.State{Plan: "agency_scale", Interval: "month", Status: plans.Unpaid}) },
		func() { h.set(agency, active("white_label_pro")) },
		func() {
			h.exec(
				`INSERT INTO plan_override (org_id, feature, value, source)
					VALUES ($1, 'contacts', '77', 'allocation')`, h.org)
			h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error { return h.plans.Settle(ctx, tx) })
		},
		func() { // a cached override expires
			h.exec(`UPDATE plan_override SET expires_at = clock_timestamp() + interval '50 ms' WHERE org_id = $1`,
				h.org)
			h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error { return h.plans.Settle(ctx, tx) })
			h.of(h.org)
			for one[bool](h, `SELECT expires_at > clock_timestamp() FROM plan_override WHERE org_id = $1`, h.org) {
			}
		},
	} {
		for _, org := range []id.ID{agency, h.org} {
			h.of(org) // fill the cache
		}
		act()
		for _, org := range []id.ID{agency, h.org} {
			scratch, err := plans.NewService(h.App, nil).Of(t.Context(), org)
			if err != nil {
				t.Fatal(err)
			}
			for _, where := range []string{"at first", "again"} {
				if diff := cmp.Diff(scratch, h.of(org)); diff != "" {
					t.Errorf("%s: from memory is another than from scratch:\n%s", where, diff)
				}
			}
		}
	}
	if got := h.of(h.org).Features[plans.Contacts]; got.Source != plans.FromAgency || got.Value.Max != 2000000 {
		t.Errorf("after the allocation ended: %+v", got)
	}
	if one[int](h,
		`SELECT count(*)::int FROM job WHERE org_id = $1 AND kind = 'plan.settle' AND args->>'after' IS NOT NULL`,
		agency) == 0 {
		t.Error("no job settles the agency's clients")
	}
	h.tx(agency, func(ctx context.Context, tx *postgres.Tx) error {
		return h.plans.SettleClients(ctx, tx, id.ID{15: 1})
	})
	if most := one[int64](h, `SELECT cap FROM quota WHERE org_id = $1 AND feature = 'contacts'`,
		h.org); most != 2000000 {
		t.Errorf("the client's limit is %d", most)
	}
}

func TestTheClockEndsATrialWithoutAnybodyAsking(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error {
		plans.Begin(tx, 14)
		return h.plans.Settle(ctx, tx)
	})
	if !one[bool](h,
		`SELECT writes_until BETWEEN now() + interval '13 days' AND now() + interval '14 days 1 minute' FROM org
			WHERE id = $1`, h.org) {
		t.Error("the org's writes end at another moment")
	}
	if n := one[int](h,
		`SELECT count(*)::int FROM job WHERE org_id = $1 AND kind = 'plan.settle'
			AND run_at = (SELECT trial_ends_at FROM subscription WHERE org_id = $1)`, h.org); n != 1 {
		t.Errorf("%d jobs wait for the trial's end", n)
	}
	h.exec(`UPDATE subscription SET trial_ends_at = now() - interval '1 second', entitlement_version =
		entitlement_version + 1 WHERE org_id = $1`, h.org)
	now := h.of(h.org)
	if now.Status != plans.TrialEnded || now.Open {
		t.Errorf("after the trial: status %v, open %v; want %v, false", now.Status, now.Open, plans.TrialEnded)
	}
	if now.Features[plans.Sequences].Value.On {
		t.Errorf("after the trial: %s is on", plans.Sequences)
	}
	err := h.plans.Need(t.Context(), h.org, plans.Sequences)
	if f := fault.Of(err); f == nil || f.Code != fault.FeatureNotInPlan {
		t.Errorf("a feature that is not in the plan: %v, want %s", err, fault.FeatureNotInPlan)
	} else if f.More["upgrade_to"] != "solo_pro" {
		t.Errorf("upgrade to %v, want solo_pro", f.More["upgrade_to"])
	}
	s := active("solo_pro")
	h.set(h.org, s)
	if err := h.plans.Need(t.Context(), h.org, plans.Sequences); err != nil {
		t.Errorf("a feature that is there: %v", err)
	}
	if one[bool](h, `SELECT writes_until IS NOT NULL FROM org WHERE id = $1`, h.org) {
		t.Error("a paid plan's writes end")
	}
}

func TestPastDueKeepsTheStartOfItsGrace(t *testing.T) {
	t.Parallel()
	h := open(t)
	s := active("solo_pro")
	h.set(h.org, s)
	s.Status = plans.PastDue
	h.set(h.org, s)
	since := one[time.Time](h, `SELECT past_due_since FROM subscription WHERE org_id = $1`, h.org)
	s.Item = "si_2"
	h.set(h.org, s)
	if got := one[time.Time](h, `SELECT past_due_since FROM subscription WHERE org_id = $1`, h.org); !got.Equal(since) {
		t.Errorf("the grace began anew: %v, was %v", got, since)
	}
	if now := h.of(h.org); !now.Open || !now.Until.Equal(since.Add(14*24*time.Hour)) {
		t.Errorf("open %v until %v", now.Open, now.Until)
	}
	s.Status = plans.Active
	h.set(h.org, s)
	if one[bool](h, `SELECT past_due_since IS NOT NULL FROM subscription WHERE org_id = $1`, h.org) {
		t.Error("a paid org has a grace")
	}
}

func TestAgenciesHaveClientsAndClientsHaveNone(t *testing.T) {
	t.Parallel()
	h := open(t)
	a, b := h.found(), h.found()
	h.exec(`UPDATE org SET parent_org_id = $2 WHERE id = $1`, a, h.org)
	for what, sql := range map[string]string{
		"a client has a client": `UPDATE org SET parent_org_id = '` + a.String() + `' WHERE id = '` +
			b.String() + `'`,
		"an agency becomes a client": `UPDATE org SET parent_org_id = '` + b.String() + `' WHERE id = '` +
			h.org.String() + `'`,
		"an agency becomes its own's": `UPDATE org SET parent_org_id = '` + a.String() + `' WHERE id = '` +
			h.org.String() + `'`,
		"an org is its own agency": `UPDATE org SET parent_org_id = id WHERE id = '` + b.String() + `'`,
		"an agency that there is not": `UPDATE org SET parent_org_id = gen_random_uuid() WHERE id = '` + b.String() +
			`'`,
	} {
		if _, err := h.sql.Exec(t.Context(), sql); !postgres.Violates(err, "org_parent") {
			t.Errorf("%s: %v", what, err)
		}
	}
	h.exec(`UPDATE org SET parent_org_id = NULL WHERE id = $1`, a)
	h.exec(`UPDATE org SET parent_org_id = $2 WHERE id = $1`, h.org, a)
}

// TestAnOperatorsGrantsFollowAtOnceAndEnd grants an org more and less than its plan, and revokes the grants.
func TestAnOperatorsGrantsFollowAtOnceAndEnd(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.set(h.org, active("solo_starter"))
	try := func(fn func(context.Context, *postgres.Tx) error) error {
		return h.App.Tx(t.Context(), h.org, func(tx *postgres.Tx) error { return fn(t.Context(), tx) })
	}
	want := func(feature string, value int64, source plans.Source) {
		t.Helper()
		now := h.of(h.org)
		if got := now.Features[feature]; got.Value.Max != value || got.Source != source {
			t.Errorf("%s: %+v, want %d by %s", feature, got, value, source)
		}
		if value == plans.Unlimited {
			value = -1
		}
		if most := one[int64](h, `SELECT coalesce(max(cap), -1) FROM quota WHERE org_id = $1 AND feature = $2`, h.org,
			feature); most != value {
			t.Errorf("%s: %d are let in, want %d", feature, most, value)
		}
	}
	var more id.ID
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) (err error) {
		more, err = h.plans.Extend(ctx, tx, "contacts", 500)
		return err
	})
	want("contacts", 1500, plans.FromAddOn)
	end := time.Now().Add(time.Hour).UTC()
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error {
		return h.plans.Override(ctx, tx, "contacts", []byte("7"), &end)
	})
	want("contacts", 7, plans.FromOverride)
	if until := h.of(h.org).Until; until.Sub(end).Abs() > time.Millisecond {
		t.Errorf("the rights change at %v, want %v", until, end)
	}
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error {
		return h.plans.Override(ctx, tx, "contacts", []byte("null"), nil)
	})
	want("contacts", plans.Unlimited, plans.FromOverride)
	var said strings.Builder
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error { return h.plans.Print(ctx, tx, &said) })
	for _, line := range []string{
		`plan solo_starter, active`, `contacts +null +override`, `members +3 +plan +0`,
		more.String() + ` +contacts +500`, `override +contacts +null`,
	} {
		if !regexp.MustCompile(`(?m)^` + line).MatchString(said.String()) {
			t.Errorf("%q is not said:\n%s", line, said.String())
		}
	}
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error { return h.plans.Revoke(ctx, tx, "contacts") })
	want("contacts", 1500, plans.FromAddOn)
	h.tx(h.org, func(ctx context.Context, tx *postgres.Tx) error { return h.plans.Reduce(ctx, tx, more) })
	want("contacts", 1000, plans.FromPlan)
	for what, fn := range map[string]func(context.Context, *postgres.Tx) error{
		"an override that there is not": func(ctx context.Context, tx *postgres.Tx) error {
			return h.plans.Revoke(ctx, tx, "contacts")
		},
		"an add-on that there is not": func(ctx context.Context, tx *postgres.Tx) error {
			return h.plans.Reduce(ctx, tx, more)
		},
		"no feature": func(ctx context.Context, tx *postgres.Tx) error {
			return h.plans.Override(ctx, tx, "gold", []byte("1"), nil)
		},
		"another type": func(ctx context.Context, tx *postgres.Tx) error {
			return h.plans.Override(ctx, tx, "sequences", []byte("1"), nil)
		},
		"less than nothing": func(ctx context.Context, tx *postgres.Tx) error {
			return h.plans.Override(ctx, tx, "contacts", []byte("-1"), nil)
		},
		"no requests at all": func(ctx context.Context, tx *postgres.Tx) error {
			return h.plans.Override(ctx, tx, plans.RequestRate, []byte("0"), nil)
		},
		"an add-on of nothing": func(ctx context.Context, tx *postgres.Tx) error {
			_, err := h.plans.Extend(ctx, tx, "contacts", 0)
			return err
		},
		"an add-on of a word": func(ctx context.Context, tx *postgres.Tx) error {
			_, err := h.plans.Extend(ctx, tx, "support", 1)
			return err
		},
	} {
		if err := try(fn); fault.Of(err) == nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	want("contacts", 1000, plans.FromPlan)
}

func TestTheConditionInSQLIsThatOfEffective(t *testing.T) {
	t.Parallel()
	h := open(t)
	now := one[time.Time](h, `SELECT now()`)
	times := []*time.Duration{nil}
	for _, d := range []time.Duration{-30 * 24 * time.Hour, -24 * time.Hour, 24 * time.Hour} {
		times = append(times, &d)
	}
	at := func(d *time.Duration) *time.Time {
		if d == nil {
			return nil
		}
		out := now.Add(*d)
		return &out
	}
	for _, plan := range []string{"trial", "solo_pro"} {
		for _, status := range []plans.Status{
			plans.Trialing, plans.Active, plans.PastDue, plans.Incomplete, plans.Unpaid, plans.Canceled, plans.Paused,
		} {
			for _, d := range times {
				f := plans.Facts{Plan: plan, Status: status, TrialEnds: at(d), PastDueSince: at(d)}
				h.exec(`UPDATE subscription SET plan = $2, status = $3, trial_ends_at = $4, past_due_since = $5
					WHERE org_id = $1`, h.org, plan, string(status), f.TrialEnds, f.PastDueSince)
				got := one[bool](h,
					`SELECT `+plans.Standard().InEffectSQL("s")+` FROM subscription s WHERE s.org_id = $1`, h.org)
				if want := plans.Standard().Effective(f, now).Open; got != want {
					t.Errorf("%s %s at %v: %t, want %t", plan, status, d, got, want)
				}
			}
		}
	}
}
