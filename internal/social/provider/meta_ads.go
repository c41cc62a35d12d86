package provider

import (
	"context"
)

// metaAds returns the spec for the ad accounts of Facebook and Instagram, with the same application as Facebook pages.
func metaAds() Spec {
	s := facebook()
	s.Platform, s.Name, s.Kind = "meta_ads", "Meta Ads", Ads
	s.Scopes = []string{"public_profile", "ads_read", "ads_management", "business_management"}
	s.Needed = []string{"ads_read"}
	s.OwnTokens = false
	s.Dialect.Login = metaAdsLogin
	return s
}

func metaAdsLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who, err := graphMe(ctx, p, t)
	if err != nil {
		return Login{}, nil, err
	}
	type adAccount struct {
		ID   string `json:"id"` // act_1
		Name string `json:"name"`
	}
	list, cut, err := graphList[adAccount](ctx, p, t, "/me/adaccounts", "id,name")
	if err != nil {
		return who, nil, err
	}
	var accounts []Account
	for _, a := range list {
		accounts = append(accounts, Account{ExternalID: a.ID, DisplayName: named(a.Name, a.ID)})
	}
	who.Cut = cut
	return p.several(who, accounts)
}
