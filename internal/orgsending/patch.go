package orgsending

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Bounds of the settings.
const (
	maxAddress   = 500 // characters
	maxDailyCap  = 1_000_000
	maxDomainCap = 10_000
)

// Patch changes settings: absent members stay as they are.
type Patch struct {
	PostalAddress    wire.Field[string]
	TrackingDomain   wire.Field[string] // the caller has normalised it
	DefaultPurpose   wire.Field[string]
	DailyCap         wire.Field[int]
	DomainDailyCap   wire.Field[int]
	BlockedCountries wire.Field[[]string]
	StopOn           wire.Field[StopPatch]
	Tracking         wire.Field[TrackingPatch]
}

// StopPatch changes StopRules.
type StopPatch struct{ Reply, CompanyReply, DealWon wire.Field[bool] }

// TrackingPatch changes TrackingDefaults.
type TrackingPatch struct{ Opens, Clicks, Off wire.Field[bool] }

// apply applies p to now. null restores the default.
func (p *Patch) apply(now *Settings) error {
	f := form.At("")
	f.OptionalText("postal_address", p.PostalAddress, &now.PostalAddress, maxAddress)
	if t := p.TrackingDomain; t.Null {
		now.TrackingDomain = nil
	} else if t.Set {
		now.TrackingDomain = &t.Value
	}
	f.OneOf("default_purpose", p.DefaultPurpose, &now.DefaultPurpose, Purposes()...)
	number(f, "daily_cap", p.DailyCap, &now.DailyCap, maxDailyCap)
	number(f, "domain_daily_cap", p.DomainDailyCap, &now.DomainDailyCap, maxDomainCap)
	if p.BlockedCountries.Set {
		now.BlockedCountries = codes(f, p.BlockedCountries.Value)
	}
	if s := p.StopOn; s.Null {
		now.StopOn = Defaults().StopOn
	} else {
		flag(f, "stop_on/reply", s.Value.Reply, &now.StopOn.Reply)
		flag(f, "stop_on/company_reply", s.Value.CompanyReply, &now.StopOn.CompanyReply)
		flag(f, "stop_on/deal_won", s.Value.DealWon, &now.StopOn.DealWon)
	}
	if t := p.Tracking; t.Null {
		now.Tracking = TrackingDefaults{}
	} else {
		flag(f, "tracking/opens", t.Value.Opens, &now.Tracking.Opens)
		flag(f, "tracking/clicks", t.Value.Clicks, &now.Tracking.Clicks)
		flag(f, "tracking/off", t.Value.Off, &now.Tracking.Off)
	}
	return f.Fault()
}

// number applies a number from 1 to most that null clears.
func number(f *form.Form, field string, in wire.Field[int], at **int, most int) {
	switch {
	case !in.Set:
	case in.Null:
		*at = nil
	case in.Value < 1 || in.Value > most:
		f.Wrong(field, "out_of_range", fmt.Sprintf("The number lies between 1 and %d.", most))
	default:
		*at = &in.Value
	}
}

// flag applies a boolean that cannot be null.
func flag(f *form.Form, field string, in wire.Field[bool], at *bool) {
	if in.Null {
		f.Wrong(field, "not_nullable", "This field cannot be null.")
		return
	}
	in.Apply(at)
}

// codes returns the codes of countries in upper case and in order, each once.
func codes(f *form.Form, given []string) []string {
	all := make([]string, 0, len(given))
	for i, s := range given {
		code, ok := contacts.CountryCode(s)
		if !ok {
			f.Wrong("blocked_countries/"+strconv.Itoa(i), "invalid_country",
				"This is not a code of ISO 3166-1 alpha-2, such as DE.")
			continue
		}
		all = append(all, code)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
