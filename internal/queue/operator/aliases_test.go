package operator_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// renamed is a kind in the first of the two releases of a renaming.
var renamed = queue.Define[struct{}]("test.old", queue.Options{Alias: "test.new"})

// rename adds a dead job under each name of renamed, and one of another kind.
func (s *station) rename() (old, alias operator.Key) {
	s.t.Helper()
	s.store.Aliases = store.AliasesOf([]queue.Handler{
		renamed.Handle(func(context.Context, *queue.Run[struct{}]) error { return nil }),
	})
	old, alias = s.row("dead"), s.row("dead")
	s.row("dead")
	s.exec(`UPDATE job SET kind = 'test.old' WHERE id = $1`, old.ID)
	s.exec(`UPDATE job SET kind = 'test.new' WHERE id = $1`, alias.ID)
	s.exec(`UPDATE job_death d SET kind = job.kind FROM job WHERE job.org_id = d.org_id AND job.id = d.id`)
	return old, alias
}

func TestOperatorsFindAKindThatIsBeingRenamedByEitherName(t *testing.T) {
	t.Parallel()
	s := operate(t)
	old, alias := s.rename()
	for _, by := range []string{"test.old", "test.new"} {
		for _, f := range []operator.Filter{{Kind: by}, {Kind: by, Error: "no"}} {
			jobs, _, err := s.operator.Search(t.Context(), f, 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []operator.Job
			for _, j := range jobs {
				got = append(got, operator.Job{ID: j.ID, Kind: j.Kind})
			}
			slices.SortFunc(got, func(a, b operator.Job) int { return slices.Compare(a.ID[:], b.ID[:]) })
			want := []operator.Job{{ID: old.ID, Kind: "test.old"}, {ID: alias.ID, Kind: "test.old"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("jobs of %+v (-want +got):\n%s", f, diff)
			}
		}
	}
	if j, err := s.operator.Show(t.Context(), alias); err != nil || j.Kind != "test.old" {
		t.Errorf("shown as %+v, %v", j, err)
	}
}

func TestARedriveByTheAliasIsStoredUnderTheNameAndRunsBoth(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.rename()
	r, err := s.operator.StartRedrive(t.Context(), operator.By{Actor: "ada"}, operator.Filter{Kind: "test.new"},
		operator.MaxRate, func(context.Context, *postgres.Tx, id.ID) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if r.Filter.Kind != "test.old" || r.Total != 2 {
		t.Errorf("a redrive of %d jobs of %s, want 2 of test.old", r.Total, r.Filter.Kind)
	}
	s.exec(`UPDATE job_redrive SET stepped_at = stepped_at - interval '1 second'`)
	if _, _, err := s.operator.StepRedrive(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.ask(`SELECT string_agg(kind || ' ' || state, ', ' ORDER BY kind) FROM job`); got !=
		"test.kind dead, test.new ready, test.old ready" {
		t.Errorf("after the redrive: %s", got)
	}
}

func TestAPauseOfEitherNameKeepsBothFromStarting(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.rename()
	const paused = `SELECT string_agg(name, ' ' ORDER BY name) FROM job_pause`
	for _, by := range []string{"test.old", "test.new"} {
		if did, err := s.operator.Pause(t.Context(), operator.By{Actor: "ada"}, "kind", by); err != nil || !did {
			t.Fatalf("pause %s: %v, %v", by, did, err)
		}
		if got := s.ask(paused); got != "test.new test.old" {
			t.Errorf("a pause of %s pauses %s", by, got)
		}
		all, err := s.operator.Pauses(t.Context())
		if err != nil || len(all) != 1 || all[0].Name != "test.old" {
			t.Errorf("a pause of %s is listed as %v, %v", by, all, err)
		}
		if stops, err := s.store.Stops(t.Context(), time.Time{}); err != nil || stops.Kinds != 1 {
			t.Errorf("%d kinds are paused, want 1; %v", stops.Kinds, err)
		}
		if did, err := s.operator.Resume(t.Context(), operator.By{Actor: "ada"}, "kind", by); err != nil || !did {
			t.Fatalf("resume %s: %v, %v", by, did, err)
		}
		if got := s.ask(paused); got != "none" {
			t.Errorf("after the resume of %s, %s is paused", by, got)
		}
	}
	if got := s.ask(`SELECT string_agg(act || ' ' || scope, ', ' ORDER BY id) FROM job_act`); got !=
		"pause kind test.old, resume kind test.old, pause kind test.old, resume kind test.old" {
		t.Errorf("the audit has %q", got)
	}
}

func TestAPauseByAnEarlierReleaseIsMirrored(t *testing.T) {
	t.Parallel()
	s := operate(t)
	s.rename()
	s.exec(`INSERT INTO job_pause (scope, name) VALUES ('kind', 'test.old'), ('kind', 'test.kind')`)
	for range 2 {
		if err := s.store.MirrorPauses(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.ask(`SELECT string_agg(name, ' ' ORDER BY name) FROM job_pause`); got != "test.kind test.new test.old" {
		t.Errorf("paused: %s", got)
	}
}

func TestAnActOnAJobUnderTheAliasCallsTheKindsHook(t *testing.T) {
	t.Parallel()
	s := operate(t)
	old, alias := s.rename()
	calls := 0
	s.store.Hooks = store.HooksOf(renamed.Hook(
		func(_ context.Context, _ *postgres.Tx, args []struct{}) error { calls += len(args); return nil }, nil))
	if _, err := s.operator.Drop(t.Context(), operator.By{Actor: "ada", Reason: "test"}, old, alias); err != nil {
		t.Fatal(err)
	}
	if calls != 2 {
		t.Errorf("the hook was called for %d jobs, want 2", calls)
	}
	c := &queue.Claimed{Kind: "test.new", Raw: json.RawMessage(`{}`)}
	if !s.store.Hooked(c) {
		t.Error("a run under the alias has no hook")
	}
}
