package steps

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
)

const maxSubject = 2000 // characters of the source

func (c *checker) checkEmail(at string, e *Email) {
	if e.Thread != Reply && e.Thread != NewThread {
		c.addProblem(at+"/thread", "not_allowed", "The thread is one of reply, new.")
	}
	if e.Auto && len(e.Variants) == 0 {
		c.addProblem(at+"/auto", "not_allowed", "A mail without variants has none to stop.")
	}
	if len(e.Variants) == 1 || len(e.Variants) > MaxVariants {
		c.addProblem(at+"/variants", "out_of_range", "There are no variants, or 2 to "+strconv.Itoa(MaxVariants)+".")
		return
	}
	// The parts of the mail itself may be left to the variants.
	if len(e.Variants) == 0 {
		c.checkSource(at, e, e.Source(""))
		return
	}

	seen := map[string]bool{}
	for i := range e.Variants {
		v := &e.Variants[i]
		of := at + "/variants/" + strconv.Itoa(i)
		switch {
		case !keyPattern.MatchString(v.Key):
			c.addProblem(of+"/key", "invalid_key", "A key has 1 to 40 lower case letters, digits, _ and -.")
		case seen[v.Key]:
			c.addProblem(of+"/key", "duplicate_key", "Another variant has this key.")
		}
		seen[v.Key] = true
		if v.Weight < 1 || v.Weight > 100 {
			c.addProblem(of+"/weight", "out_of_range", "The weight lies between 1 and 100.")
		}
		c.checkSource(of, e, e.Source(v.Key))
	}
}

func (c *checker) checkSource(at string, e *Email, s compose.Source) {
	if e.Thread == NewThread && strings.TrimSpace(s.Subject) == "" {
		c.addProblem(at+"/subject", "required", "An email that begins a thread needs a subject.")
	}
	if len([]rune(s.Subject)) > maxSubject {
		c.addProblem(at+"/subject", "too_long", "At most "+strconv.Itoa(maxSubject)+" characters are allowed.")
		return
	}
	_, err := compose.Parse(s)
	if bad, ok := errors.AsType[*compose.SourceError](err); ok {
		c.addProblem(at+bad.Pointer, "invalid_template", strings.ToUpper(bad.Msg[:1])+bad.Msg[1:]+".")
	}
}

func (c *checker) checkCondition(at string, cond *Condition) {
	if cond.Filter == nil {
		c.addProblem(at+"/filter", "required", "A condition needs a filter.")
		return
	}
	if path, reads := readsOpens(cond.Filter); reads {
		c.addProblem(at+"/filter"+path, "open_not_a_condition",
			"Opens are no condition, since mail programs open mails on their own; use replied or clicked.")
	}
	if cond.Within != nil {
		c.checkDelay(at+"/within", *cond.Within, true)
	}
}

// readsOpens reports whether a filter reads opens, and the JSON pointer to the first leaf that does.
func readsOpens(filter any) (path string, reads bool) {
	node, _ := filter.(map[string]any)
	field, _ := node["field"].(string)
	name := field[strings.LastIndexByte(field, '.')+1:]
	custom := strings.HasPrefix(field, "attributes.")
	if !custom && slices.Contains([]string{"open", "opened", "opens", "opened_at", "machine_opens"}, name) {
		return "/field", true
	}

	for _, group := range []string{"all", "any"} {
		parts, _ := node[group].([]any)
		for i, part := range parts {
			if path, reads := readsOpens(part); reads {
				return "/" + group + "/" + strconv.Itoa(i) + path, true
			}
		}
	}

	if node["not"] == nil {
		return "", false
	}

	path, reads = readsOpens(node["not"])
	return "/not" + path, reads
}

// checkTargets checks that the targets of the condition at position i exist.
func (c *checker) checkTargets(i int) {
	cond := c.list[i].Condition
	at := strconv.Itoa(i) + "/condition/"
	for name, target := range map[string]string{"then": cond.Then, "else": cond.Else} {
		if target != "" && target != End && Find(c.list, target) == nil {
			c.addProblem(at+name, "step_unknown", "There is no step with this key.")
		}
	}
}

// findCycle records a branch that leads back to a step of its own path, if there is one.
func (c *checker) findCycle() {
	const open, closed = 1, 2
	state := make([]int, len(c.list))
	var path []int
	var visit func(i int) bool
	visit = func(i int) bool {
		state[i], path = open, append(path, i)
		for _, next := range successors(c.list, i) {
			if state[next] == open {
				c.recordCycle(append(path[slices.Index(path, next):], next))
				return true
			}
			if state[next] == 0 && visit(next) {
				return true
			}
		}
		state[i], path = closed, path[:len(path)-1]
		return false
	}
	for i := range c.list {
		if state[i] == 0 && visit(i) {
			return
		}
	}
}

// recordCycle records the first branch of a cycle that leads to a step before it in the list. The path begins and ends
// with the same position.
func (c *checker) recordCycle(path []int) {
	for n, i := range path[:len(path)-1] {
		if path[n+1] > i {
			continue
		}
		branch := "else"
		if c.list[i].Condition.Then == c.list[path[n+1]].Key {
			branch = "then"
		}
		c.addProblem(strconv.Itoa(i)+"/condition/"+branch, "step_cycle", "This branch leads back to a step before it.")
		return
	}
}
