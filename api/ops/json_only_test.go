package ops_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/api/ops"
)

// changesOf returns the listener's JSON routes that change something, with a value for each parameter.
func (b *board) changesOf() (all [][2]string) {
	b.Helper()
	org := b.newOrgs(1)[0].String()
	for _, pattern := range b.listener.JSONRoutes() {
		method, path, _ := strings.Cut(strings.NewReplacer("{org}", org, "{id}", org, "{addon}", org, "{feature}",
			"members", "{$}", "").Replace(pattern), " ")
		if method != "GET" {
			all = append(all, [2]string{method, path})
		}
	}
	if len(all) < 15 {
		b.Fatalf("only %d routes change something", len(all))
	}
	return all
}

// as sends a body of a media type; "" is none.
func (b *board) as(media, method, path, body string) int {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:9090"
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	w := httptest.NewRecorder()
	b.listener.ServeHTTP(w, r)
	conforms(b.T, b.listener, r, w)
	return w.Code
}

func TestEveryChangeOfOperatorsIsTakenAsJSONAlone(t *testing.T) {
	t.Parallel()
	b := newBoard(t, withOrgs, func(o *ops.Options) { o.Worker = &slots{n: 1} })
	changes := b.changesOf()
	for _, action := range []string{
		":pause", "/archived_tasks:batch_run", "/archived_tasks:run_all", "/pending_tasks:batch_delete",
		"/active_tasks:cancel_all", "/retry_tasks/kind:x:run",
	} {
		changes = append(changes, [2]string{"POST", "/queues/api/queues/default" + action})
	}
	const plan = `{"plan":"agency_scale","reason":"pilot"}`
	for _, c := range changes {
		for _, media := range []string{
			"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain",
			"text/plain;application/json",
			"application/json-patch+json", "application", "",
		} {
			if got := b.as(media, c[0], c[1], plan); got != 415 {
				t.Errorf("%s %s as %q: %d, want 415", c[0], c[1], media, got)
			}
			if got := b.as(media, c[0], c[1], ""); media != "" && got != 415 {
				t.Errorf("%s %s without a body, as %q: %d, want 415", c[0], c[1], media, got)
			}
		}
		for _, media := range []string{"application/json", "Application/JSON; charset=utf-8"} {
			if got := b.as(media, c[0], c[1], plan); got == 415 {
				t.Errorf("%s %s as %q: 415", c[0], c[1], media)
			}
		}
	}
}

func TestAnEmptyReasonOfAnOperatorIsRefused(t *testing.T) {
	t.Parallel()
	b := newBoard(t, withOrgs)
	at := "/orgs/" + b.newOrgs(1)[0].String()
	job := "/jobs/" + b.org.String() + "/" + b.org.String()
	bodies := map[string]string{
		"POST " + at + "/resume":                                 "",
		"PUT " + at + "/plan":                                    `"plan":"agency_scale"`,
		"PUT " + at + "/rights/members":                          `"value":7`,
		"POST " + at + "/addons":                                 `"feature":"webhooks","amount":10`,
		"POST " + job + "/run":                                   "",
		"POST " + job + "/archive":                               "",
		"POST /jobs/drop":                                        `"filter":{"kind":"test.kind"}`,
		"POST /jobs/redrive":                                     `"filter":{"kind":"test.kind"},"rate":5`,
		"POST /jobs/pauses":                                      `"scope":"lane","name":"bulk"`,
		"PUT /jobs/weights/" + b.org.String():                    `"weight":7`,
		"DELETE " + at + "/rights/members?reason":                "",
		"DELETE " + at + "/addons/" + b.org.String() + "?reason": "",
		"DELETE " + job + "?reason":                              "",
		"DELETE /jobs/pauses?scope=lane&name=bulk&reason":        "",
	}
	bodies["POST "+at+"/suspend"] = ""
	for call, body := range bodies {
		method, path, _ := strings.Cut(call, " ")
		for _, blank := range []string{"", " ", `\t`, "\u2003"} {
			switch {
			case method != "DELETE":
				if body != "" {
					body += ","
				}
				b.want(422, method, path, "{"+body+`"reason":"`+blank+`"}`)
				body = strings.TrimSuffix(body, ",")
			case blank == "":
				b.want(422, method, path+"=", nil)
			default:
				b.want(422, method, path+"=%20%09", nil)
			}
		}
	}
	for _, body := range []string{`{"plan":"agency_scale"}`, `{"plan":"agency_scale","reason":null}`} {
		b.want(422, "PUT", at+"/plan", body)
	}
	var org struct{ Plan string }
	if b.read(at, &org); org.Plan != "trial" {
		t.Errorf("the org is on the plan %s", org.Plan)
	}
	b.want(200, "PUT", at+"/plan", `{"plan":"agency_scale","reason":" pilot "}`)
	if got := b.ask(`SELECT detail->>'reason' FROM audit_log WHERE action = 'plan.changed'`); got != "pilot" {
		t.Errorf("the reason in the audit log is %q", got)
	}
}
