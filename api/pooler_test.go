package api_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// A pooler assigns each transaction another session, so no statement may be prepared by name, and every parameter's
// type must be sent.
func TestTheAPIKeepsNothingInASessionWhenThereIsAPooler(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	s := start(t, func(d *api.Deps) {
		for role, db := range map[string]**postgres.DB{postgres.App: &d.DB, postgres.System: &d.System} {
			pooled, err := postgres.Open(t.Context(),
				postgres.Options{URL: kit.URL, Role: role, MaxConns: 2, Pooler: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pooled.Close)
			*db = pooled
		}
		d.Auth = auth.New(auth.Options{
			System: d.System, App: d.DB, Box: d.Box, Issuer: "http://api.test",
			Unlimited: true,
		})
	})
	s.DB = kit
	c := s.stranger()
	var got struct {
		AccessToken string `json:"access_token"`
		ID          string `json:"id"`
	}
	c.do("POST", "/api/v1/auth/signup",
		`{"org_name":"Pool","email":"ada@example.com","password":"correct-horse-battery"}`).want(t, 201, "").
		into(t, &got)
	c.Token = got.AccessToken
	c.do("POST", "/api/v1/webhooks", `{"url":"https://example.com/","events":["*"]}`).want(t, 201, "")
	c.do("POST", "/api/v1/crm/contacts",
		`{"email":"a@b.example","first_name":"A","last_name":"B","tag":["x"],"attributes":{"size":3}}`).
		want(t, 201, "").into(t, &got)
	c.do("PATCH", "/api/v1/crm/contacts/"+got.ID, `{"attributes":{"size":4},"segment":"news"}`).want(t, 200, "")
	c.do("POST", "/api/v1/crm/contacts/batch",
		`{"contacts":[{"email":"c@d.example","first_name":"C","last_name":"D","attributes":{"size":5}}]}`).
		want(t, 200, "")
	c.do("GET", "/api/v1/crm/contacts?tag=x&q=a&count=exact", nil).want(t, 200, "")
	c.do("GET", "/api/v1/events", nil).want(t, 200, "")
	c.do("GET", "/api/v1/audit-log", nil).want(t, 200, "")
}
