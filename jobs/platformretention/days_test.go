package platformretention_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

// days parses a setting.
func days(t *testing.T, text string) (d platformretention.Days) {
	t.Helper()
	if err := d.UnmarshalText([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func TestDaysAreOneNumberAndNumbersOfSinglePlans(t *testing.T) {
	t.Parallel()
	d := days(t, "365,free=90,solo_pro=400")
	if d.Usual != 365 || len(d.Plans) != 2 || d.Plans["free"] != 90 || d.Plans["solo_pro"] != 400 {
		t.Errorf("got %+v", d)
	}
	if d = days(t, "60"); d.Usual != 60 || d.Plans != nil {
		t.Errorf("got %+v", d)
	}
	if d = days(t, ""); d.Usual != 0 || d.Plans != nil {
		t.Errorf("got %+v", d)
	}
	for _, text := range []string{
		"free=90", "x", "60,", "60,free", "60,free=", "60,=40", "60,free=x", "60,free=40,free=50", "60 , free=40",
	} {
		if err := d.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "DAYS[,PLAN=DAYS...]") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestARetentionThatBreaksAPromiseOrNamesNoPlanIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	type keep = platformretention.Keep
	for _, c := range []struct {
		keep keep
		want string // "": it is accepted
	}{
		{keep{}, ""},
		{keep{Events: days(t, "90,free=31"), Deliveries: days(t, "31")}, ""},
		{keep{Attempts: days(t, "31,trial=7,free=7"), Mail: days(t, "365,free=30,agency_scale=3660")}, ""},
		{keep{Events: days(t, "30")}, "FUNNELWORK_RETAIN_EVENTS: want 31 to 3660 days"},
		{keep{Events: days(t, "60,free=30")}, "FUNNELWORK_RETAIN_EVENTS: free: want 31 to 3660 days"},
		{keep{Attempts: days(t, "31,trial=6")}, "FUNNELWORK_RETAIN_ATTEMPTS: trial: want 7 to 3660 days"},
		{keep{Mail: days(t, "365,trial=4000")}, "FUNNELWORK_RETAIN_MAIL: trial: want 30 to 3660 days"},
		{keep{Mail: days(t, "0,trial=40")}, "FUNNELWORK_RETAIN_MAIL: want DAYS"},
		{
			keep{Mail: days(t, "365,gold=90")},
			`FUNNELWORK_RETAIN_MAIL: no plan "gold"; the plans are trial, solo_starter, `,
		},
		{keep{Mail: days(t, "365,client=90")}, "FUNNELWORK_RETAIN_MAIL: client: a client org has the days of its"},
		{keep{Events: days(t, "60"), Deliveries: days(t, "61")}, ""}, // the events are raised
		{keep{Events: days(t, "60,free=31"), Deliveries: days(t, "60,free=31")}, ""},
	} {
		err := c.keep.Check(plans.Standard())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.keep, err, c.want)
		}
	}
}
