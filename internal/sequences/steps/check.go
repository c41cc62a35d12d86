package steps

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
)

// Problem is an invalid member of a list of steps.
type Problem struct {
	Pointer string // without a slash at the start: 0/email/subject
	// required, not_allowed, duplicate_key, invalid_key, invalid_uuid, too_long, too_many, out_of_range,
	// invalid_template, invalid_characters, step_unknown, step_cycle, open_not_a_condition
	Code   string
	Detail string // for people
}

type checker struct {
	list     []Step
	problems []Problem
}

func (c *checker) addProblem(pointer, code, detail string) {
	c.problems = append(c.problems, Problem{pointer, code, detail})
}

// Check returns the problems of a complete list of steps; nil: none. It does not check what depends on the org: the
// filters of conditions and the values of updates.
func Check(list []Step) []Problem {
	c := &checker{list: list}
	if len(list) > Max {
		c.addProblem("", "too_many", "A sequence has at most "+strconv.Itoa(Max)+" steps.")
		return c.problems
	}

	seen := map[string]bool{}
	for i := range list {
		s := &list[i]
		at := strconv.Itoa(i) + "/"
		c.checkKey(at+"key", s.Key, seen)
		c.checkDelay(at+"delay", s.Delay, s.Kind == KindWait)
		c.checkContent(at, s)
	}

	for i := range list {
		if list[i].Condition != nil {
			c.checkTargets(i)
		}
	}

	if len(c.problems) == 0 {
		c.findCycle()
	}

	return c.problems
}

var keyPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

func (c *checker) checkKey(at, key string, seen map[string]bool) {
	switch {
	case !keyPattern.MatchString(key) || key == End:
		c.addProblem(at, "invalid_key", "A key has 1 to 40 lower case letters, digits, _ and -, and is not end.")
	case seen[key]:
		c.addProblem(at, "duplicate_key", "Another step has this key.")
	}
	seen[key] = true
}

// longest has the longest delay by its unit: about a year.
var longest = map[schedule.Unit]int{
	schedule.Minutes: 366 * 24 * 60, schedule.Hours: 366 * 24, schedule.Days: 366, schedule.BusinessDays: 262,
}

func (c *checker) checkDelay(at string, d schedule.Delay, needed bool) {
	most, ok := longest[d.Unit]
	switch {
	case !ok:
		c.addProblem(at+"/unit", "not_allowed", "The unit is one of minutes, hours, days, business_days.")
	case d.Value < 0 || d.Value > most:
		c.addProblem(at+"/value", "out_of_range", "The value lies between 0 and "+strconv.Itoa(most)+".")
	case needed && d.Value == 0:
		c.addProblem(at, "required", "This step needs a time to wait.")
	}
}

// checkContent checks that s has the member that its kind names, and no other, and what is in it.
func (c *checker) checkContent(at string, s *Step) {
	for _, m := range []struct {
		kind string
		has  bool
	}{
		{KindEmail, s.Email != nil},
		{KindTask, s.Task != nil},
		{KindCondition, s.Condition != nil},
		{KindUpdate, s.Update != nil},
		{KindWebhook, s.Webhook != nil},
	} {
		switch {
		case m.kind == s.Kind && !m.has:
			c.addProblem(at+m.kind, "required", "A step of the kind "+s.Kind+" needs this member.")
			return
		case m.kind != s.Kind && m.has:
			c.addProblem(at+m.kind, "not_allowed", "A step of the kind "+s.Kind+" has no such member.")
			return
		}
	}

	switch s.Kind {
	case KindEmail:
		c.checkEmail(at+"email", s.Email)
	case KindTask:
		c.checkLine(at+"task/title", s.Task.Title, form.Name)
		if !slices.Contains([]string{Todo, "call", "email", "message"}, s.Task.Type) {
			c.addProblem(at+"task/type", "not_allowed", "The type is one of todo, call, email, message.")
		}
		if s.Task.Assignee != nil && s.Task.Assignee.IsZero() {
			c.addProblem(at+"task/assignee", "invalid_uuid", "This is not a UUID.")
		}
	case KindCondition:
		c.checkCondition(at+"condition", s.Condition)
	case KindUpdate:
		c.checkUpdate(at+"update", s.Update)
	case KindWebhook:
		if s.Webhook.EndpointID.IsZero() {
			c.addProblem(at+"webhook/endpoint_id", "invalid_uuid", "This is not a UUID.")
		}
	case KindWait:
	default:
		c.addProblem(at+"kind", "not_allowed", "The kind is one of email, wait, task, condition, update, webhook.")
	}
}

func (c *checker) checkLine(at, s string, most int) {
	switch {
	case strings.TrimSpace(s) == "":
		c.addProblem(at, "required", "This field cannot be blank.")
	case len([]rune(s)) > most:
		c.addProblem(at, "too_long", "At most "+strconv.Itoa(most)+" characters are allowed.")
	case strings.ContainsFunc(s, form.NotInLine):
		c.addProblem(at, "invalid_characters", "Control characters are not allowed.")
	}
}

const maxTag = 64 // characters, as for contacts

func (c *checker) checkUpdate(at string, u *Update) {
	if len(u.Set)+len(u.AddTags)+len(u.RemoveTags) == 0 {
		c.addProblem(at, "required", "An update sets a field, or adds or removes a tag.")
	}
	for name, tags := range map[string][]string{"add_tags": u.AddTags, "remove_tags": u.RemoveTags} {
		for i, tag := range tags {
			c.checkLine(at+"/"+name+"/"+strconv.Itoa(i), tag, maxTag)
		}
	}
}
