package api_test

import (
	"encoding/json"
	"testing"

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
	if table.Currency != "USD" || len(table.Plans) != 7 || table.Version == "" {
		t.Fatalf("the table: %s", got.Body)
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
	if r := ada.rights(); r.Plan != "trial" || r.Status != "trialing" || r.Features["contacts"].Value != nil ||
		r.Features["contacts"].Used != nil {
		t.Errorf("a new org: %+v", r)
	}
	ada.contact("ann@acme.example")
	before := ada.rights().Version
	ada.subscribe("solo_starter")
	ada.contact("bob@acme.example")
	for name, c := range map[string]*caller{"viewer": ada.as(auth.Viewer), "key": ada.key(auth.Viewer)} {
		r := c.rights()
		if r.Plan != "solo_starter" || r.Status != "active" || r.Version <= before {
			t.Errorf("%s: %+v", name, r)
		}
		if f := r.Features["contacts"]; f.Type != "limit" || f.Value != 1000.0 || f.Used == nil || *f.Used != 2 ||
			f.Source != "plan" || f.OverLimit {
			t.Errorf("%s: contacts %+v", name, f)
		}
		if f := r.Features["white_label"]; f.Type != "boolean" || f.Value != false || f.Used != nil {
			t.Errorf("%s: white_label %+v", name, f)
		}
	}
	ada.state(plans.State{Plan: "solo_starter", Interval: "month", Status: plans.Unpaid, Quantity: 1})
	r := ada.rights()
	if f := r.Features["members"]; r.Status != "unpaid" || f.Source != "free" || f.Value != 1.0 || *f.Used != 2 ||
		!f.OverLimit {
		t.Errorf("unpaid: %+v", r)
	}
}
