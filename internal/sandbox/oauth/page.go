package oauth

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// listedOnPage is how many logins the page shows, newest first. Scripts get all of them.
const listedOnPage = 50

//go:embed page.html
var pageSource string

// view is the content of the page. Its JSON form is for scripts.
type view struct {
	Sandbox  bool                      `json:"sandbox"`
	Clock    time.Time                 `json:"clock"`
	Ahead    Seconds                   `json:"ahead"`
	Families []string                  `json:"families"`
	Counts   map[string]map[string]int `json:"counts"`
	Knobs    map[string]Knobs          `json:"knobs"`
	Faults   []*Fault                  `json:"faults"`
	Grants   []Grant                   `json:"grants"`
	Note     string                    `json:"-"`
	Shown    int                       `json:"-"`
}

// mountPage serves the page at Path, and its form at Path + "do".
func (s *Sandbox) mountPage() {
	shown := template.Must(template.New("page").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			raw, err := json.Marshal(v)
			return string(raw), err
		},
		"at": func(t *time.Time) string {
			if t == nil {
				return "never"
			}
			return t.UTC().Format(time.DateTime)
		},
	}).Parse(pageSource))
	s.routes.HandleFunc("GET "+Path+"{$}", func(w http.ResponseWriter, r *http.Request) {
		limit := listedOnPage
		if forScript(r) {
			limit = 0
		}

		v := view{
			Sandbox: true, Families: Families(), Note: r.URL.Query().Get("note"), Shown: listedOnPage,
			Grants: []Grant{}, Faults: []*Fault{},
		}
		err := s.updateState(r.Context(), func(tx *tx) {
			v.Clock, v.Ahead, v.Counts, v.Knobs = tx.now, tx.settings.Ahead, tx.readCounts(), tx.settings.Knobs
			v.Faults = append(v.Faults, tx.settings.Faults...)
			for _, l := range listRows[login](tx, "login", limit) {
				v.Grants = append(v.Grants, l.asGrant())
			}
		})
		if err != nil {
			http.Error(w, "the sandbox failed", http.StatusInternalServerError)
			return
		}

		if forScript(r) {
			writeAnswer(w, success(v))
			return
		}

		var out bytes.Buffer
		if err := shown.Execute(&out, v); err != nil {
			http.Error(w, "the sandbox failed", http.StatusInternalServerError)
			return
		}

		writeAnswer(w, success(page(out.Bytes())))
	})
	s.routes.HandleFunc("POST "+Path+"do", s.executeForm)
}

func forScript(r *http.Request) bool {
	return r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json")
}

// executeForm handles the form: do is "set" (family, and knobs as JSON), "strike" (fault as JSON), "clear", "advance"
// (by, a Go duration), "issue" (family, person, scope), "kill" (id, why) or "holder" (token). Scripts get JSON back.
func (s *Sandbox) executeForm(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form could not be read", http.StatusBadRequest)
		return
	}

	result, note, err := s.executeAction(r)
	switch {
	case forScript(r) && err != nil:
		writeAnswer(w, &answer{
			status: http.StatusBadRequest,
			body:   map[string]string{"error": err.Error()},
		})
	case forScript(r):
		writeAnswer(w, success(result))
	default:
		if err != nil {
			note = err.Error()
		}
		http.Redirect(w, r, Path+"?note="+url.QueryEscape(note), http.StatusSeeOther)
	}
}

func (s *Sandbox) executeAction(r *http.Request) (result any, note string, err error) {
	ctx := r.Context()
	form := r.PostForm
	result = map[string]bool{"done": true}
	switch form.Get("do") {
	case "set":
		var k Knobs
		if err = json.Unmarshal([]byte(form.Get("knobs")), &k); err == nil {
			err = s.Set(ctx, form.Get("family"), k)
			note = "The behaviour was set."
		}
	case "strike":
		var f Fault
		if err = json.Unmarshal([]byte(form.Get("fault")), &f); err == nil {
			err = s.Strike(ctx, f)
			note = "The fault was added."
		}
	case "outage":
		f := Fault{Family: form.Get("family"), Op: string(opToken)}
		if f.Status, err = strconv.Atoi(form.Get("status")); err == nil {
			f.Done = form.Get("done") != ""
			f.Times, _ = strconv.Atoi(form.Get("times"))
			err = s.Strike(ctx, f)
			note = "The fault was added."
		}
	case "clear":
		err = s.Clear(ctx)
		note = "All faults were cleared."
	case "advance":
		var by time.Duration
		if by, err = time.ParseDuration(form.Get("by")); err == nil {
			err = s.Advance(ctx, by)
			note = "The clock was advanced."
		}
	case "issue":
		result, err = s.Issue(ctx, form.Get("family"), form.Get("person"),
			splitList(form.Get("scope"))...)
		note = "The login was issued."
	case "holder":
		result, err = s.Holder(ctx, form.Get("token"))
	case "kill":
		why := form.Get("why")
		if why == "" {
			why = "revoked"
		}
		err = s.Kill(ctx, form.Get("id"), why)
		note = "The login was revoked."
	default:
		err = errUnknownAct
	}

	return result, note, err
}
