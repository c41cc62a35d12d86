package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// subscribe gives the caller's org a plan like billing does.
func (c *caller) subscribe(plan string) *caller {
	c.Helper()
	c.state(plans.State{Plan: plan, Interval: "month", Status: plans.Active, Quantity: 1})
	return c
}

func (c *caller) state(s plans.State) {
	c.Helper()
	err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) error {
		_, err := entitlementsync.Standard().Set(c.Context(), tx, s)
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
}

// settle does the work of the job that runs after a change by the clock or an operator.
func (c *caller) settle() {
	c.Helper()
	err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) error {
		return entitlementsync.Standard().Settle(c.Context(), tx)
	})
	if err != nil {
		c.Fatal(err)
	}
}

// rights is the response of my-entitlements.
type rights struct {
	Plan, Status string
	Version      int64 `json:"entitlement_version"`
	Features     map[string]struct {
		Type      string
		Value     any
		Used      *int64
		OverLimit bool `json:"over_limit"`
		Source    string
	}
}

func (c *caller) rights() (r rights) {
	c.Helper()
	c.do("GET", "/billing/my-entitlements", nil).want(c, 200, "").into(c, &r)
	return r
}

func TestTheTableOfPlansIsDenseAndTagged(t *testing.T) {
	t.Parallel()
	ada := start(t).signup().as(auth.Viewer)
	got := ada.do("GET", "/billing/plans-with-features", nil).want(t, 200, "")
	var table struct {
		Version  string `json:"catalog_version"`
		Currency string
		Features []struct {
			Key, Type string
			Unit      *string
		}
		Plans []struct {
			Key      string
			Discount int64 `json:"annual_discount_pct"`
			Custom   bool  `json:"custom_pricing"`
			Prices   map[string]*int64
			Clients  json.RawMessage `json:"max_client_orgs"`
			Values   map[string]any
		}
	}
	got.into(t, &table)
	if table.Currency != "USD" || len(table.Plans) != 7 {
		t.Fatalf("currency %q, %d plans; want USD, 7: %s", table.Currency, len(table.Plans), got.Body)
	}
	if table.Version == "" {
		t.Fatalf("the table has no version: %s", got.Body)
	}
	for _, p := range table.Plans {
		if len(p.Values) != len(table.Features) {
			t.Errorf("%s has %d values for %d features", p.Key, len(p.Values), len(table.Features))
		}
		for _, f := range table.Features {
			v, ok := p.Values[f.Key]
			switch v.(type) {
			case bool:
				ok = ok && f.Type == "boolean"
			case float64, nil:
				ok = ok && f.Type == "limit"
			case string:
				ok = ok && f.Type == "text"
			}
			if !ok {
				t.Errorf("%s: %s is %v, a %s is due", p.Key, f.Key, v, f.Type)
			}
		}
		month, year := p.Prices["month"], p.Prices["year"]
		if (month == nil) != p.Custom || (year == nil) != p.Custom {
			t.Errorf("%s: prices %v", p.Key, p.Prices)
		} else if !p.Custom && *year != (12**month*(100-p.Discount)+50)/100 {
			t.Errorf("%s: a year costs %d", p.Key, *year)
		}
	}
	ada.do("GET", "/billing/plans-with-features", nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
	ada.do("GET", "/billing/plans-with-features", nil, "If-None-Match", `"another"`).want(t, 200, "")
}

func TestMyEntitlementsShowWhatMayBeUsedAndWhatIs(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	fresh := ada.rights()
	if fresh.Plan != "trial" || fresh.Status != "trialing" {
		t.Errorf("a new org: plan %s, status %s; want trial, trialing", fresh.Plan, fresh.Status)
	}
	if f := fresh.Features["contacts"]; f.Value != nil || f.Used != nil {
		t.Errorf("a new org: contacts have the limit %v, used %v; want neither", f.Value, f.Used)
	}
	ada.contact("ann@acme.example")
	before := ada.rights().Version
	ada.subscribe("solo_starter")
	ada.contact("bob@acme.example")
	for name, c := range map[string]*caller{"viewer": ada.as(auth.Viewer), "key": ada.key(auth.Viewer)} {
		r := c.rights()
		if r.Plan != "solo_starter" || r.Status != "active" {
			t.Errorf("%s: plan %s, status %s; want solo_starter, active", name, r.Plan, r.Status)
		}
		if r.Version <= before {
			t.Errorf("%s: version %d, want one above %d", name, r.Version, before)
		}
		contacts := r.Features["contacts"]
		want := contacts
		want.Type, want.Value, want.Used, want.Source, want.OverLimit = "limit", 1000.0, new(int64(2)), "plan", false
		if diff := cmp.Diff(want, contacts); diff != "" {
			t.Errorf("%s: contacts (-want +got):\n%s", name, diff)
		}
		brand := r.Features["white_label"]
		want = brand
		want.Type, want.Value, want.Used = "boolean", false, nil
		if diff := cmp.Diff(want, brand); diff != "" {
			t.Errorf("%s: white_label (-want +got):\n%s", name, diff)
		}
	}
	ada.state(plans.State{Plan: "solo_starter", Interval: "month", Status: plans.Unpaid, Quantity: 1})
	r := ada.rights()
	if r.Status != "unpaid" {
		t.Errorf("status %s, want unpaid", r.Status)
	}
	seats := r.Features["members"]
	want := seats
	want.Source, want.Value, want.Used, want.OverLimit = "free", 1.0, new(int64(2)), true
	if diff := cmp.Diff(want, seats); diff != "" {
		t.Errorf("unpaid: members (-want +got):\n%s", diff)
	}
}
