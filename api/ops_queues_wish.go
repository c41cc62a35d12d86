package api

import (
	"net/http"
	"strings"
)

// wish is what the dashboard's page asks to be changed, by the routes of asynqmon v0.7.2.
type wish struct {
	queue string
	state string // of the tasks: pending, active, scheduled, retry, archived, completed; "" for the queue itself
	verb  string // run, archive, delete, cancel; pause, resume of the queue
	many  string // "" for one task, "batch" for those in the body, "all"
	task  string // of one
}

// verbs are what may be asked for tasks of a state.
func verbs(state string) string {
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

// readWish reads the path below queues/; false for what is no wish of ours to grant: groups, which no job is in,
// and what asynqmon does not have either.
func readWish(method, path string) (wish, bool) {
	parts := strings.Split(path, "/")
	if len(parts) == 1 {
		name, verb, _ := cutLast(parts[0])
		return wish{queue: name, verb: verb}, method == http.MethodPost && (verb == "pause" || verb == "resume")
	}
	w := wish{queue: parts[0]}
	list, many, bulk := strings.Cut(parts[1], ":")
	state, tasks := strings.CutSuffix(list, "_tasks")
	w.state = state
	wants := http.MethodPost
	switch {
	case !tasks || w.queue == "":
		return w, false
	case len(parts) == 2 && bulk:
		if verb, ok := strings.CutSuffix(many, "_all"); ok {
			w.verb, w.many = verb, "all"
			if verb == "delete" {
				wants = http.MethodDelete
			}
		} else if w.verb, ok = strings.CutPrefix(many, "batch_"); ok {
			w.many = "batch"
		}
	case len(parts) == 3 && !bulk && method == http.MethodDelete:
		w.task, w.verb, wants = parts[2], "delete", http.MethodDelete
	case len(parts) == 3 && !bulk:
		w.task, w.verb, _ = cutLast(parts[2])
	}
	one := w.many == "" && w.task != ""
	return w, method == wants && (one || w.many != "") && w.verb != "" && strings.Contains(" "+verbs(state)+" ", " "+w.verb+" ")
}

// cutLast cuts at the last colon; ids of tasks have one of their own.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
