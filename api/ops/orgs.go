package ops

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/tenants"
)

const orgsPath = "/orgs/"

// orgsAPI is the JSON API with which operators inspect, suspend and resume orgs, and change their rights. Like jobsAPI,
// it needs Postgres alone.
type orgsAPI struct {
	*jobsAPI
	orgs *tenants.Service
}

// mountOrgs adds the paths to mux, behind the listener's guard, if the process can act on orgs.
func (a *jobsAPI) mountOrgs(mux *routes, orgs *tenants.Service) {
	if a == nil || orgs == nil {
		return
	}

	o := &orgsAPI{a, orgs}
	mux.add(
		a,
		route{
			pattern: "GET /orgs/{$}", summary: "Search orgs, newest first", h: o.listOrgs, out: page[tenants.Org]{},
			query: []string{"q", "status", "plan", "limit", "cursor"},
		},
		route{pattern: "GET /orgs/{org}", summary: "An org", h: o.showOrg, out: tenants.Detail{}},
		route{
			pattern: "POST /orgs/{org}/suspend", summary: "Suspend an org", h: o.suspendOrg, in: reasonBody{},
			out: tenants.Detail{},
		},
		route{
			pattern: "POST /orgs/{org}/resume", summary: "End a suspension", h: o.resumeOrg, in: reasonBody{},
			out: tenants.Detail{},
		},
		route{
			pattern: "GET /orgs/{org}/usage", summary: "How much an org uses of each feature", h: o.showUsage,
			out: tenants.Usage{},
		},
		route{
			pattern: "PUT /orgs/{org}/plan", summary: "Put an org on a plan", h: o.setPlan, in: planBody{},
			out: tenants.Rights{},
		},
		route{
			pattern: "GET /orgs/{org}/rights", summary: "What an org may use", h: o.showRights, out: tenants.Rights{},
		},
		route{
			pattern: "PUT /orgs/{org}/rights/{feature}", h: o.setOverride, in: overrideBody{}, out: tenants.Rights{},
			summary: "Override the plan's value of a feature; null is no limit",
		},
		route{
			pattern: "DELETE /orgs/{org}/rights/{feature}", summary: "End an override", h: o.endOverride,
			query: []string{"reason"},
		},
		route{
			pattern: "POST /orgs/{org}/addons", summary: "Add to a feature on top of the plan", h: o.addOn,
			in: addOnBody{}, out: added{}, status: []int{http.StatusCreated},
		},
		route{
			pattern: "DELETE /orgs/{org}/addons/{addon}", summary: "Take an add-on back", h: o.endAddOn,
			query: []string{"reason"},
		},
	)
}

// The bodies of requests and answers that no other package has.
type (
	planBody struct {
		Plan   string `json:"plan"`
		Reason reason `json:"reason"`
	}
	overrideBody struct {
		Value  json.RawMessage `json:"value"`
		Until  *time.Time      `json:"until"`
		Reason reason          `json:"reason"`
	}
	addOnBody struct {
		Feature string `json:"feature"`
		Amount  int64  `json:"amount"`
		Endless bool   `json:"endless"`
		Reason  reason `json:"reason"`
	}
	added struct {
		ID id.ID `json:"id"`
	}
)

var errNoOrg = &requestError{http.StatusNotFound, "there is no such org"}

func orgOf(r *http.Request) (id.ID, error) {
	org, err := id.Parse(r.PathValue("org"))
	if err != nil {
		return org, errNoOrg
	}
	return org, nil
}

// readReason returns the org of the path and the operator with the reason of the body or, for DELETE, of the query.
func (o *orgsAPI) readReason(r *http.Request) (org id.ID, by tenants.By, err error) {
	by.Actor = o.actor
	if org, err = orgOf(r); err != nil {
		return org, by, err
	}
	if r.Method == http.MethodDelete {
		q, err := readQuery(r, "reason")
		by.Reason = q.Get("reason")
		return org, by, err
	}

	var in reasonBody
	err = readJSON(r, &in)
	by.Reason = string(in.Reason)

	return org, by, err
}

func (o *orgsAPI) listOrgs(r *http.Request) (int, any, error) {
	q, err := readQuery(r, "q", "status", "plan", "limit", "cursor")
	if err != nil {
		return 0, nil, err
	}

	f := tenants.Filter{Search: strings.TrimSpace(q.Get("q")), Status: q.Get("status"), Plan: q.Get("plan")}
	if f.Status != "" && !slices.Contains(tenants.Statuses(), f.Status) {
		return 0, nil, &requestError{
			http.StatusBadRequest, "status: one of " + strings.Join(tenants.Statuses(), ", "),
		}
	}
	if strings.ContainsRune(f.Search+f.Plan, 0) {
		return 0, nil, &requestError{http.StatusBadRequest, "query: it cannot be read"}
	}

	out, err := pageByID(q, func(before *id.ID, limit int) ([]tenants.Org, error) {
		return o.orgs.List(r.Context(), f, before, limit)
	}, func(row tenants.Org) id.ID { return row.ID })

	return http.StatusOK, out, err
}

func (o *orgsAPI) showOrg(r *http.Request) (int, any, error) {
	org, err := orgOf(r)
	if err != nil {
		return 0, nil, err
	}
	d, err := o.orgs.Show(r.Context(), org)
	return http.StatusOK, d, err
}

func (o *orgsAPI) suspendOrg(r *http.Request) (int, any, error) {
	org, by, err := o.readReason(r)
	if err != nil {
		return 0, nil, err
	}
	d, err := o.orgs.Suspend(r.Context(), by, org)
	return http.StatusOK, d, err
}

func (o *orgsAPI) resumeOrg(r *http.Request) (int, any, error) {
	org, by, err := o.readReason(r)
	if err != nil {
		return 0, nil, err
	}
	d, err := o.orgs.Resume(r.Context(), by, org)
	return http.StatusOK, d, err
}

func (o *orgsAPI) showUsage(r *http.Request) (int, any, error) {
	org, err := orgOf(r)
	if err != nil {
		return 0, nil, err
	}
	u, err := o.orgs.Usage(r.Context(), org)
	return http.StatusOK, u, err
}

func (o *orgsAPI) showRights(r *http.Request) (int, any, error) {
	org, err := orgOf(r)
	if err != nil {
		return 0, nil, err
	}
	rights, err := o.orgs.Rights(r.Context(), org)
	return http.StatusOK, rights, err
}

func (o *orgsAPI) setPlan(r *http.Request) (int, any, error) {
	var in planBody
	org, err := orgOf(r)
	if err == nil {
		err = readJSON(r, &in)
	}
	if err == nil {
		err = o.orgs.SetPlan(r.Context(), tenants.By{Actor: o.actor, Reason: string(in.Reason)}, org, in.Plan)
	}
	if err != nil {
		return 0, nil, err
	}

	return o.showRights(r)
}

func (o *orgsAPI) setOverride(r *http.Request) (int, any, error) {
	var in overrideBody
	org, err := orgOf(r)
	if err == nil {
		err = readJSON(r, &in)
	}
	if err == nil {
		by := tenants.By{Actor: o.actor, Reason: string(in.Reason)}
		err = o.orgs.Override(r.Context(), by, org, r.PathValue("feature"), in.Value, in.Until)
	}
	if err != nil {
		return 0, nil, err
	}

	return o.showRights(r)
}

func (o *orgsAPI) endOverride(r *http.Request) (int, any, error) {
	org, by, err := o.readReason(r)
	if err == nil {
		err = o.orgs.EndOverride(r.Context(), by, org, r.PathValue("feature"))
	}
	return http.StatusNoContent, nil, err
}

func (o *orgsAPI) addOn(r *http.Request) (int, any, error) {
	var in addOnBody
	org, err := orgOf(r)
	if err == nil {
		err = readJSON(r, &in)
	}
	if err != nil {
		return 0, nil, err
	}

	by := tenants.By{Actor: o.actor, Reason: string(in.Reason)}
	addon, err := o.orgs.Add(r.Context(), by, org, in.Feature, in.Amount, in.Endless)
	return http.StatusCreated, added{addon}, err
}

func (o *orgsAPI) endAddOn(r *http.Request) (int, any, error) {
	org, by, err := o.readReason(r)
	if err != nil {
		return 0, nil, err
	}
	addon, err := id.Parse(r.PathValue("addon"))
	if err != nil {
		return 0, nil, errNoSuch
	}
	return http.StatusNoContent, nil, o.orgs.EndAddOn(r.Context(), by, org, addon)
}
