package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

const billingTag = "Billing"

// planFeature is one row of the plans table.
type planFeature struct {
	Key  string     `json:"key" doc:"Key of the feature, as in the values of a plan and in my-entitlements"`
	Type plans.Type `json:"type" enum:"boolean,limit,text"`
	Unit *string    `json:"unit" doc:"Unit of a limit; null if nothing is counted"`
}

// Descriptions implements wire.Describer.
func (planFeature) Descriptions() map[string]string {
	return map[string]string{
		"type": "Type of the feature's values: boolean, limit (a number, or null for no limit) or text",
	}
}

// planCatalogEntry is one plan. Amounts are in minor units of the catalogue's currency.
type planCatalogEntry struct {
	Key           string                  `json:"key" doc:"Key of the plan, as change-plan takes it"`
	Name          string                  `json:"name" doc:"Display name of the plan"`
	Archetype     string                  `json:"billing_archetype" enum:"solo_smb,agency,white_label"`
	Discount      int64                   `json:"annual_discount_pct" doc:"Discount of a year over 12 months, percent"`
	MaxClientOrgs *int64                  `json:"max_client_orgs"`
	AllowOverage  bool                    `json:"allow_overage" doc:"More client orgs are allowed, at a price"`
	CustomPricing bool                    `json:"custom_pricing" doc:"The price is negotiated: contact sales"`
	Selectable    bool                    `json:"selectable" doc:"Whether an org may change to it"`
	Prices        planPrices              `json:"prices" doc:"In minor units of the currency"`
	Overage       planPrices              `json:"overage_prices" doc:"Per org above max_client_orgs; null: not allowed"`
	Values        map[string]featureValue `json:"values" doc:"Every feature: boolean, number, null: no limit, or text"`
}

// Descriptions implements wire.Describer.
func (planCatalogEntry) Descriptions() map[string]string {
	return map[string]string{
		"billing_archetype": "Kind of customer that the plan is made for",
		"max_client_orgs":   "Client organizations that the plan includes; null: no limit",
	}
}

// featureValue is a feature's value of any of the three types, with the same form in requests and responses.
type featureValue struct{ plans.Value }

// UnmarshalJSON decodes a value from a stored response.
func (f *featureValue) UnmarshalJSON(b []byte) (err error) {
	t := plans.Limit
	switch b[0] {
	case 't', 'f':
		t = plans.Boolean
	case '"':
		t = plans.Text
	}
	f.Value, err = plans.ParseValue(t, b)
	return err
}

// Schema returns a schema that allows a boolean, a number, null or a string.
func (featureValue) Schema(huma.Registry) *huma.Schema {
	none := 0.0
	return &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeBoolean},
		{Type: huma.TypeInteger, Format: "int64", Minimum: &none, Nullable: true},
		{Type: huma.TypeString},
	}}
}

type planPrices struct {
	Month *int64 `json:"month" doc:"Price of a month; null: no amount"`
	Year  *int64 `json:"year" doc:"Price of a year; null: no amount"`
}

type planCatalog struct {
	Version  string             `json:"catalog_version" doc:"Changes with every change of the table"`
	Currency string             `json:"currency" doc:"Currency of all prices, ISO 4217"`
	Features []planFeature      `json:"features" nullable:"false" doc:"The rows of the table, in display order"`
	Plans    []planCatalogEntry `json:"plans" nullable:"false" doc:"In ascending order"`

	encoded []byte
}

type plansOut struct {
	ETag string `header:"ETag" doc:"The catalog_version"`
	Body *planCatalog
}

func (a *App) mountPlans() {
	table := &plansOut{ETag: `"` + a.Plans.Version + `"`, Body: tableOf(a.Plans.Catalogue)}
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "billing.list_plans",
			Method: http.MethodGet, Path: "/billing/plans-with-features", Need: httpx.Viewer, Tag: billingTag,
			Title: "List the plans and their features",
		},
		func(context.Context, *struct{}) (*plansOut, error) { return table, nil })
}

// tableOf returns the public form of the catalogue. It is built once, since the catalogue changes only with a restart.
func tableOf(c *plans.Catalogue) *planCatalog {
	t := &planCatalog{Version: c.Version, Currency: c.Currency}
	for _, f := range c.Lines() {
		line := planFeature{Key: f.Key, Type: f.Type}
		if f.Unit != "" {
			line.Unit = &f.Unit
		}
		t.Features = append(t.Features, line)
	}

	for i := range c.Plans {
		p := &c.Plans[i]
		column := planCatalogEntry{
			Key: p.Key, Name: p.Name, Archetype: p.Archetype, Discount: p.AnnualDiscount, AllowOverage: p.AllowOverage,
			CustomPricing: p.CustomPricing, Selectable: p.Selectable(), Values: map[string]featureValue{},
		}
		if p.MaxClientOrgs != plans.Unlimited {
			column.MaxClientOrgs = &p.MaxClientOrgs
		}
		if !p.CustomPricing {
			column.Prices = planPrices{&p.Month, &p.Year}
		}
		if p.AllowOverage && !p.CustomPricing {
			column.Overage = planPrices{&p.OverageMonth, &p.OverageYear}
		}

		for key, v := range p.Values {
			column.Values[key] = featureValue{v}
		}

		t.Plans = append(t.Plans, column)
	}

	b, err := json.Marshal(t)
	if err != nil {
		panic("the table of plans: " + err.Error()) // values are checked when the catalogue is loaded
	}

	t.encoded = b

	return t
}
