package provider

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// GoogleAdsVersion is the tested version of the Google Ads API; each version is served for about a year.
const GoogleAdsVersion = "v25"

const googleAdsAPI = "https://googleads.googleapis.com/" + GoogleAdsVersion

// googleAds returns the spec for the customers that a person has direct access to; customers below a manager account
// are not listed.
func googleAds() Spec {
	s := googleApp()
	s.Platform, s.Name, s.Kind, s.Several = "google_ads", "Google Ads", Ads, true
	s.Version = GoogleAdsVersion
	s.Scopes = []string{
		"openid", "https://www.googleapis.com/auth/userinfo.profile",
		"https://www.googleapis.com/auth/adwords",
	}
	s.Needed = []string{"https://www.googleapis.com/auth/adwords"}
	s.Dialect.Login = googleAdsLogin
	return s
}

// googleAdsNames is how many customers are looked up by name; the rest are shown by number.
const googleAdsNames = 20

func googleAdsLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who, err := openidLogin(ctx, p, t, googleUserinfo)
	if err != nil {
		return Login{}, nil, err
	}
	header := http.Header{"Developer-Token": {p.app.DeveloperToken.Reveal()}}
	var list struct {
		Names []string `json:"resourceNames"` // customers/1234567890
	}
	err = p.Get(ctx, t, googleAdsAPI+"/customers:listAccessibleCustomers", nil, header, &list)
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == "NOT_ADS_USER" {
		return p.several(who, nil) // the person has no Google Ads account
	}
	if err != nil {
		return Login{}, nil, err
	}
	var accounts []Account
	for i, name := range list.Names {
		id := strings.TrimPrefix(name, "customers/")
		a := Account{ExternalID: id, DisplayName: dashed(id)}
		if i < googleAdsNames {
			a.DisplayName = named(p.customerName(ctx, t, header, id), a.DisplayName)
		}
		accounts = append(accounts, a)
	}
	return p.several(who, accounts)
}

// customerName returns the name of a customer; "" if it has none or the request fails, as for a cancelled customer.
func (p *Provider) customerName(ctx context.Context, t Token, header http.Header, id string) string {
	var found struct {
		Results []struct {
			Customer struct {
				Name string `json:"descriptiveName"`
			} `json:"customer"`
		} `json:"results"`
	}
	err := p.read(ctx, ask{
		op: Asking, method: http.MethodPost, address: googleAdsAPI + "/customers/" + id + "/googleAds:search",
		header: header.Clone(), bearer: t.Access,
		json: map[string]string{"query": "SELECT customer.descriptive_name FROM customer LIMIT 1"},
	}, &found)
	if err != nil || len(found.Results) == 0 {
		return ""
	}
	return found.Results[0].Customer.Name
}

// dashed formats a customer's number as Google does: 123-456-7890.
func dashed(id string) string {
	if len(id) != 10 {
		return id
	}
	return id[:3] + "-" + id[3:6] + "-" + id[6:]
}
