package api_test

import (
	"encoding/json"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// tellOfAccounts records accounts of social networks and ad platforms.
func (r *recorder) tellOfAccounts(c *caller) {
	r.Helper()
	const person = "Ada Lovelace"
	r.call(c, "social_accounts.connect", `{}`, "linkedin")
	r.call(c, "ad_accounts.connect", `{}`, "google_ads")
	login := c.offered("social", "linkedin", person)
	r.call(c, "pending_logins.get", nil, login.ID)
	r.call(c, "pending_logins.select", map[string]any{"account_ids": login.externals()}, login.ID)
	c.login("ads", "meta_ads", person)
	r.call(c, "social_accounts.list", nil)
	r.call(c, "social_accounts.get", nil, c.first("/api/v1/social/accounts"))
	r.call(c, "ad_accounts.list", nil)
	r.call(c, "ad_accounts.get", nil, c.first("/api/v1/ads/accounts"))
	for _, family := range []string{"facebook", "instagram"} {
		_, secret := oauth.Client(family)
		signed := consent.SignedRequest(secret, "a person without a login", time.Now())
		const kind = "application/x-www-form-urlencoded"
		const body = `"signed_request=EXAMPLE"`
		r.record(family+".receive_deauthorization", kind, body, r.noticed("/oauth/"+family+"/deauthorize", signed))
		r.record(family+".receive_erasure_request", kind, body, r.noticed("/oauth/"+family+"/data-deletion", signed))
	}
}

// tellOfResellers records brands, client orgs and their sales.
func (r *recorder) tellOfResellers() {
	r.Helper()
	c := r.reseller()
	r.call(c, "white_label.update", `{"brand_name":"Engine Room","support_email":"help@engine-room.example",`+
		`"colors":{"primary":"#1d4ed8"}}`)
	logo, err := json.Marshal(logoSVG)
	if err != nil {
		r.Fatal(err)
	}
	r.record("white_label.set_logo", "image/svg+xml", string(logo),
		c.do("PUT", logoPath, logoSVG, "Content-Type", "image/svg+xml"))
	r.call(c, "white_label.get", nil)
	r.record("white_label.get_public_brand", "", nil, r.stranger().do("GET", "/white-label/brand?host=api.test", nil))
	r.call(c, "domain.claim", `{"domain":"crm.engine-room.example"}`)
	r.call(c, "domain.get", nil)
	r.call(c, "domain.verify", nil)
	client := r.made(c, "client_orgs.create", `{"name":"Menabrea Press","features":{"contacts":5000}}`)
	r.call(c, "client_orgs.list", nil)
	r.call(c, "client_orgs.get", nil, client)
	r.call(c, "client_orgs.update", `{"features":{"contacts":10000}}`, client)
	r.call(c, "client_orgs.create_token", `{"role":"member"}`, client)
	r.call(c, "client_orgs.pause", nil, client)
	r.call(c, "client_orgs.resume", nil, client)
	r.tellOfSales(c, client)
	c.enter(client, `{}`).as(auth.Owner)
	r.call(c, "client_orgs.detach", nil, client)
}

func (r *recorder) tellOfSales(c *caller, client string) {
	r.Helper()
	r.call(c, "connect.create_onboarding_link", nil)
	account := *c.connectState().AccountID
	(&seller{caller: c, account: account, clientOrg: client}).enter(stripe.Enabled)
	r.call(c, "connect.create_sale", map[string]any{
		"client_org_id": client, "email": "books@menabrea.example", "name": "CRM, monthly", "amount": 4900,
		"currency": "EUR", "interval": "month",
	})
	r.call(c, "connect.get", nil)
	r.call(c, "connect.list_fees", nil)
}
