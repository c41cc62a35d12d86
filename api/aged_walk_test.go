package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// rowOf names, by the beginning of a path, the SQL that finds the value of a path's placeholders in an org: a common row
// from the middle of the table.
var rowOf = map[string]string{
	"/api/v1/ads/accounts/":                 `SELECT id FROM social_account WHERE org_id = $1 AND kind = 'ads'`,
	"/api/v1/ai/score-model/versions/":      `SELECT 'learned-' || number FROM score_model WHERE org_id = $1`,
	"/api/v1/api-keys/":                     `SELECT id FROM api_key WHERE org_id = $1`,
	"/api/v1/broadcasts/":                   `SELECT id FROM broadcast WHERE org_id = $1 AND status = 'sent'`,
	"/api/v1/crm/companies/":                `SELECT id FROM company WHERE org_id = $1 AND archived_at IS NULL`,
	"/api/v1/crm/contacts/bulk/":            `SELECT id FROM contact_bulk WHERE org_id = $1`,
	"/api/v1/crm/contacts/exports/":         `SELECT id FROM contact_export WHERE org_id = $1`,
	"/api/v1/crm/contacts/imports/":         `SELECT id FROM contact_import WHERE org_id = $1`,
	"/api/v1/crm/contacts/":                 `SELECT contact_id FROM email WHERE org_id = $1 AND enrolment_id IS NOT NULL`,
	"/api/v1/crm/deals/":                    `SELECT id FROM deal WHERE org_id = $1 AND archived_at IS NULL`,
	"/api/v1/crm/emails/":                   `SELECT id FROM email WHERE org_id = $1`,
	"/api/v1/crm/fields/":                   `SELECT key FROM contact_field WHERE org_id = $1`,
	"/api/v1/crm/merges/":                   `SELECT id FROM contact_merge WHERE org_id = $1`,
	"/api/v1/crm/messages/":                 `SELECT id FROM message WHERE org_id = $1`,
	"/api/v1/crm/notes/":                    `SELECT id FROM note WHERE org_id = $1 AND archived_at IS NULL`,
	"/api/v1/crm/pipelines/":                `SELECT id FROM pipeline WHERE org_id = $1 AND is_default`,
	"/api/v1/crm/segments/":                 `SELECT id FROM segment WHERE org_id = $1`,
	"/api/v1/crm/tasks/":                    `SELECT id FROM task WHERE org_id = $1`,
	"/api/v1/crm/threads/":                  `SELECT id FROM thread WHERE org_id = $1`,
	"/api/v1/enrolments/":                   `SELECT id FROM enrolment WHERE org_id = $1`,
	"/api/v1/events/":                       `SELECT id FROM event WHERE org_id = $1`,
	"/api/v1/jobs/":                         `SELECT id FROM contact_import WHERE org_id = $1`,
	"/api/v1/mailboxes/":                    `SELECT id FROM mailbox WHERE org_id = $1`,
	"/api/v1/members/":                      `SELECT user_id FROM member WHERE org_id = $1`,
	"/api/v1/orgs/clients/":                 `SELECT id FROM client_org WHERE org_id = $1`,
	"/api/v1/sequences/{id}/batches/{batch": `SELECT id FROM enrolment_batch WHERE org_id = $1`,
	"/api/v1/sequences/{id}/moves/{move":    `SELECT id FROM enrolment_move WHERE org_id = $1`,
	"/api/v1/sequences/":                    `SELECT id FROM sequence WHERE org_id = $1 ORDER BY created_at LIMIT 1`,
	"/api/v1/social/accounts/":              `SELECT id FROM social_account WHERE org_id = $1 AND kind = 'social'`,
	"/api/v1/social/pending/":               `SELECT id FROM social_pending WHERE org_id = $1`,
	"/api/v1/suppressions/imports/":         `SELECT id FROM suppression_import WHERE org_id = $1`,
	"/api/v1/templates/":                    `SELECT id FROM template WHERE org_id = $1 AND archived_at IS NULL`,
	"/api/v1/webhook-deliveries/":           `SELECT id FROM webhook_delivery WHERE org_id = $1`,
	"/api/v1/webhooks/{id}/replays/{replay": `SELECT id FROM webhook_replay WHERE org_id = $1 ORDER BY endpoint_id, id LIMIT 1`,
	"/api/v1/webhooks/":                     `SELECT id FROM webhook_endpoint WHERE org_id = $1 ORDER BY id LIMIT 1`,
	"/billing/changes/":                     `SELECT id FROM plan_change WHERE org_id = $1`,
}

// valuesOf has the values of query parameters that the document does not list, by name. Those that begin with SELECT
// are found in the org.
var valuesOf = map[string][]string{
	"actor_id":       {`SELECT actor_id FROM audit_log WHERE org_id = $1`},
	"action":         {"contact.archive", "nothing.done"},
	"target_type":    {"contact"},
	"target_id":      {`SELECT target_id FROM audit_log WHERE org_id = $1`},
	"assignee_id":    {`SELECT assignee_id FROM task WHERE org_id = $1`},
	"author_id":      {`SELECT author_id FROM note WHERE org_id = $1`},
	"broadcast_id":   {`SELECT broadcast_id FROM email WHERE org_id = $1 AND broadcast_id IS NOT NULL`},
	"closed_after":   {"-20 days"},
	"closed_before":  {"-200 days"},
	"company_id":     {`SELECT company_id FROM contact WHERE org_id = $1 AND company_id IS NOT NULL ORDER BY email_folded`},
	"contact_id":     {`SELECT contact_id FROM email WHERE org_id = $1 AND enrolment_id IS NOT NULL`},
	"created_after":  {"-2 days", "-390 days"},
	"created_before": {"-2 days", "-390 days"},
	"sent_after":     {"-2 days", "-390 days"},
	"sent_before":    {"-2 days", "-390 days"},
	"due_after":      {"-2 days"},
	"due_before":     {"-300 days", "-1 days"},
	"deal_id":        {`SELECT deal_id FROM note WHERE org_id = $1 AND deal_id IS NOT NULL`},
	"domain":         {`SELECT domain FROM company WHERE org_id = $1`},
	"email":          {`SELECT address FROM suppression WHERE org_id = $1`},
	"enrolment_id":   {`SELECT enrolment_id FROM email WHERE org_id = $1 AND enrolment_id IS NOT NULL`},
	"event_type":     {"contact.updated", "contact.purged"},
	"type":           {"contact.updated", "contact.purged"},
	"types":          {"contact.updated"},
	"mailbox_id":     {`SELECT id FROM mailbox WHERE org_id = $1 ORDER BY id LIMIT 1`},
	"max_amount":     {"1000"},
	"min_amount":     {"900000"},
	"min_score":      {"50", "92"},
	"owner_id":       {`SELECT owner_id FROM deal WHERE org_id = $1`},
	"pipeline_id":    {`SELECT id FROM pipeline WHERE org_id = $1 AND is_default`},
	"stage_id":       {`SELECT id FROM pipeline_stage WHERE org_id = $1 AND kind = 'open'`},
	"platform":       {"facebook"},
	"q":              {"ba", "balan", "gmail bal", "zz"},
	"reason":         {"suppressed"},
	"segment":        {"segment-0", "segment-1", "segment-2", "segment-3"},
	"stage":          {"lead", "customer", "other"},
	"status":         {"scheduled", "sent", "failed"},
	"step":           {"s1"},
	"tag":            {"newsletter", "vip", "board", "nobody"},
	"webhook_id":     {`SELECT id FROM webhook_endpoint WHERE org_id = $1 ORDER BY id LIMIT 1`},
	"archived":       {"true"},
	"lifted":         {"true"},
	"from":           {"-20 days"},
	"to":             {"-1 days"},
}

// contactFilters are values of the contact list's parameter filter: each operator, and conditions that correlate.
var contactFilters = []string{
	`{"field":"tag","op":"ne","value":"newsletter"}`,
	`{"field":"stage","op":"ne","value":"lead"}`,
	`{"field":"stage","op":"in","value":["lead","other"]}`,
	`{"field":"email","op":"contains","value":"zoovaz"}`,
	`{"field":"last_name","op":"contains","value":"mann"}`,
	`{"field":"last_name","op":"starts_with","value":"ba"}`,
	`{"field":"email","op":"starts_with","value":"balan"}`,
	`{"field":"phone","op":"exists","value":false}`,
	`{"field":"attributes.plan","op":"eq","value":"pro"}`,
	`{"field":"attributes.plan","op":"ne","value":"free"}`,
	`{"field":"attributes.seats","op":"gte","value":900}`,
	`{"field":"attributes.renews_on","op":"exists","value":true}`,
	`{"field":"lead_score","op":"lt","value":3}`,
	`{"all":[{"field":"stage","op":"eq","value":"lead"},{"field":"tag","op":"eq","value":"webinar"},` +
		`{"field":"attributes.plan","op":"eq","value":"pro"}]}`,
	`{"any":[{"field":"tag","op":"eq","value":"vip"},{"field":"stage","op":"eq","value":"evangelist"}]}`,
	`{"not":{"field":"tag","op":"eq","value":"newsletter"}}`,
}

// noReads are GET operations that the walk leaves out: they answer without reading records, or never end.
var noReads = []string{
	"/.well-known/", "/api/v1/events/stream", "/api/v1/files/", "/oauth/", "/t/", "/white-label/brand",
	"/white-label/connect/", "/white-label/logo", "/api/v1/event-types", "/billing/plans-with-features",
	"/api/v1/ai/score-model/versions/{version}", "/billing/invoices",
}

// mostValues is the length of an enumeration from which valuesOf has the values that are tried.
const mostValues = 12

// agedRead is one request of the walk.
type agedRead struct {
	// name is the operation's path with the parameters as the walk has them: the same in each org.
	name string
	path string
}

// agedWalk makes the reads of an org.
type agedWalk struct {
	*service
	sql *pgx.Conn
	org aged.Org
	// token is that of an owner: API keys may not read all.
	token string
}

// value returns a value of valuesOf in the org, "" if there is none.
func (w *agedWalk) value(of string) string {
	w.Helper()
	if days, ok := strings.CutSuffix(of, " days"); ok {
		age, err := time.ParseDuration(strings.TrimPrefix(days, "-") + "h")
		if err != nil {
			w.Fatal(err)
		}
		return time.Now().UTC().Add(-24 * age).Format(time.RFC3339)
	}
	if !strings.HasPrefix(of, "SELECT") {
		return of
	}
	var got string
	err := w.sql.QueryRow(w.Context(), `WITH x (v) AS (`+of+`), y AS (SELECT v::text, row_number() OVER () AS n,
		count(*) OVER () AS m FROM x) SELECT v FROM y WHERE n = m / 2 + 1`, w.org.ID).Scan(&got)
	if err != nil && err != pgx.ErrNoRows { //nolint:errorlint // as it is
		w.Fatalf("%s: %v", of, err)
	}
	return got
}

// located fills in the placeholders of a path; ok is false if the org has no such row.
func (w *agedWalk) located(path string) (out string, ok bool) {
	for strings.Contains(path, "{") {
		from := strings.Index(path, "{")
		to := from + strings.Index(path[from:], "}")
		begins := path[:from]
		of, known := rowOf[begins]
		for key, sql := range rowOf {
			if strings.Contains(key, "{") && sameShape(path[:to], key) {
				of, known = sql, true
			}
		}
		if !known {
			w.Fatalf("rowOf has nothing for %s", path)
		}
		value := w.value(of)
		if value == "" {
			return "", false
		}
		path = path[:from] + value + path[to+1:]
	}
	return path, true
}

// sameShape reports whether a path whose first placeholder was filled in is the one that key names.
func sameShape(path, key string) bool {
	at := strings.Index(key, "{id}")
	return at >= 0 && len(path) > at+36 && path[:at] == key[:at] && path[at+36:] == key[at+4:]
}

// reads returns all reads of the org: each operation bare, with each value of each parameter, with each of these in each
// order, and for lists the second page.
func (w *agedWalk) reads() []agedRead {
	w.Helper()
	var out []agedRead
	for _, path := range slices.Sorted(func(yield func(string) bool) {
		for path := range w.spec.Paths.Map() {
			if !yield(path) {
				return
			}
		}
	}) {
		op := w.spec.Paths.Find(path).Get
		if op == nil || slices.ContainsFunc(noReads, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		at, ok := w.located(path)
		if !ok {
			continue
		}
		add := func(query ...string) {
			q, shown := url.Values{}, ""
			for pair := range slices.Chunk(query, 2) {
				q.Set(pair[0], w.value(pair[1]))
				shown += "&" + pair[0] + "=" + strings.TrimPrefix(pair[1], "SELECT ")
			}
			for _, v := range q {
				if v[0] == "" {
					return
				}
			}
			name := path
			if shown != "" {
				name += "?" + shortened(shown[1:])
				at := at + "?" + q.Encode()
				out = append(out, agedRead{name: name, path: at})
				return
			}
			out = append(out, agedRead{name: name, path: at})
		}
		var orders []string
		var filters [][2]string
		for _, p := range op.Parameters {
			if p.Value.In != "query" || slices.Contains([]string{"limit", "cursor", "include_archived"}, p.Value.Name) {
				continue
			}
			values := valuesOf[p.Value.Name]
			if enum := p.Value.Schema.Value.Enum; len(enum) > 0 && len(enum) <= mostValues {
				values = nil
				for _, v := range enum {
					values = append(values, fmt.Sprint(v))
				}
			}
			if p.Value.Name == "filter" {
				values = contactFilters
			}
			if p.Value.Name == "sort" {
				orders = values
				continue
			}
			if len(values) == 0 {
				w.Errorf("valuesOf has nothing for %s of %s", p.Value.Name, path)
			}
			for _, v := range values {
				filters = append(filters, [2]string{p.Value.Name, v})
			}
		}
		if path != "/api/v1/search" {
			add()
		}
		for _, f := range filters {
			add(f[0], f[1])
		}
		for _, order := range orders {
			add("sort", order)
			for _, f := range filters {
				if f[0] != "count" {
					add(f[0], f[1], "sort", order)
				}
			}
		}
	}
	return out
}

// shortened is a name's part without the SQL of its values.
func shortened(shown string) string {
	parts := strings.Split(shown, "&")
	for i, p := range parts {
		if from := strings.Index(p, " FROM "); from > 0 {
			parts[i] = p[:strings.Index(p, "=")+1] + "ID"
		}
	}
	return strings.Join(parts, "&")
}

// get sends one read.
func (w *agedWalk) get(path string) (int, []byte) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.URL+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	res, err := keepAlive.Do(req)
	if err != nil {
		w.Fatalf("%s: %v", path, err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatalf("%s: %v", path, err)
	}
	return res.StatusCode, b
}

