package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
)

// ungated are the changes of sequences, enrolments and broadcasts that every plan allows: they stop or hide something.
var ungated = []string{
	"DELETE /api/v1/broadcasts/{id}",
	"DELETE /api/v1/sequences/{id}",
	"POST /api/v1/broadcasts/{id}/cancel",
	"POST /api/v1/broadcasts/{id}/pause",
	"POST /api/v1/broadcasts/{id}/preview", // it changes nothing
	"POST /api/v1/broadcasts/{id}/restore",
	"POST /api/v1/enrolments/{id}/pause",
	"POST /api/v1/enrolments/{id}/stop",
	"POST /api/v1/sequences/{id}/archive",
	"POST /api/v1/sequences/{id}/batches/{batch}/cancel",
	"POST /api/v1/sequences/{id}/pause",
	"POST /api/v1/sequences/{id}/restore",
}

func TestEveryChangeOfASequenceOrBroadcastNeedsItsFeatureUnlessItStopsSomething(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("solo_pro")
	ada.state(plans.State{Plan: "solo_pro", Interval: "month", Status: plans.Canceled, Quantity: 1})
	features := map[string]string{
		sequencesPath: plans.Sequences, enrolmentsPath: plans.Sequences, broadcastsPath: plans.Broadcasts,
	}
	var without []string
	gated := map[string]bool{}
	for _, r := range s.App.Routes() {
		want := ""
		for _, path := range slices.Collect(maps.Keys(features)) {
			if r.Path == path || strings.HasPrefix(r.Path, path+"/") {
				want = features[path]
			}
		}
		name := r.Method + " " + r.Path
		switch {
		case want == "" || r.Method == http.MethodGet:
		case r.Feature == "":
			without = append(without, name)
		default:
			at := strings.NewReplacer("{id}", id.New().String(), "{key}", "x").Replace(r.Path)
			var problem struct{ Feature string }
			ada.do(r.Method, at, s.example(r, 1)).want(t, 402, "feature_not_in_plan").into(t, &problem)
			if problem.Feature != want {
				t.Errorf("%s needs %q, want %q", name, problem.Feature, want)
			}
			gated[want] = true
		}
	}
	slices.Sort(without)
	if diff := cmp.Diff(ungated, without); diff != "" {
		t.Errorf("changes without a feature (-want +got):\n%s", diff)
	}
	if !gated[plans.Sequences] || !gated[plans.Broadcasts] {
		t.Errorf("gated %v", gated)
	}
}
