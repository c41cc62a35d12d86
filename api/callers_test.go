package api_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
)

// admits is what the document says about who may call an operation.
type admits struct {
	ID, Description string
	Security        []map[string][]string
}

// has reports whether the operation names a security scheme.
func (a *admits) has(scheme string) bool {
	return slices.ContainsFunc(a.Security, func(one map[string][]string) bool { return one[scheme] != nil })
}

var namedRole = regexp.MustCompile("the role `([a-z]+)`")

// role returns the least role that the operation's description names.
func (a *admits) role() auth.Role {
	if m := namedRole.FindStringSubmatch(a.Description); m != nil {
		return auth.Role(m[1])
	}
	return auth.Viewer
}

// TestTheDocumentSaysWhoMayCallEachOperation calls each operation as each kind of caller. The unknown parameter has
// every admitted call refused before it has an effect.
func TestTheDocumentSaysWhoMayCallEachOperation(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID, Description string
			Security                 []map[string][]string
		}
	}
	if err := json.Unmarshal(s.App.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	agency := s.signup().subscribe("agency_growth")
	shop := agency.client(`{"name":"Shop"}`)
	staff := agency.enter(shop.ID, `{}`)
	type kind struct {
		role           auth.Role
		isKey, isStaff bool
		*caller
	}
	callers := []kind{{"owner", false, true, staff}}
	for _, role := range []auth.Role{auth.Viewer, auth.Member, auth.Admin, auth.Owner} {
		callers = append(callers, kind{role, true, false, agency.key(role)}, kind{role, false, false, agency.as(role)})
	}
	var me struct{ Role auth.Role }
	staff.do("GET", mePath, nil).want(t, 200, "").into(t, &me)
	callers[0].role = me.Role
	asked := 0
	for path, methods := range doc.Paths {
		for method, o := range methods {
			a := admits{o.OperationID, o.Description, o.Security}
			if strings.Contains(a.Description, "Needs no credential.") != (len(a.Security) == 0) {
				t.Errorf("%s: the security %v, and %q", a.ID, a.Security, a.Description)
			}
			if len(a.Security) == 0 {
				continue
			}
			if strings.Contains(a.Description, "API keys") == a.has("apiKey") || !a.has("bearer") {
				t.Errorf("%s: the security %v, and %q", a.ID, a.Security, a.Description)
			}
			for _, c := range callers {
				asked++
				may := c.role.Includes(a.role()) && (!c.isKey || a.has("apiKey")) &&
					(!c.isStaff || !strings.Contains(a.Description, "staff of an agency are refused"))
				at := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "018f0000-0000-7000-8000-000000000000")
				got := c.do(strings.ToUpper(method), at+"?unknown_parameter=1", nil)
				if refused := got.Status == 401 || got.Status == 403; refused == may || got.Status < 400 {
					t.Errorf("%s as %s (key: %t, staff: %t): %d %s; the document says %t", a.ID, c.role, c.isKey,
						c.isStaff, got.Status, got.code(), may)
				}
			}
			if got := s.stranger().do(strings.ToUpper(method), strings.Split(path, "{")[0], nil); got.Status == 200 {
				t.Errorf("%s without a credential: 200", a.ID)
			}
		}
	}
	if asked < 9*200 {
		t.Errorf("only %d calls were made", asked)
	}
}
