package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// missing is what answers say of a login that was not granted all it needs.
type missing struct {
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Scopes []string `json:"missing_scopes"`
}

// A person leaves one of the needed scopes unchecked. Either the platform then shows no account, and the connection
// ends with the scope's name, or the account is connected, is not active, and names the scope until a login has it.
func TestAnAccountWithoutANeededScopeIsNotActiveAndNamesIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	areas := map[string]string{}
	for _, p := range platforms {
		areas[p.name] = p.area
	}
	for _, spec := range provider.Catalogue() {
		for _, scope := range spec.Needed {
			connectWithout(s.signup().subscribe("agency_scale"), areas[spec.Platform], spec.Platform, scope)
		}
	}
}

func connectWithout(c *caller, area, platform, scope string) {
	c.Helper()
	b := c.browser(false)
	at := b.connect(area, platform, nil)
	res := b.open(b.consent(at, consent.Choice{Without: []string{scope}}))
	if res.Status != 200 {
		if !strings.Contains(string(res.Body), scope) {
			c.Errorf("%s without %s: %d %s", platform, scope, res.Status, res.Body)
		}
		return
	}

	b = c.browser(false)
	q := end(c, b.open(b.consent(b.connect(area, platform, home), consent.Choice{Without: []string{scope}})))
	var pending missing
	c.do("GET", "/api/v1/social/pending/"+q.Get("pending_id"), nil).want(c, 200, "").into(c, &pending)
	if !slices.Equal(pending.Scopes, []string{scope}) {
		c.Errorf("%s: the pending login misses %q, want %q", platform, pending.Scopes, scope)
	}
	o := c.pending(q.Get("pending_id"))
	var chosen struct{ Data []missing }
	c.pick(o.ID, o.externals()...).want(c, 200, "").into(c, &chosen)
	for _, a := range chosen.Data {
		if diff := cmp.Diff(missing{a.ID, "reauth_required", []string{scope}}, a); diff != "" {
			c.Errorf("the account of %s (-want +got):\n%s", platform, diff)
		}
	}

	if platform == "gmail" {
		got := c.do("POST", boxesPath, map[string]any{
			"kind": "google", "from_email": "ada@shop.example", "social_account_id": chosen.Data[0].ID,
		}).want(c, 422, "validation_failed")
		if !strings.Contains(string(got.Body), "missing_scopes") {
			c.Errorf("a mailbox with that account: %s", got.Body)
		}
	}

	for _, a := range c.login(area, platform, "Ada Lovelace") {
		var got missing
		c.do("GET", "/api/v1/"+area+"/accounts/"+a.ID, nil).want(c, 200, "").into(c, &got)
		diff := cmp.Diff(missing{chosen.Data[0].ID, "active", []string{}}, got)
		if diff != "" && len(chosen.Data) == 1 {
			c.Errorf("the account of %s after a whole login (-want +got):\n%s", platform, diff)
		}
		if got.Status != "active" {
			c.Errorf("%s is %s", a.ID, got.Status)
		}
	}
}
