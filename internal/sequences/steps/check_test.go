package steps_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

func mail(key string) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindEmail, Email: &steps.Email{Subject: "Hi", Text: "x"}}
}

func wait(key string) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindWait, Delay: schedule.Delay{Value: 1, Unit: schedule.Days}}
}

func branch(key, then, otherwise string) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindCondition, Condition: &steps.Condition{
		Filter: map[string]any{"field": "replied", "op": "eq", "value": true}, Then: then, Else: otherwise,
	}}
}

// content returns a step of a kind with the key a.
func content(kind string, change func(s *steps.Step)) []steps.Step {
	s := steps.Step{Key: "a", Kind: kind}
	change(&s)
	return []steps.Step{s}
}

func TestEveryRuleOfTheStepsIsChecked(t *testing.T) {
	t.Parallel()
	opened := func(filter map[string]any) steps.Step {
		s := branch("c", "", "")
		s.Condition.Filter = filter
		return s
	}
	leaf := func(field string) map[string]any { return map[string]any{"field": field, "op": "eq", "value": true} }
	for name, c := range map[string]struct {
		list []steps.Step
		want string // pointers with codes
	}{
		"good": {[]steps.Step{mail("a"), wait("b"), branch("c", "e", "end"), mail("d"), mail("e")}, ""},
		"none": {nil, ""},
		"keys": {
			[]steps.Step{mail("a"), mail("a"), mail("A"), mail("end"), mail(strings.Repeat("x", 41))},
			"1/key duplicate_key, 2/key invalid_key, 3/key invalid_key, 4/key invalid_key",
		},
		"no delay": {[]steps.Step{{Key: "a", Kind: steps.KindWait}}, "0/delay required"},
		"long delay": {
			content("wait", func(s *steps.Step) { s.Delay.Value = 367 }), "0/delay/value out_of_range",
		},
		"other kind": {[]steps.Step{{Key: "a", Kind: "fax"}}, "0/kind not_allowed"},
		"no content": {[]steps.Step{{Key: "a", Kind: "email"}}, "0/email required"},
		"two contents": {
			content("wait", func(s *steps.Step) { s.Delay.Value, s.Email = 1, &steps.Email{} }),
			"0/email not_allowed",
		},
		"unknown target": {[]steps.Step{branch("a", "b", "end")}, "0/condition/then step_unknown"},
		"itself":         {[]steps.Step{branch("a", "a", "end")}, "0/condition/then step_cycle"},
		"back": {
			[]steps.Step{mail("a"), mail("b"), branch("c", "end", "a")}, "2/condition/else step_cycle",
		},
		"back, but on": {
			[]steps.Step{branch("a", "d", "b"), branch("b", "end", "end"), mail("c"), branch("d", "b", "end")}, "",
		},
		"open": {[]steps.Step{opened(leaf("opened"))}, "0/condition/filter/field open_not_a_condition"},
		"nested open": {
			[]steps.Step{opened(map[string]any{
				"all": []any{leaf("replied"), map[string]any{"not": leaf("email.opened")}},
			})},
			"0/condition/filter/all/1/not/field open_not_a_condition",
		},
		"a field called opened": {[]steps.Step{opened(leaf("attributes.opened"))}, ""},
		"no template": {
			[]steps.Step{{Key: "a", Kind: "email", Email: &steps.Email{Subject: "{{ x", Text: "x"}}},
			"0/email/subject invalid_template",
		},
		"no body": {
			content("email", func(s *steps.Step) { s.Email = &steps.Email{Subject: "x"} }),
			"0/email/html invalid_template",
		},
		"no subject": {
			[]steps.Step{{Key: "a", Kind: "email", Email: &steps.Email{Text: "x", Thread: "new"}}},
			"0/email/subject required",
		},
		"variants": {
			[]steps.Step{{Key: "a", Kind: "email", Email: &steps.Email{Subject: "x", Variants: []steps.Variant{
				{Key: "a", Text: "x"}, {Key: "a", Text: "x", Weight: 101}, {Key: "c"},
			}}}},
			"0/email/variants/1/key duplicate_key, 0/email/variants/1/weight out_of_range, " +
				"0/email/variants/2/html invalid_template",
		},
		"one variant": {
			content("email", func(s *steps.Step) {
				s.Email = &steps.Email{Variants: []steps.Variant{{Key: "a", Text: "x"}}}
			}),
			"0/email/variants out_of_range",
		},
		"task": {
			[]steps.Step{{Key: "a", Kind: "task", Task: &steps.Task{Title: " ", Type: "fax"}}},
			"0/task/title required, 0/task/type not_allowed",
		},
		"empty update": {[]steps.Step{{Key: "a", Kind: "update", Update: &steps.Update{}}}, "0/update required"},
		"tags": {
			content("update", func(s *steps.Step) { s.Update = &steps.Update{AddTags: []string{"a", "b\n"}} }),
			"0/update/add_tags/1 invalid_characters",
		},
		"webhook": {
			content("webhook", func(s *steps.Step) { s.Webhook = &steps.Webhook{} }),
			"0/webhook/endpoint_id invalid_uuid",
		},
		"many": {slices.Repeat([]steps.Step{wait("a")}, steps.Max+1), " too_many"},
	} {
		steps.Complete(c.list)
		var got []string
		for _, p := range steps.Check(c.list) {
			got = append(got, p.Pointer+" "+p.Code)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestACheckedListEndsOnEveryPath walks random lists of conditions. A list without problems must end on every path, and
// one with step_cycle must have a path that does not.
func TestACheckedListEndsOnEveryPath(t *testing.T) {
	t.Parallel()
	cycles := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(8)
		targets := []string{"", steps.End}
		for i := range n {
			targets = append(targets, fmt.Sprint("s", i))
		}
		list := make([]steps.Step, n)
		for i := range list {
			list[i] = branch(fmt.Sprint("s", i), targets[r.IntN(len(targets))], targets[r.IntN(len(targets))])
			if r.IntN(3) == 0 {
				list[i] = wait(list[i].Key)
			}
		}
		steps.Complete(list)
		problems := steps.Check(list)
		if len(problems) > 1 || len(problems) == 1 && problems[0].Code != "step_cycle" {
			t.Fatalf("seed %d: %+v", seed, problems)
		}
		if endless := endless(list); endless != (len(problems) == 1) {
			t.Fatalf("seed %d: endless is %v, problems are %+v", seed, endless, problems)
		}
		cycles += len(problems)
	}
	if cycles < 300 || cycles > 2700 {
		t.Errorf("%d of 3000 lists have a cycle: the test proves little", cycles)
	}
}

// endless reports whether some path through the list is longer than the list.
func endless(list []steps.Step) bool {
	reached := map[string]bool{}
	for i := range list {
		reached[list[i].Key] = true
	}
	for range len(list) + 1 {
		next := map[string]bool{}
		for key := range reached {
			s := steps.Find(list, key)
			follow := []*steps.Step{steps.After(list, key)}
			if s.Condition != nil {
				follow = []*steps.Step{steps.Branch(list, s, true), steps.Branch(list, s, false)}
			}
			for _, f := range follow {
				if f != nil {
					next[f.Key] = true
				}
			}
		}
		reached = next
	}
	return len(reached) > 0
}

func TestAnEnrolmentLandsOnTheStepThatIsLeft(t *testing.T) {
	t.Parallel()
	from := []steps.Step{mail("a"), wait("b"), mail("c"), mail("d")}
	for _, c := range []struct {
		to     string
		at     string
		chosen map[string]string
		want   string
	}{
		{"abcd", "b", nil, "b"},
		{"dcba", "b", nil, "b"},
		{"acd", "b", nil, "c"},
		{"ad", "b", nil, "d"},
		{"a", "b", nil, ""},
		{"xa", "d", nil, ""},
		{"abcdx", "b", map[string]string{"b": "x"}, "x"},
		{"abcdx", "b", map[string]string{"b": "end", "c": "x"}, ""},
		{"abcd", "unknown", nil, ""},
	} {
		var to []steps.Step
		for _, key := range c.to {
			to = append(to, mail(string(key)))
		}
		if got := steps.Landing(from, to, c.at, c.chosen); got != c.want {
			t.Errorf("from %s to %s: %q, want %q", c.at, c.to, got, c.want)
		}
	}
}

func TestVariantsAreSharedOutByWeightAndStayTheSame(t *testing.T) {
	t.Parallel()
	s := mail("a")
	s.Email.Variants = []steps.Variant{{Key: "x", Weight: 1}, {Key: "y", Weight: 3}, {Key: "z", Weight: 4}}
	const n = 40_000
	counts, open := map[string]int{}, map[string]int{}
	for range n {
		e := id.New()
		got := s.Variant(e, nil)
		if again := s.Variant(e, nil); again != got {
			t.Fatalf("%s, then %s", got, again)
		}
		counts[got]++
		open[s.Variant(e, []string{"x", "z"})]++
	}
	for key, share := range map[string]int{"x": n / 8, "y": 3 * n / 8, "z": n / 2} {
		if d := counts[key] - share; d < -500 || d > 500 {
			t.Errorf("%s: %d of %d, want about %d", key, counts[key], n, share)
		}
	}
	if open["y"] != n {
		t.Errorf("with two stopped: %v", open)
	}
	if got := s.Variant(id.New(), []string{"x", "y", "z"}); got == "" {
		t.Error("with all stopped there is no variant")
	}
	if plain := mail("a"); plain.Variant(id.New(), nil) != "" {
		t.Error("a mail without variants has one")
	}
}
