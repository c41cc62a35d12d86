package plans_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

func TestTheShippedCatalogueHoldsThePublishedPlans(t *testing.T) {
	t.Parallel()
	c := plans.Standard()
	var keys []string
	for i := range c.Plans {
		p := &c.Plans[i]
		keys = append(keys, p.Key+" "+p.Archetype)
		if len(p.Values) != len(c.Lines()) {
			t.Errorf("%s has %d values for %d features", p.Key, len(p.Values), len(c.Lines()))
		}
		for _, f := range c.Lines() {
			if v, ok := p.Values[f.Key]; !ok || v.Type != f.Type {
				t.Errorf("%s: %s is %+v, want a %s", p.Key, f.Key, v, f.Type)
			}
		}
		if p.CustomPricing && (p.Month != 0 || p.Year != 0) {
			t.Errorf("%s has custom pricing, but %d a month and %d a year", p.Key, p.Month, p.Year)
		}
		if want := !p.CustomPricing && p.Key != "trial"; p.Selectable() != want {
			t.Errorf("%s is selectable: %v, want %v", p.Key, p.Selectable(), want)
		}
	}
	want := "trial solo_smb, solo_starter solo_smb, solo_pro solo_smb, agency_growth agency, agency_scale agency, " +
		"white_label_pro white_label, white_label_enterprise white_label"
	if got := strings.Join(keys, ", "); got != want {
		t.Errorf("plans %s, want %s", got, want)
	}
	trial, pro := c.Trial(), &c.Plans[2]
	if trial.TrialDays != 14 {
		t.Errorf("the trial lasts %d days", trial.TrialDays)
	}
	for name, v := range trial.Values {
		if (name == plans.Contacts || name == plans.EmailsMonth) && v.Max == plans.Unlimited {
			continue
		}
		if v != pro.Values[name] {
			t.Errorf("the trial's %s is %v, solo_pro's %v", name, v, pro.Values[name])
		}
	}
}

func TestAYearIsTwelveMonthsLessTheDiscountRoundedHalfUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ month, percent, year string }{
		{"2900", "17", "28884"},
		{"7900", "17", "78684"},
		{"0", "50", "0"},
		{"1", "0", "12"},
		{"1", "100", "0"},
		{"1", "4", "12"},    // 11.52
		{"1", "5", "11"},    // 11.40
		{"3", "37", "23"},   // 22.68
		{"35", "33", "281"}, // 281.40
		{"5", "17", "50"},   // 49.80
		{"1", "96", "0"},    // 0.48
		{"1", "62", "5"},    // 4.56
	} {
		text := strings.NewReplacer("price_month: 2900\n    annual_discount_pct: 17",
			"price_month: "+c.month+"\n    annual_discount_pct: "+c.percent).Replace(shipped(t))
		got, err := plans.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := got.Plan("solo_starter")
		if p.Year != p.Price("year") || p.Month != p.Price("month") {
			t.Errorf("prices by interval are others: %+v", p)
		}
		if want := c.year; want != itoa(p.Year) {
			t.Errorf("12 x %s less %s %% = %d, want %s", c.month, c.percent, p.Year, want)
		}
	}
}

func TestAWrongCatalogueIsRefusedWithWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, fresh, says string }{
		{"currency: USD", "currency: dollars", "three upper-case letters"},
		{"    price_month: 2900", "    price_month: 29.50", "29.50"},
		{"    price_month: 2900", "    price_month: -1", "price_month"},
		{"    price_month: 2900", "    prize_month: 2900", "prize_month"},
		{"      contacts: 1000\n", "", "no value of contacts"},
		{"      contacts: 1000\n", "      contacts: many\n", "plan solo_starter: contacts"},
		{"      contacts: 1000\n", "      contacts: -5\n", "plan solo_starter: contacts"},
		{"      contacts: 1000\n", "      contacts: 1000\n      kontakts: 1\n", "kontakts is no feature"},
		{"      contacts: 1000\n", "      contacts: 1000\n      client_orgs: 1\n", "client_orgs is no feature"},
		{
			"      sequences: false\n      broadcasts: true\n", "      sequences: 3\n      broadcasts: true\n",
			"sequences",
		},
		{
			"{key: members, type: limit, unit: people}", "{key: members, type: boolean}",
			"members is missing, or no limit",
		},
		{"{key: support, type: text}", "{key: support, type: text}\n  - {key: support, type: text}", "key of its own"},
		{"{key: support, type: text}", "{key: support, type: colour}", "is none"},
		{"billing_archetype: agency\n", "billing_archetype: dealer\n", "dealer"},
		{"key: solo_pro", "key: solo_starter", "there twice"},
		{"key: solo_pro", "key: client", "not client"},
		{"trial_days: 14", "trial_days: 0", "one plan has trial_days"},
		{"custom_pricing: true", "custom_pricing: true\n    price_month: 5", "no amounts"},
		{"    client_overage_month: 900\n", "", "client_overage_month belongs to allow_overage"},
		{"api_requests_per_minute: 6000", "api_requests_per_minute: unlimited", "api_requests_per_minute"},
		{"    max_client_orgs: 10\n", "", "max_client_orgs is missing"},
	} {
		text := strings.Replace(shipped(t), c.old, c.fresh, 1)
		if text == shipped(t) {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := plans.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q for %q: %v, want %q", c.fresh, c.old, err, c.says)
		}
	}
}

func TestTheVersionMovesWithWhatTheFileSaysAndNotWithHowItIsWritten(t *testing.T) {
	t.Parallel()
	load := func(text string) *plans.Catalogue {
		t.Helper()
		file := filepath.Join(t.TempDir(), "plans.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := plans.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	was := plans.Standard().Version
	if c := load(shipped(t) + "\n# a remark\n"); c.Version != was {
		t.Errorf("a remark moved the version from %s to %s", was, c.Version)
	}
	for _, change := range [][2]string{
		{"contacts: 1000\n", "contacts: 1001\n"},
		{"price_month: 2900", "price_month: 2901"},
		{"currency: USD", "currency: EUR"},
		{"name: Solo Pro", "name: Solo Professional"},
		{"max_client_orgs: 10\n", "max_client_orgs: 11\n"},
		{"  contacts: 100\n", "  contacts: 101\n"},
		{"past_due_grace_days: 14", "past_due_grace_days: 13"},
	} {
		if c := load(strings.Replace(shipped(t), change[0], change[1], 1)); c.Version == was {
			t.Errorf("%q did not move the version", change[1])
		}
	}
	if _, err := plans.Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is not there was read")
	}
}
