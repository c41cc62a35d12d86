package api_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/tenants"
)

// operators returns what operators do to orgs, with the standard catalogue.
func (s *service) operators() *tenants.Service { return tenants.New(s.DB.App, s.DB.System, nil) }

func (s *service) suspend(org id.ID) {
	s.Helper()
	if _, err := s.operators().Suspend(s.Context(), tenants.By{Actor: "grace", Reason: "unpaid"}, org); err != nil {
		s.Fatal(err)
	}
}

func (s *service) resume(org id.ID) {
	s.Helper()
	if _, err := s.operators().Resume(s.Context(), tenants.By{Actor: "grace", Reason: "paid"}, org); err != nil {
		s.Fatal(err)
	}
}

func TestCallsOfASuspendedOrgAreRefusedUntilItIsResumed(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, other := s.signup(), s.signup()
	key := ada.key(auth.Admin)
	c := ada.contact("a@shop.example")
	stream := ada.connect(streamPath)
	s.suspend(ada.Org)
	stream.ends()
	refused := func(who *caller, method, path string, body any) {
		t.Helper()
		s.eventually(func() bool { // a role is read again within a second
			return who.do(method, path, body).code() == "org_suspended"
		})
		got := who.do(method, path, body).want(t, 403, "org_suspended")
		if strings.Contains(string(got.Body), "unpaid") {
			t.Errorf("the problem has the operators' reason: %s", got.Body)
		}
	}
	for _, who := range []*caller{ada, key} {
		refused(who, "GET", contactsPath+"/"+c.ID, nil)
		refused(who, "PATCH", contactsPath+"/"+c.ID, `{"stage":"mql"}`)
		refused(who, "GET", "/billing/my-entitlements", nil)
		refused(who, "GET", "/api/v1/org", nil)
	}
	ada.do("GET", "/api/v1/auth/me", nil).want(t, 200, "")
	ada.do("GET", "/api/v1/auth/orgs", nil).want(t, 200, "")
	other.do("GET", contactsPath, nil).want(t, 200, "")

	s.resume(ada.Org)
	s.eventually(func() bool { return ada.do("GET", contactsPath+"/"+c.ID, nil).Status == 200 })
	s.eventually(func() bool { return key.do("GET", contactsPath+"/"+c.ID, nil).Status == 200 })
	ada.do("PATCH", contactsPath+"/"+c.ID, `{"stage":"mql"}`).want(t, 200, "")
	if got := ada.logged(); !strings.Contains(got, "organization.resumed") ||
		!strings.Contains(got, "organization.suspended") {
		t.Errorf("the audit log: %s", got)
	}
}

func TestTheStaffOfASuspendedAgencyIsOutOfItsClients(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	shop := ada.client(`{"name":"Shop"}`)
	staff := ada.enter(shop.ID, `{}`)
	staff.do("GET", contactsPath, nil).want(t, 200, "")
	s.suspend(ada.Org)
	s.eventually(func() bool { return staff.do("GET", contactsPath, nil).code() == "session_ended" })
	s.resume(ada.Org)
	s.eventually(func() bool { return staff.do("GET", contactsPath, nil).Status == 200 })

	s.suspend(staff.Org)
	s.eventually(func() bool { return staff.do("GET", contactsPath, nil).code() == "org_suspended" })
	ada.do("GET", clientsPath+"/"+shop.ID, nil).want(t, 200, "")
}

func TestASignedLinkOfASuspendedOrgGivesNoFile(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.contact("a@shop.example")
	at := ada.do("POST", exportsPath, map[string]any{"format": "csv"}).want(t, 202, "").Header.Get("Location")
	ada.workFiles()
	var e struct {
		Link *string `json:"download_url"`
	}
	ada.do("GET", at, nil).want(t, 200, "").into(t, &e)
	ada.download(e.Link).want(t, 200, "")
	s.suspend(ada.Org)
	ada.download(e.Link).want(t, 403, "org_suspended")
	s.resume(ada.Org)
	ada.download(e.Link).want(t, 200, "")
}
