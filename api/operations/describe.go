package operations

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/events"
)

// Describe returns the description of an operation: its text, and the facts that follow from o. An operation without a
// text has no description.
func Describe(o httpx.Op) string {
	described := load().texts[o.ID].description
	if described == "" {
		return ""
	}
	facts := []string{caller(o)}
	if o.Feature != "" {
		facts = append(facts, "Without `"+o.Feature+"` in the plan this is 402 `feature_not_in_plan`.")
	}
	if announced := announcements(o); len(announced) > 0 {
		facts = append(facts, "May announce "+strings.Join(announced, ", ")+".")
	}
	return described + "\n\n" + strings.Join(facts, " ")
}

// caller returns the sentences about who may call o.
func caller(o httpx.Op) string {
	if o.Need.Role == "" {
		return "Needs no credential."
	}
	role := "the role `" + string(o.Need.Role) + "` or a higher one"
	if o.Need.Role == auth.Owner {
		role = "the role `owner`"
	}
	if o.Need.Role == auth.Viewer {
		role = "any role"
	}
	switch {
	case o.Need.RefusesStaff():
		return "Needs a user with " + role + ". API keys and the staff of an agency are refused."
	case o.Need.NoKeys:
		return "Needs a user with " + role + ". API keys are refused."
	case o.Need.Role == auth.Viewer:
		return "Every role may call it."
	}
	return "Needs " + role + "."
}

// announcements returns the types of the events that o may write, sorted.
func announcements(o httpx.Op) []string {
	var types []string
	for _, t := range events.Catalogue() {
		if slices.Contains(o.Writes, t.Name) {
			types = append(types, "`"+t.Name+"`")
		}
	}
	slices.Sort(types)
	return types
}
