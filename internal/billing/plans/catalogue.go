package plans

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"
)

// The archetypes, as in the API.
const (
	SoloSMB    = "solo_smb"
	Agency     = "agency"
	WhiteLabel = "white_label"
)

// Client is the plan of a client org: its rights are the rights of its agency, within the agency's allocations. It is
// in no catalogue and cannot be chosen.
const Client = "client"

// Features that the program checks by name. Every catalogue contains them.
const (
	Contacts       = "contacts"
	Members        = "members"
	Webhooks       = "webhooks"
	Social         = "social_accounts"
	Ads            = "ad_accounts"
	AITokens       = "ai_tokens_month"
	RequestRate    = "api_requests_per_minute"
	Mailboxes      = "mailboxes"
	EmailsMonth    = "emails_month"
	Sequences      = "sequences"
	Broadcasts     = "broadcasts"
	TrackingDomain = "tracking_domain"
	WhiteLabeling  = "white_label"
	HideBrand      = "hide_brand"
	CustomDomain   = "custom_domain"

	// Clients is not a feature of the catalogue's table but the plan's max_client_orgs; as a feature, it follows the
	// rules of all limits.
	Clients = "client_orgs"
)

var asked = map[string]Type{
	Contacts: Limit, Members: Limit, Webhooks: Limit, Social: Limit, Ads: Limit, AITokens: Limit, RequestRate: Limit,
	Mailboxes: Limit, EmailsMonth: Limit, Sequences: Boolean, Broadcasts: Boolean, TrackingDomain: Boolean,
	WhiteLabeling: Boolean, HideBrand: Boolean, CustomDomain: Boolean,
}

// Catalogue holds the plans for sale. It is immutable after it is loaded.
type Catalogue struct {
	Version  string // changes with every change of the file's meaning
	Currency string // ISO 4217
	Features []Feature
	Plans    []Plan // in ascending order

	grace  time.Duration
	free   map[string]Value
	types  map[string]Type
	byKey  map[string]*Plan
	trials *Plan

	enqueue Enqueue
}

// Feature is a row of the catalogue's table.
type Feature struct {
	Key  string `yaml:"key"`
	Type Type   `yaml:"type"`
	Unit string `yaml:"unit"` // "": not counted
}

// Plan is a column of the catalogue's table. Amounts are in minor units of the catalogue's currency.
type Plan struct {
	Key, Name, Archetype string
	AnnualDiscount       int64 // percent
	MaxClientOrgs        int64 // Unlimited: no limit
	AllowOverage         bool
	CustomPricing        bool  // no amounts, not selectable
	Month, Year          int64 // 0 if CustomPricing
	OverageMonth         int64 // for each client org above MaxClientOrgs
	OverageYear          int64
	ConnectFee           int64            // share of the payments of a reseller's clients, in hundredths of a percent
	TrialDays            int              // above 0: the plan that every org starts with
	Values               map[string]Value // one per feature, including client_orgs
}

// Selectable reports whether an org may change to the plan in self-service.
func (p *Plan) Selectable() bool { return !p.CustomPricing && p.TrialDays == 0 }

// Price returns the plan's price for an interval ("month" or "year").
func (p *Plan) Price(interval string) int64 {
	if interval == "year" {
		return p.Year
	}
	return p.Month
}

// Plan returns the plan with the given key.
func (c *Catalogue) Plan(key string) (*Plan, bool) {
	p, ok := c.byKey[key]
	return p, ok
}

// Trial returns the plan that every org starts with.
func (c *Catalogue) Trial() *Plan { return c.trials }

// TypeOf returns a feature's type, or "" for an unknown feature.
func (c *Catalogue) TypeOf(feature string) Type { return c.types[feature] }

// Lines returns the features, including client orgs, which a plan limits in the same way.
func (c *Catalogue) Lines() []Feature {
	return append(slices.Clone(c.Features), Feature{Key: Clients, Type: Limit, Unit: "orgs"})
}

// yearlyPrice returns the price of 12 months less the discount, rounded half up.
func yearlyPrice(month, percent int64) int64 { return (12*month*(100-percent) + 50) / 100 }

//go:embed catalogue.yaml
var shipped []byte

var standard = sync.OnceValue(func() *Catalogue {
	c, err := Parse(shipped)
	if err != nil {
		panic("catalogue.yaml: " + err.Error()) // cannot happen: a test parses the embedded file
	}
	return c
})

// Standard returns the embedded catalogue.
func Standard() *Catalogue { return standard() }

// Load reads the catalogue from a file; "" means the standard one.
func Load(file string) (*Catalogue, error) {
	if file == "" {
		return Standard(), nil
	}

	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the plans: %w", err)
	}

	c, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("read the plans in %s: %w", file, err)
	}

	return c, nil
}

// sheet is the file's format.
type sheet struct {
	Currency string               `yaml:"currency"`
	Grace    int                  `yaml:"past_due_grace_days"`
	Features []Feature            `yaml:"features"`
	Free     map[string]yaml.Node `yaml:"free"`
	Plans    []column             `yaml:"plans"`
}

type column struct {
	Key            string               `yaml:"key"`
	Name           string               `yaml:"name"`
	Archetype      string               `yaml:"billing_archetype"`
	AnnualDiscount int64                `yaml:"annual_discount_pct"`
	MaxClientOrgs  *number              `yaml:"max_client_orgs"`
	AllowOverage   bool                 `yaml:"allow_overage"`
	CustomPricing  bool                 `yaml:"custom_pricing"`
	Month          *int64               `yaml:"price_month"`
	OverageMonth   *int64               `yaml:"client_overage_month"`
	ConnectFee     string               `yaml:"connect_fee_pct"`
	TrialDays      int                  `yaml:"trial_days"`
	Values         map[string]yaml.Node `yaml:"values"`
}

var key = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Parse parses and validates a catalogue. The error lists all faults.
func Parse(b []byte) (*Catalogue, error) {
	var s sheet
	if err := yaml.Load(b, &s, yaml.WithKnownFields()); err != nil {
		return nil, err
	}

	c := &Catalogue{
		Currency: s.Currency, Features: s.Features, grace: time.Duration(s.Grace) * 24 * time.Hour,
		types: map[string]Type{Clients: Limit}, byKey: map[string]*Plan{}, Plans: make([]Plan, len(s.Plans)),
	}
	var wrong faults
	wrong.unless(regexp.MustCompile(`^[A-Z]{3}$`).MatchString(s.Currency), "currency: want three upper-case letters")
	wrong.unless(s.Grace >= 0 && s.Grace <= 60, "past_due_grace_days: want 0 to 60")

	for _, f := range s.Features {
		wrong.unless(key.MatchString(f.Key) && c.types[f.Key] == "",
			"feature %q: want a key of its own in lower case", f.Key)
		wrong.unless(f.Type == Boolean || f.Type == Limit || f.Type == Text, "feature %s: type %q is none", f.Key,
			f.Type)
		c.types[f.Key] = f.Type
	}

	for name, t := range asked {
		wrong.unless(c.types[name] == t, "feature %s is missing, or no %s", name, t)
	}

	c.free = c.parseRow("free", s.Free, &wrong)
	c.free[Clients] = Value{Type: Limit}
	for i := range s.Plans {
		p := &c.Plans[i]
		*p = s.Plans[i].toPlan(&wrong)
		p.Values = c.parseRow("plan "+p.Key, s.Plans[i].Values, &wrong)
		p.Values[Clients] = Value{Type: Limit, Max: p.MaxClientOrgs}
		wrong.unless(c.byKey[p.Key] == nil, "plan %s is there twice", p.Key)
		c.byKey[p.Key] = p
		if p.TrialDays > 0 {
			wrong.unless(c.trials == nil, "plan %s: there is a trial already", p.Key)
			c.trials = p
		}
	}

	wrong.unless(c.trials != nil && c.trials.Key == "trial", "one plan has trial_days, and its key is trial")
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}

	c.Version = c.contentHash()

	return c, nil
}

// faults collects the errors of a file.
type faults []error

func (f *faults) unless(ok bool, format string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// toPlan converts a column without its values.
func (n *column) toPlan(wrong *faults) Plan {
	p := Plan{
		Key: n.Key, Name: n.Name, Archetype: n.Archetype, AnnualDiscount: n.AnnualDiscount,
		AllowOverage:  n.AllowOverage,
		CustomPricing: n.CustomPricing, TrialDays: n.TrialDays,
	}
	wrong.unless(key.MatchString(n.Key) && n.Key != Client, "plan %q: want a key in lower case, and not %s", n.Key,
		Client)
	wrong.unless(strings.TrimSpace(n.Name) != "", "plan %s: has no name", n.Key)
	wrong.unless(slices.Contains([]string{SoloSMB, Agency, WhiteLabel}, n.Archetype),
		"plan %s: billing_archetype %q is none", n.Key, n.Archetype)
	wrong.unless(n.AnnualDiscount >= 0 && n.AnnualDiscount <= 100, "plan %s: annual_discount_pct: want 0 to 100", n.Key)
	fee, ok := parseHundredths(n.ConnectFee)
	wrong.unless(ok && fee <= 100_00, "plan %s: connect_fee_pct: want 0 to 100 with up to two decimals", n.Key)
	p.ConnectFee = fee
	wrong.unless(n.TrialDays >= 0, "plan %s: trial_days: not below 0", n.Key)
	wrong.unless(n.MaxClientOrgs != nil, "plan %s: max_client_orgs is missing", n.Key)
	if n.MaxClientOrgs != nil {
		p.MaxClientOrgs = int64(*n.MaxClientOrgs)
	}
	if n.CustomPricing {
		wrong.unless(n.Month == nil && n.OverageMonth == nil, "plan %s: has custom_pricing, and so no amounts", n.Key)
		return p
	}

	const most = 1 << 40 // so that sums cannot overflow
	wrong.unless(n.Month != nil && *n.Month >= 0 && *n.Month < most,
		"plan %s: price_month: want an amount in minor units", n.Key)
	if n.Month != nil {
		p.Month, p.Year = *n.Month, yearlyPrice(*n.Month, n.AnnualDiscount)
	}

	wrong.unless(n.AllowOverage == (n.OverageMonth != nil), "plan %s: client_overage_month belongs to allow_overage",
		n.Key)
	if n.OverageMonth != nil {
		wrong.unless(*n.OverageMonth >= 0 && *n.OverageMonth < most,
			"plan %s: client_overage_month: want an amount in minor units", n.Key)
		p.OverageMonth, p.OverageYear = *n.OverageMonth, yearlyPrice(*n.OverageMonth, n.AnnualDiscount)
	}

	return p
}

var decimal = regexp.MustCompile(`^(\d{1,3})(?:\.(\d{1,2}))?$`)

// parseHundredths parses a decimal of at most two places without a float: "2.5" is 250. "" is 0.
func parseHundredths(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}

	m := decimal.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}

	n, err := strconv.ParseInt(m[1]+(m[2] + "00")[:2], 10, 64)
	return n, err == nil
}

// Percent formats hundredths of a percent: 250 is "2.50".
func Percent(hundredths int64) string { return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100) }

// parseRow parses the values of all features.
func (c *Catalogue) parseRow(of string, cells map[string]yaml.Node, wrong *faults) map[string]Value {
	values := make(map[string]Value, len(c.types))
	for _, f := range c.Features {
		node, ok := cells[f.Key]
		wrong.unless(ok, "%s: has no value of %s", of, f.Key)
		if !ok {
			continue
		}

		v, err := parseCell(f.Type, &node)
		wrong.unless(err == nil, "%s: %s: %v", of, f.Key, err)
		values[f.Key] = v
	}

	for name := range cells {
		wrong.unless(c.types[name] != "" && name != Clients, "%s: %s is no feature", of, name)
	}

	rate := values[RequestRate]
	wrong.unless(rate.Max > 0 && rate.Max <= 1_000_000, "%s: %s: want 1 to 1000000", of, RequestRate)

	return values
}

// contentHash returns the catalogue's version. It depends on the contents, not on the file's formatting.
func (c *Catalogue) contentHash() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s|%d|%v|", c.Currency, c.grace, c.Features)
	for _, f := range append(slices.Clone(c.Features), Feature{Key: Clients}) {
		_, _ = fmt.Fprintf(h, "%v|", c.free[f.Key])
		for i := range c.Plans {
			_, _ = fmt.Fprintf(h, "%v|", c.Plans[i].Values[f.Key])
		}
	}

	for i := range c.Plans {
		p := c.Plans[i]
		p.Values = nil
		_, _ = fmt.Fprintf(h, "%v|", p)
	}

	return hex.EncodeToString(h.Sum(nil)[:8])
}
