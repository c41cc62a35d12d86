package plans_test

import (
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

func shipped(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("catalogue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func in(d time.Duration) *time.Time {
	at := noon.Add(d)
	return &at
}

func limit(n int64) plans.Value { return plans.Value{Type: plans.Limit, Max: n} }

func TestRightsFollowFromTheFacts(t *testing.T) {
	t.Parallel()
	c := plans.Standard()
	agency := c.Effective(plans.Facts{Plan: "agency_growth", Status: plans.Active}, noon)
	broke := c.Effective(plans.Facts{Plan: "agency_growth", Status: plans.Unpaid}, noon)
	day := 24 * time.Hour
	for name, x := range map[string]struct {
		facts   plans.Facts
		feature string
		want    any
		source  plans.Source
		status  plans.Status
		until   time.Duration // 0: never
	}{
		"a plan": {
			plans.Facts{Plan: "solo_starter", Status: plans.Active},
			"contacts",
			int64(1000), plans.FromPlan, plans.Active, 0,
		},
		"a trial without end": {
			plans.Facts{Plan: "trial", Status: plans.Trialing},
			"contacts", nil,
			plans.FromPlan, plans.Trialing, 0,
		},
		"a trial with an end": {
			plans.Facts{Plan: "trial", Status: plans.Trialing, TrialEnds: in(day)},
			"sequences", true, plans.FromPlan, plans.Trialing, day,
		},
		"a trial at its end": {
			plans.Facts{Plan: "trial", Status: plans.Trialing, TrialEnds: in(0)},
			"sequences", false, plans.FromFree, plans.TrialEnded, 0,
		},
		"a paid plan's trial": {
			plans.Facts{Plan: "solo_pro", Status: plans.Trialing, TrialEnds: in(-day)},
			"contacts", int64(25000), plans.FromPlan, plans.Trialing, 0,
		},
		"past due within grace": {plans.Facts{
			Plan: "solo_pro", Status: plans.PastDue,
			PastDueSince: in(-13 * day),
		}, "contacts", int64(25000), plans.FromPlan, plans.PastDue, day},
		"past due after grace": {plans.Facts{
			Plan: "solo_pro", Status: plans.PastDue,
			PastDueSince: in(-14 * day),
		}, "contacts", int64(100), plans.FromFree, plans.Unpaid, 0},
		"incomplete": {
			plans.Facts{Plan: "white_label_pro", Status: plans.Incomplete},
			"white_label", false, plans.FromFree, plans.Incomplete, 0,
		},
		"unpaid": {
			plans.Facts{Plan: "white_label_pro", Status: plans.Unpaid},
			"white_label",
			false, plans.FromFree, plans.Unpaid, 0,
		},
		"canceled": {
			plans.Facts{Plan: "white_label_pro", Status: plans.Canceled},
			"white_label",
			false, plans.FromFree, plans.Canceled, 0,
		},
		"paused": {
			plans.Facts{Plan: "white_label_pro", Status: plans.Paused},
			"white_label",
			false, plans.FromFree, plans.Paused, 0,
		},
		"a plan that is gone": {
			plans.Facts{Plan: "gold", Status: plans.Active},
			"contacts", int64(100),
			plans.FromFree, plans.Active, 0,
		},
		"no limit": {
			plans.Facts{Plan: "white_label_enterprise", Status: plans.Active},
			"client_orgs", nil, plans.FromPlan, plans.Active, 0,
		},
		"add-ons add up": {
			plans.Facts{
				Plan: "solo_starter", Status: plans.Active,
				AddOns: []plans.AddOn{{"contacts", 500}, {"contacts", 250}},
			},
			"contacts", int64(1750), plans.FromAddOn,
			plans.Active, 0,
		},
		"an add-on without end": {plans.Facts{
			Plan: "solo_starter", Status: plans.Active,
			AddOns: []plans.AddOn{{"contacts", plans.Unlimited}},
		}, "contacts", nil, plans.FromAddOn, plans.Active, 0},
		"an add-on of a boolean": {plans.Facts{
			Plan: "solo_starter", Status: plans.Active,
			AddOns: []plans.AddOn{{"sequences", 0}},
		}, "sequences", true, plans.FromAddOn, plans.Active, 0},
		"an add-on without a plan": {plans.Facts{
			Plan: "solo_starter", Status: plans.Canceled,
			AddOns: []plans.AddOn{{"contacts", 500}},
		}, "contacts", int64(100), plans.FromFree, plans.Canceled, 0},
		"an override beats both": {
			plans.Facts{
				Plan: "solo_starter", Status: plans.Active,
				AddOns:    []plans.AddOn{{"contacts", 500}},
				Overrides: []plans.Override{{"contacts", limit(7), plans.FromOverride, nil}},
			},
			"contacts", int64(7),
			plans.FromOverride, plans.Active, 0,
		},
		"an override that ends": {
			plans.Facts{
				Plan: "solo_starter", Status: plans.Active,
				Overrides: []plans.Override{{"contacts", limit(7), plans.FromOverride, in(time.Second)}},
			},
			"contacts",
			int64(7), plans.FromOverride, plans.Active, time.Second,
		},
		"an override that has ended": {
			plans.Facts{
				Plan: "solo_starter", Status: plans.Active,
				Overrides: []plans.Override{{"contacts", limit(7), plans.FromOverride, in(0)}},
			},
			"contacts", int64(1000),
			plans.FromPlan, plans.Active, 0,
		},
		"an override of another type": {
			plans.Facts{
				Plan: "solo_starter", Status: plans.Active,
				Overrides: []plans.Override{{"sequences", limit(7), plans.FromOverride, nil}},
			},
			"sequences", false,
			plans.FromPlan, plans.Active, 0,
		},
		"a client has its agency's": {
			plans.Facts{Plan: plans.Client, Status: plans.Active, Agency: &agency},
			"contacts", int64(100000), plans.FromAgency, plans.Active, 0,
		},
		"a client has its allocation": {
			plans.Facts{
				Plan: plans.Client, Status: plans.Active, Agency: &agency,
				Overrides: []plans.Override{{"contacts", limit(500), plans.FromAllocation, nil}},
			},
			"contacts", int64(500),
			plans.FromAllocation, plans.Active, 0,
		},
		"but no more than its agency": {
			plans.Facts{
				Plan: plans.Client, Status: plans.Active, Agency: &agency,
				Overrides: []plans.Override{{"contacts", limit(plans.Unlimited), plans.FromAllocation, nil}},
			},
			"contacts",
			int64(100000), plans.FromAgency, plans.Active, 0,
		},
		"nor a right that it has not": {plans.Facts{
			Plan: plans.Client, Status: plans.Active, Agency: &agency,
			AddOns: []plans.AddOn{{"white_label", 1}},
		}, "white_label", false, plans.FromAgency, plans.Active, 0},
		"a client has no clients": {
			plans.Facts{Plan: plans.Client, Status: plans.Active, Agency: &agency},
			"client_orgs", int64(0), plans.FromAgency, plans.Active, 0,
		},
		"a client of a broke agency": {
			plans.Facts{Plan: plans.Client, Status: plans.Active, Agency: &broke},
			"sequences", false, plans.FromAgency, plans.Active, 0,
		},
		"a client whose agency is away": {
			plans.Facts{Plan: plans.Client, Status: plans.Active},
			"contacts",
			int64(100), plans.FromFree, plans.Active, 0,
		},
	} {
		r := c.Effective(x.facts, noon)
		got, want := r.Features[x.feature], plans.Value{Type: c.TypeOf(x.feature)}
		switch v := x.want.(type) {
		case nil:
			want.Max = plans.Unlimited
		case int64:
			want.Max = v
		case bool:
			want.On = v
		}
		if got.Value != want || got.Source != x.source || r.Status != x.status {
			t.Errorf("%s: %+v by %s, status %s; want %+v by %s, %s", name, got.Value, got.Source, r.Status, want,
				x.source, x.status)
		}
		if x.until == 0 && !r.Until.IsZero() || x.until > 0 && !r.Until.Equal(noon.Add(x.until)) {
			t.Errorf("%s: until %v, want in %v", name, r.Until, x.until)
		}
	}
}

// TestAnUnpaidRenewalLeavesEverythingFor14Days covers the grace period: the whole plan until its last moment, then the
// free set, for every feature; a client org's rights end with its agency's.
func TestAnUnpaidRenewalLeavesEverythingFor14Days(t *testing.T) {
	t.Parallel()
	c := plans.Standard()
	const day = 24 * time.Hour
	for _, x := range []struct {
		unpaid time.Duration // since the invoice became unpaid
		open   bool
		status plans.Status
		left   time.Duration // until the next change by the clock
	}{
		{0, true, plans.PastDue, 14 * day},
		{1 * day, true, plans.PastDue, 13 * day},
		{7 * day, true, plans.PastDue, 7 * day},
		{14*day - time.Microsecond, true, plans.PastDue, time.Microsecond},
		{14 * day, false, plans.Unpaid, 0},
		{15 * day, false, plans.Unpaid, 0},
		{400 * day, false, plans.Unpaid, 0},
	} {
		r := c.Effective(plans.Facts{Plan: "agency_scale", Status: plans.PastDue, PastDueSince: in(-x.unpaid)}, noon)
		until := time.Time{}
		if x.left > 0 {
			until = noon.Add(x.left)
		}
		want := plans.Rights{Plan: "agency_scale", Status: x.status, Open: x.open, Overage: x.open, Until: until}
		if diff := cmp.Diff(want, r, cmpopts.IgnoreFields(plans.Rights{}, "Features")); diff != "" {
			t.Errorf("%s unpaid (-want +got):\n%s", x.unpaid, diff)
		}
		as, client := plans.Facts{Plan: "agency_scale", Status: plans.Active},
			c.Effective(plans.Facts{Plan: plans.Client, Status: plans.Active, Agency: &r}, noon)
		if !x.open {
			as.Status = plans.Canceled
		}
		for name, want := range c.Effective(as, noon).Features {
			if got := r.Features[name]; got != want {
				t.Errorf("%s unpaid: %s is %+v, want %+v", x.unpaid, name, got, want)
			}
			if got := client.Features[name].Value; name != plans.Clients && got != want.Value {
				t.Errorf("%s unpaid: a client's %s is %+v, want %+v", x.unpaid, name, got, want.Value)
			}
		}
		if !client.Until.Equal(until) {
			t.Errorf("%s unpaid: a client's rights change at %v, want %v", x.unpaid, client.Until, until)
		}
	}
}

// randomFacts returns random valid facts.
func randomFacts(r *rand.Rand, c *plans.Catalogue) plans.Facts {
	lines := c.Lines()
	statuses := []plans.Status{
		plans.Trialing, plans.Active, plans.PastDue, plans.Incomplete, plans.Unpaid,
		plans.Canceled, plans.Paused,
	}
	f := plans.Facts{Plan: c.Plans[r.IntN(len(c.Plans))].Key, Status: statuses[r.IntN(len(statuses))]}
	some := func() *time.Time {
		if r.IntN(2) == 0 {
			return nil
		}
		return in(time.Duration(r.IntN(40)-20) * 24 * time.Hour)
	}
	f.TrialEnds, f.PastDueSince = some(), some()
	value := func() plans.Value {
		v := plans.Value{Type: lines[r.IntN(len(lines))].Type}
		switch v.Type {
		case plans.Boolean:
			v.On = r.IntN(2) == 0
		case plans.Limit:
			v.Max = []int64{0, 5, 5000, plans.Unlimited}[r.IntN(4)]
		default:
			v.Word = "word"
		}
		return v
	}
	for range r.IntN(4) {
		f.AddOns = append(f.AddOns, randomAddOn(r, c))
	}
	for range r.IntN(4) {
		f.Overrides = append(f.Overrides,
			plans.Override{
				Feature: lines[r.IntN(len(lines))].Key, Value: value(), Source: plans.FromOverride,
				Expires: some(),
			})
	}
	if r.IntN(3) == 0 {
		agency := randomFacts(r, c)
		agency.Agency = nil
		rights := c.Effective(agency, noon)
		f.Agency, f.Plan = &rights, plans.Client
	}
	return f
}

func randomAddOn(r *rand.Rand, c *plans.Catalogue) plans.AddOn {
	lines := c.Lines()
	return plans.AddOn{Feature: lines[r.IntN(len(lines))].Key, Amount: []int64{0, 10, 1000, plans.Unlimited}[r.IntN(4)]}
}

// least reports whether b is at least a.
func least(a, b plans.Value) bool {
	switch a.Type {
	case plans.Boolean:
		return !a.On || b.On
	case plans.Limit:
		return b.Max >= a.Max
	default:
		return a == b
	}
}

func TestRightsAreTotalMonotoneAndCapped(t *testing.T) {
	t.Parallel()
	c := plans.Standard()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 20000 {
		f := randomFacts(r, c)
		got := c.Effective(f, noon)
		if again := c.Effective(f, noon); !reflect.DeepEqual(got, again) {
			t.Fatalf("seed %d: two answers to one question: %+v and %+v", seed, got, again)
		}
		if len(got.Features) != len(c.Lines()) {
			t.Fatalf("seed %d: %d features of %d: %+v", seed, len(got.Features), len(c.Lines()), f)
		}
		for _, line := range c.Lines() {
			if v := got.Features[line.Key].Value; v.Type != line.Type {
				t.Fatalf("seed %d: %s is %+v in %+v", seed, line.Key, v, f)
			}
			if f.Agency != nil && !least(got.Features[line.Key].Value, f.Agency.Features[line.Key].Value) {
				t.Fatalf("seed %d: a client has more %s than its agency: %+v", seed, line.Key, f)
			}
		}
		more := f
		more.AddOns = append(append([]plans.AddOn{}, f.AddOns...), randomAddOn(r, c))
		for name, right := range c.Effective(more, noon).Features {
			if !least(got.Features[name].Value, right.Value) {
				t.Fatalf("seed %d, run %d: an add-on took %s away: %+v", seed, i, name, more)
			}
		}
		if until := got.Until; !until.IsZero() { // no change before Until, which is in the future
			if !until.After(noon) {
				t.Fatalf("seed %d: until %v, which has passed", seed, until)
			}
			if f.Agency == nil {
				early := c.Effective(f, until.Add(-time.Nanosecond))
				if !reflect.DeepEqual(early.Features, got.Features) || early.Status != got.Status {
					t.Fatalf("seed %d: rights change before Until: %+v", seed, f)
				}
			}
		} else if f.Agency == nil {
			late := c.Effective(f, noon.Add(1000*time.Hour))
			if !reflect.DeepEqual(late.Features, got.Features) || late.Status != got.Status {
				t.Fatalf("seed %d: rights without Until change: %+v", seed, f)
			}
		}
	}
}

func TestTheUpgradeIsTheNextPlanThatHasMore(t *testing.T) {
	t.Parallel()
	c := plans.Standard()
	for _, x := range []struct {
		from    string
		open    bool
		feature string
		limit   int64
		want    string
	}{
		{"solo_starter", true, "contacts", 1000, "solo_pro"},
		{"trial", true, "members", 25, "agency_growth"},
		{"trial", true, "client_orgs", 0, "agency_growth"},
		{"solo_pro", true, "contacts", 2000000, "white_label_enterprise"},
		{"solo_pro", true, "white_label", 0, "white_label_pro"},
		{"agency_scale", true, "contacts", 10, "white_label_pro"}, // lowered by an override: no smaller plan
		{"solo_pro", false, "contacts", 100, "solo_starter"},      // canceled: every plan is an upgrade
		{"white_label_enterprise", true, "api_requests_per_minute", 6000, ""},
		{plans.Client, true, "contacts", 5, ""},
	} {
		if got := c.Upgrade(x.from, x.open, x.feature, x.limit); got != x.want {
			t.Errorf("from %s for more than %d %s: %q, want %q", x.from, x.limit, x.feature, got, x.want)
		}
	}
}
