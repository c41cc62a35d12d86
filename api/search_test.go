package api_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
)

// found returns the kinds and titles of a search's results.
func (c *caller) found(query string) (out []string) {
	c.Helper()
	var l struct {
		Data []struct{ Kind, ID, Title, Subtitle string } `json:"data"`
	}
	c.do(http.MethodGet, "/api/v1/search?q="+query, nil).want(c, 200, "").into(c, &l)
	for _, h := range l.Data {
		out = append(out, h.Kind+": "+h.Title+" ("+h.Subtitle+")")
	}
	return out
}

func TestASearchFindsEveryKindByTheBeginningsOfWords(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, stranger := s.signup(), s.signup()
	for path, bodies := range map[string][]string{
		"/api/v1/crm/contacts": {
			`{"email":"ada@acme.example","first_name":"Ada","last_name":"Lovelace"}`,
			`{"email":"grace@navy.example","first_name":"Grace","last_name":"Hopper"}`,
		},
		"/api/v1/crm/companies": {`{"name":"Lovely Engines","domain":"engines.example"}`},
		"/api/v1/crm/deals":     {`{"name":"Love letters, Überlingen"}`, `{"name":"Other"}`},
		"/api/v1/crm/segments": {
			`{"key":"lovers","name":"Lovers of engines","filter":{"all":[]}}`,
		},
		"/api/v1/webhooks": {
			`{"url":"https://93.184.216.34/love","events":["*"],"description":"for engines"}`,
		},
	} {
		for _, body := range bodies {
			ada.do(http.MethodPost, path, body).want(t, 201, "")
		}
	}
	love := []string{
		"contact: Ada Lovelace (ada@acme.example)", "company: Lovely Engines (engines.example)",
		"deal: Love letters, Überlingen (open)", "segment: Lovers of engines (lovers)",
		"webhook: https://93.184.216.34/love (for engines)",
	}
	for query, want := range map[string][]string{
		"lov": love, "LOVE": love[:5],
		"lov+eng":                         {love[1], love[3], love[4]},
		"ada+love":                        love[:1],
		"ada%40acme.example":              love[:1],
		"letters+love":                    love[2:3],
		url.QueryEscape("überl"):          love[2:3],
		url.QueryEscape("lovely Engines"): love[1:2],
		"engines.example":                 love[1:2],
		"nothing":                         nil,
		"%2C+-":                           nil,
		"lov&limit=2":                     love[:2],
	} {
		if diff := cmp.Diff(want, ada.found(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	ada.do(http.MethodPost, "/api/v1/crm/contacts",
		`{"email":"l@acme.example","first_name":"Lovely","last_name":"Engines"}`).want(t, 201, "")
	if got := ada.found("lovely+engines"); len(got) != 2 {
		t.Errorf("two records with one name: %v", got)
	}
	if got := stranger.found("lov"); got != nil {
		t.Errorf("another org finds %v", got)
	}
	if got := ada.as(auth.Viewer).found("hopper"); len(got) != 1 {
		t.Errorf("a viewer finds %v", got)
	}
	ada.do(http.MethodGet, "/api/v1/search", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, "/api/v1/search?q=", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, "/api/v1/search?q=a+b+c+d+e+f+g+h+i", nil).want(t, 400, "invalid_parameter")
}

func TestARenamedDealIsFoundByItsNewNameAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	d := ada.newDeal("Analytical Engine", "")
	ada.do(http.MethodPatch, "/api/v1/crm/deals/"+d.ID, `{"name":"Difference Engine"}`).want(t, 200, "")
	if got := ada.found("analyt"); got != nil {
		t.Errorf("found by its old name: %v", got)
	}
	if got := ada.found("diff+eng"); len(got) != 1 {
		t.Errorf("not found by its new name: %v", got)
	}
	ada.do(http.MethodDelete, "/api/v1/crm/deals/"+d.ID, nil).want(t, 204, "")
	if got := ada.found("diff"); got != nil {
		t.Errorf("an archived deal is found: %v", got)
	}
}
