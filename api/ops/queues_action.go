package ops

import (
	"net/http"
	"strings"
)

// dashboardAction is a change requested by the dashboard's page, by the routes of asynqmon v0.7.2.
type dashboardAction struct {
	queue string
	state string // pending, active, scheduled, retry, archived, completed; "" for the queue
	verb  string // run, archive, delete, cancel; for the queue pause, resume
	many  string // "" for one task, "batch" for the body's tasks, "all"
	task  string // id, if many is ""
}

// allowedVerbs returns the verbs allowed for tasks in a state.
func allowedVerbs(state string) string {
	switch state {
	case "pending":
		return "delete archive"
	case "scheduled", "retry":
		return "delete archive run"
	case "archived":
		return "delete run"
	case "completed":
		return "delete"
	case "active":
		return "cancel"
	default:
		return ""
	}
}

// readDashboardAction parses the path below queues/. It returns false for actions that it does not handle: groups,
// which contain no jobs, and routes that asynqmon does not have.
func readDashboardAction(method, path string) (dashboardAction, bool) {
	parts := strings.Split(path, "/")
	if len(parts) == 1 {
		name, verb, _ := cutLast(parts[0])
		return dashboardAction{queue: name, verb: verb},
			method == http.MethodPost && (verb == "pause" || verb == "resume")
	}

	w := dashboardAction{queue: parts[0]}
	list, many, bulk := strings.Cut(parts[1], ":")
	state, tasks := strings.CutSuffix(list, "_tasks")
	w.state = state
	wants := http.MethodPost
	switch {
	case !tasks || w.queue == "":
		return w, false
	case len(parts) == 2 && bulk:
		if verb, ok := strings.CutSuffix(many, "_all"); ok {
			w.verb = verb
			w.many = "all"
			if verb == "delete" {
				wants = http.MethodDelete
			}
		} else if w.verb, ok = strings.CutPrefix(many, "batch_"); ok {
			w.many = "batch"
		}
	case len(parts) == 3 && !bulk && method == http.MethodDelete:
		w.task = parts[2]
		w.verb = "delete"
		wants = http.MethodDelete
	case len(parts) == 3 && !bulk:
		w.task, w.verb, _ = cutLast(parts[2])
	}

	one := w.many == "" && w.task != ""

	return w,
		method == wants && (one || w.many != "") && w.verb != "" &&
			strings.Contains(" "+allowedVerbs(state)+" ", " "+w.verb+" ")
}

// cutLast cuts s at the last colon. Task ids contain a colon themselves.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
