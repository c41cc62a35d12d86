package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
)

var until = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestEqualArgumentsGiveEqualPlans(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(plan.Make(3, 400, until), plan.Make(3, 400, until)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(plan.Make(3, 400, until).Contacts, plan.Make(4, 400, until).Contacts) {
		t.Error("two seeds give the same people")
	}
}

func TestObjectsAreCreatedBeforeTheyChange(t *testing.T) {
	t.Parallel()
	p := plan.Make(1, 2000, until)
	type object struct {
		kind plan.Kind
		of   int
	}
	there := map[object]bool{}
	for n, a := range p.Actions {
		needs := []object{}
		switch a.Kind {
		case plan.CreateContact:
			if c := p.Contacts[a.Of].Company; c != plan.None {
				needs = append(needs, object{plan.CreateCompany, c})
			}
		case plan.CreateDeal:
			needs = append(needs, object{plan.CreateContact, p.Deals[a.Of].Contact})
		case plan.MoveDeal, plan.CloseDeal:
			needs = append(needs, object{plan.CreateDeal, a.Of})
		case plan.MoveContact:
			needs = append(needs, object{plan.CreateContact, a.Of})
		case plan.WriteNote:
			needs = append(needs, object{plan.CreateContact, p.Notes[a.Of].Contact})
		case plan.CreateTask:
			needs = append(needs, object{plan.CreateContact, p.Tasks[a.Of].Contact})
		case plan.CompleteTask:
			needs = append(needs, object{plan.CreateTask, a.Of})
		case plan.CreateCompany:
		}
		for _, o := range needs {
			if !there[o] {
				t.Fatalf("action %d (%+v) needs %+v", n, a, o)
			}
		}
		there[object{a.Kind, a.Of}] = true
		if a.At.After(until) || a.At.Before(until.AddDate(0, 0, -plan.Days-1)) {
			t.Fatalf("action %d is at %s", n, a.At)
		}
	}
}

func TestAboutFourOfTenDealsAreWon(t *testing.T) {
	t.Parallel()
	won, closed := 0, 0
	for _, a := range plan.Make(1, 5000, until).Actions {
		if a.Kind == plan.CloseDeal {
			closed++
			if a.Won {
				won++
			}
		}
	}
	if percent := 100 * won / closed; closed < 300 || percent < 30 || percent > 50 {
		t.Errorf("%d of %d deals are won", won, closed)
	}
}

func TestAnAddressBelongsToOneContact(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, c := range plan.Make(1, 20000, until).Contacts {
		if used[c.Email] {
			t.Fatal(c.Email)
		}
		used[c.Email] = true
	}
}
