package ops_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/tenants"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// withOrgs adds the operators' service to a listener.
func withOrgs(o *ops.Options) {
	o.Orgs = tenants.New(o.DB, o.System, plans.Standard().Enqueuing(entitlementsync.Kind.Add))
}

// newOrgs creates n orgs and returns their ids, newest first.
func (b *board) newOrgs(n int) (ids []id.ID) {
	b.Helper()
	for range n {
		org := id.New()
		b.exec(`INSERT INTO org (id, name) VALUES ($1, 'Org')`, org)
		ids = append([]id.ID{org}, ids...)
	}
	return ids
}

// want sends a request and checks the status.
func (b *board) want(status int, method, path string, body any) string {
	b.Helper()
	w := b.call(method, path, body)
	if w.Code != status {
		b.Errorf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, status)
	}
	return w.Body.String()
}

func TestOrgsAreListedByPages(t *testing.T) {
	t.Parallel()
	b := newBoard(t, withOrgs)
	want := b.newOrgs(5)
	b.want(200, "POST", "/orgs/"+want[1].String()+"/suspend", `{"reason":"unpaid"}`)
	var got []id.ID
	for cursor := ""; ; {
		var page struct {
			Data []struct {
				ID                         id.ID
				Name, Status, Plan, Reason string
				Subscription               string  `json:"subscription_status"`
				SuspendedAt                *string `json:"suspended_at"`
			}
			HasMore    bool    `json:"has_more"`
			NextCursor *string `json:"next_cursor"`
		}
		b.read("/orgs/?limit=2"+cursor, &page)
		for _, o := range page.Data {
			got = append(got, o.ID)
			if suspended := o.ID == want[1]; (o.Status == "suspended") != suspended ||
				(o.SuspendedAt != nil) != suspended || o.Plan != "trial" || o.Subscription != "trialing" {
				t.Errorf("%+v", o)
			}
		}
		if page.HasMore != (page.NextCursor != nil) {
			t.Errorf("%+v", page)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("orgs (-want +got):\n%s", diff)
	}
	for path, n := range map[string]int{
		"/orgs/?status=suspended": 1, "/orgs/?plan=solo_pro": 0, "/orgs/?q=org": 5, "/orgs/?q=" + want[2].String(): 1,
	} {
		var page struct{ Data []struct{} }
		if b.read(path, &page); len(page.Data) != n || page.Data == nil {
			t.Errorf("GET %s: %+v, want %d", path, page, n)
		}
	}
	for _, bad := range []string{"limit=0", "status=odd", "cursor=x", "what=1", "q=a&q=b", "q=%00"} {
		b.want(400, "GET", "/orgs/?"+bad, nil)
	}
}

func TestOperatorsSuspendAndResumeAnOrg(t *testing.T) {
	t.Parallel()
	b := newBoard(t, withOrgs)
	at := "/orgs/" + b.newOrgs(1)[0].String()
	b.want(422, "POST", at+"/suspend", `{"reason":" "}`)
	b.want(422, "POST", at+"/suspend", nil)
	b.want(400, "POST", at+"/suspend", `{"why":"unpaid"}`)
	got := b.want(200, "POST", at+"/suspend", `{"reason":"unpaid"}`)
	if !strings.Contains(got, `"status":"suspended"`) {
		t.Errorf("suspended: %s", got)
	}
	if got := b.want(200, "GET", "/jobs/pauses", nil); !strings.Contains(got, `"suspended":true`) {
		t.Errorf("pauses: %s", got)
	}
	if got := b.want(200, "POST", at+"/resume", nil); !strings.Contains(got, `"status":"active"`) {
		t.Errorf("resumed: %s", got)
	}
	if got := b.want(200, "GET", "/jobs/acts", nil); !strings.Contains(got, "org.suspend") ||
		!strings.Contains(got, "org.resume") || !strings.Contains(got, `"actor":"ops"`) {
		t.Errorf("the log: %s", got)
	}
	for _, other := range []string{id.New().String(), "x"} {
		b.want(404, "GET", "/orgs/"+other, nil)
		b.want(404, "GET", "/orgs/"+other+"/usage", nil)
		b.want(404, "GET", "/orgs/"+other+"/rights", nil)
		b.want(404, "POST", "/orgs/"+other+"/suspend", `{"reason":"unpaid"}`)
		b.want(404, "POST", "/orgs/"+other+"/resume", nil)
	}
}

func TestOperatorsChangeAnOrgsRights(t *testing.T) {
	t.Parallel()
	b := newBoard(t, withOrgs)
	at := "/orgs/" + b.newOrgs(1)[0].String()
	var rights struct {
		Features map[string]struct {
			Value  any
			Source string
		}
		Grants []struct {
			ID      *string
			Feature string
			Expires *string `json:"expires_at"`
		}
	}
	b.want(200, "PUT", at+"/rights/members", `{"value":7,"until":"2100-01-01T00:00:00Z","reason":"pilot"}`)
	b.want(200, "PUT", at+"/rights/contacts", `{"value":null}`)
	b.want(201, "POST", at+"/addons", `{"feature":"webhooks","amount":10,"reason":"pilot"}`)
	b.read(at+"/rights", &rights)
	if m := rights.Features["members"]; m.Value != float64(7) || m.Source != "override" {
		t.Errorf("members: %+v", m)
	}
	if c := rights.Features["contacts"]; c.Value != nil || c.Source != "override" {
		t.Errorf("contacts: %+v", c)
	}
	if len(rights.Grants) != 3 || rights.Grants[1].Expires == nil || rights.Grants[2].ID == nil {
		t.Fatalf("grants: %+v", rights.Grants)
	}
	if got := b.want(200, "GET", at+"/usage", nil); !strings.Contains(got, `"members":{"used":0,"limit":7}`) {
		t.Errorf("usage: %s", got)
	}
	b.want(204, "DELETE", at+"/rights/members?reason=over", nil)
	b.want(204, "DELETE", at+"/addons/"+*rights.Grants[2].ID, nil)
	b.want(404, "DELETE", at+"/rights/members", nil)
	b.want(404, "DELETE", at+"/addons/"+id.New().String(), nil)
	b.want(404, "DELETE", at+"/addons/x", nil)
	for body, want := range map[string]int{
		`{"value":"many"}`: 422, `{}`: 422, `{"value":7,"till":1}`: 400, `7`: 400,
	} {
		b.want(want, "PUT", at+"/rights/members", body)
	}
	if got := b.want(200, "PUT", at+"/plan", `{"plan":"agency_scale","reason":"pilot"}`); !strings.Contains(got,
		`"plan":"agency_scale"`) {
		t.Errorf("the plan: %s", got)
	}
	b.want(422, "PUT", at+"/plan", `{"plan":"gold","reason":"pilot"}`)
	b.want(422, "PUT", at+"/rights/wings", `{"value":7}`)
	b.want(422, "POST", at+"/addons", `{"feature":"webhooks"}`)
}

func TestAReadOnlyListenerSuspendsNobody(t *testing.T) {
	t.Parallel()
	b := newBoard(t, withOrgs, func(o *ops.Options) { o.ReadOnly = true })
	at := "/orgs/" + b.newOrgs(1)[0].String()
	b.want(403, "POST", at+"/suspend", `{"reason":"unpaid"}`)
	b.want(403, "PUT", at+"/rights/members", `{"value":7}`)
	if got := b.want(200, "GET", at, nil); !strings.Contains(got, `"status":"active"`) {
		t.Errorf("%s", got)
	}
}
