package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// harvest returns ids in org A's rows of any table, at most three per column, which are representative.
func (s *service) harvest(org id.ID) []string {
	s.Helper()
	conn := testkit.Pgx(s, s.DB.URL)
	rows, err := conn.Query(s.Context(), `SELECT c.table_name, c.column_name FROM information_schema.columns c
		JOIN information_schema.columns o ON o.table_schema = 'public' AND o.table_name = c.table_name
		AND o.column_name = 'org_id'
		JOIN pg_class r ON r.relname = c.table_name AND r.relkind IN ('r', 'p') AND NOT r.relispartition
		WHERE c.table_schema = 'public' AND c.data_type = 'uuid' AND c.column_name <> 'org_id'`)
	if err != nil {
		s.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Column string }])
	if err != nil {
		s.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range columns {
		rows, err := conn.Query(s.Context(),
			fmt.Sprintf("SELECT DISTINCT %q::text FROM %q WHERE org_id = $1 AND %q IS NOT NULL ORDER BY 1 LIMIT 3",
				c.Column, c.Table, c.Column), org)
		if err != nil {
			s.Fatal(err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			s.Fatal(err)
		}
		for _, one := range ids {
			found[one] = true
		}
	}
	delete(found, id.ID{}.String())
	return slices.Sorted(maps.Keys(found))
}

// furnish fills an org through every route that creates, with bodies derived from the document.
func (s *service) furnish(c *caller) {
	s.Helper()
	for _, r := range s.App.Routes() {
		if r.Method != "POST" || strings.HasPrefix(r.Path, "/api/v1/auth/") || strings.Contains(r.Path, "{") ||
			r.Path == emailsPath {
			continue
		}
		got := c.do("POST", r.Path, s.example(r, 0), "Idempotency-Key", "furnish"+r.Path)
		if r.Path == "/white-label/connect/sales" { // needs a plan, and an account at the payment processor
			got.want(c, http.StatusPaymentRequired, "feature_not_in_plan")
			continue
		}
		if r.Status == 201 && got.Status != 201 {
			s.Errorf("POST %s: the example of the document is not taken: %d %s", r.Path, got.Status, got.Body)
		}
	}
	c.do("POST", emailsPath, map[string]any{
		"contact_id": c.first(contactsPath), "mailbox_id": c.first(boxesPath), "subject": "Hello", "text": "Good day",
	}).want(c, http.StatusCreated, "")
}

// operation returns a route's operation in the document.
func (s *service) operation(r api.Route) *openapi3.Operation {
	return s.spec.Paths.Find(r.Path).GetOperation(r.Method)
}

// example returns a body valid by the document, or nil for a route without one. It differs with n.
func (s *service) example(r api.Route, n int) any {
	op := s.operation(r)
	if op.RequestBody == nil || op.RequestBody.Value.Content["application/json"] == nil {
		return nil
	}
	body := sample("", op.RequestBody.Value.Content["application/json"].Schema.Value, n, true)
	if o, ok := body.(map[string]any); ok && r.Path == templatesPath {
		delete(o, "html") // a template has html or blocks, or text alone
		delete(o, "blocks")
		o["text"] = "Good day"
	}
	o, ok := body.(map[string]any)
	if !ok || r.Method != "POST" {
		return body
	}
	switch r.Path {
	case "/api/v1/crm/notes":
		o["company_id"] = id.New().String() // a note needs a subject
	case suppressionsPath:
		o["domain"] = fmt.Sprintf("suppressed%d.example", n) // or an email
	case sendingDomainsPath:
		o["domain"] = fmt.Sprintf("sender%d.example", n)
	case boxesPath:
		o["kind"] = "sandbox" // the others need a server or an account
	}
	return body
}

// wellKnown returns values of fields with rules that a schema cannot express.
var wellKnown = map[string]func(n int) any{
	"email":      func(n int) any { return fmt.Sprintf("person%d@example.test", n) },
	"from_email": func(n int) any { return fmt.Sprintf("sender%d@example.test", n) },
	"url":        func(n int) any { return fmt.Sprintf("https://93.184.216.34/hook%d", n) },
	"password":   func(n int) any { return fmt.Sprintf("correct horse %d battery", n) },
	"events":     func(int) any { return []any{"*"} },
	"stage":      func(int) any { return "lead" },
	"time_zone":  func(int) any { return "Europe/Berlin" },
	"key":        func(n int) any { return fmt.Sprintf("key_%d", n) },
	"attributes": func(int) any { return map[string]any{"shoe_size": 42} },
	"role":       func(int) any { return "viewer" },
	"plan":       func(int) any { return "solo_pro" },
	"from":       func(int) any { return time.Now().Add(-time.Hour) },
	"to":         func(int) any { return time.Now() },
}

// sample returns a value that matches the schema, with the required members or all.
func sample(name string, s *openapi3.Schema, n int, onlyRequired bool) any {
	if known, ok := wellKnown[name]; ok {
		return known(n)
	}
	switch {
	case len(s.OneOf) > 0:
		return sample(name, s.OneOf[0].Value, n, onlyRequired)
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is("object") || s.Type.Includes("object"):
		o := map[string]any{}
		for member, of := range s.Properties {
			if !onlyRequired && !of.Value.ReadOnly || slices.Contains(s.Required, member) {
				o[member] = sample(member, of.Value, n, onlyRequired)
			}
		}
		return o
	case s.Type.Includes("array"):
		return []any{sample("", s.Items.Value, n, true)}
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		if s.Min != nil {
			return *s.Min
		}
		return 1
	case s.Type.Includes("boolean"):
		return true
	}
	switch s.Format {
	case "uuid":
		return id.New().String()
	case "date-time":
		return "2026-01-02T03:04:05Z"
	case "date":
		return "2026-01-02"
	}
	text := fmt.Sprintf("Sample %d", n)
	for s.MinLength > uint64(len(text)) {
		text += "x"
	}
	return text
}

// TestAnotherOrgsIDsAreAsGoodAsNone calls every route as org B with every id of org A, in the path, in each query
// parameter, in each member of the body and as a cursor. The response must equal that for a random id byte for byte.
func TestAnotherOrgsIDsAreAsGoodAsNone(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	a, b := s.signup(), s.signup()
	s.furnish(a)
	a.as(auth.Member)
	theirs := s.harvest(a.Org)
	if len(theirs) < 8 {
		t.Fatalf("org A has but %d ids", len(theirs))
	}
	before := s.digest(a.Org)
	asked := 0
	routes := s.App.Routes()
	// Reads first: later, org B has rows of its own in which a free member, such as a company_id, holds an id of org A.
	reads := func(r api.Route) bool { return r.Method == http.MethodGet }
	routes = append(slices.DeleteFunc(slices.Clone(routes), func(r api.Route) bool { return !reads(r) }),
		slices.DeleteFunc(routes, reads)...)
	for _, r := range routes {
		if r.Role == "" {
			continue
		}
		for _, probe := range s.probes(r) {
			for _, one := range theirs {
				asked++
				random := id.New().String()
				got, want := probe(b, one), probe(b, random)
				if x, y := blank(got, one), blank(want, random); got.Status != want.Status || !bytes.Equal(x, y) {
					t.Errorf("%s %s tells org B that %s is somebody's:\n%d %s\na random id:\n%d %s", r.Method, r.Path,
						one, got.Status, x, want.Status, y)
				}
				echoed := bytes.ReplaceAll(got.Body, []byte(one), nil) // org B sent it, for example as a name
				if bytes.Contains(echoed, []byte(a.Org.String())) {
					t.Errorf("%s %s names org A", r.Method, r.Path)
				}
			}
		}
	}
	t.Logf("%d ids, %d comparisons", len(theirs), asked)
	if after := s.digest(a.Org); after != before {
		t.Errorf("org B changed org A:\n%s\n%s", before, after)
	}
}

// probes returns the ways to send a foreign id to a route.
func (s *service) probes(r api.Route) (all []func(*caller, string) answer) {
	op := s.operation(r)
	body := s.example(r, 1)
	if n := strings.Count(r.Path, "{"); n > 0 {
		all = append(all, func(c *caller, one string) answer {
			path := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(r.Path, one)
			if r.Method == "PATCH" {
				return c.do(r.Method, path, "{}")
			}
			return c.do(r.Method, path, body, "Idempotency-Key", "theirs")
		})
		return all
	}
	for _, p := range op.Parameters {
		if p.Value.In == "query" &&
			(p.Value.Name == "cursor" || p.Value.Schema.Value.Format == "uuid" ||
				strings.HasSuffix(p.Value.Name, "_id")) {
			all = append(all, func(c *caller, one string) answer {
				return c.do(r.Method, r.Path+"?"+p.Value.Name+"="+one, body)
			})
		}
	}
	if o, ok := body.(map[string]any); ok {
		members := op.RequestBody.Value.Content["application/json"].Schema.Value.Properties
		for name, of := range members {
			if of.Value.Format != "uuid" {
				continue
			}
			all = append(all, func(c *caller, one string) answer {
				with := maps.Clone(o)
				with[name] = one
				for _, address := range []string{"email", "from_email"} {
					if email, ok := with[address]; ok {
						with[address] = fmt.Sprintf("%v%s", id.New(), email)
					}
				}
				return c.do(r.Method, r.Path, with)
			})
		}
	}
	return all
}

var moving = regexp.MustCompile(`"[a-z_]*_at":"[^"]*"|"lead_score":[0-9.]+|[0-9a-f-]{36}person1@|"seq":\d+|` +
	`"position":"[0-9a-z]+"|"inbound_url":"[^"]*"`)

// blank removes what differs between any two requests: the id sent, other ids, and times.
func blank(got answer, sent string) []byte {
	b := bytes.ReplaceAll(got.Body, []byte(sent), []byte("SENT"))
	b = moving.ReplaceAll(b, []byte("MOVING"))
	return uuid.ReplaceAll(b, []byte("ID"))
}

// digest hashes all rows of an org, except those that background work may change.
func (s *service) digest(org id.ID) string {
	s.Helper()
	conn := testkit.Pgx(s, s.DB.URL)
	rows, err := conn.Query(s.Context(), `SELECT c.table_name FROM information_schema.columns c
		JOIN pg_class r ON r.relname = c.table_name AND r.relkind IN ('r', 'p') AND NOT r.relispartition
		WHERE c.table_schema = 'public' AND c.column_name = 'org_id' ORDER BY 1`)
	if err != nil {
		s.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.Fatal(err)
	}
	var out strings.Builder
	for _, table := range tables {
		var n int
		var sum string
		if err := conn.QueryRow(s.Context(),
			fmt.Sprintf(`SELECT count(*), coalesce(md5(string_agg(x::text, '' ORDER BY x::text)), '') FROM %q x
				WHERE org_id = $1`, table), org).Scan(&n, &sum); err != nil {
			s.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %d %s\n", table, n, sum)
	}
	return out.String()
}

// TestAForgottenOrgSeesNothing: row policies alone isolate orgs, even with a superuser's DATABASE_URL, as in testkit.
func TestAForgottenOrgSeesNothing(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	a, b := s.signup(), s.signup()
	s.furnish(a)
	var super bool
	conn := testkit.Pgx(t, s.DB.URL)
	if err := conn.QueryRow(t.Context(), "SELECT rolsuper FROM pg_roles WHERE rolname = session_user").
		Scan(&super); err != nil || !super {
		t.Fatalf("DATABASE_URL names no superuser: %v", err)
	}
	rows, err := conn.Query(t.Context(),
		`SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	seen := func(org id.ID, table string) (n int) {
		err := s.DB.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), fmt.Sprintf("SELECT count(*) FROM %q", table), nil, &n)
		})
		if postgres.Code(err) == "42501" {
			return 0 // the role has no rights
		}
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		return n
	}
	full := 0
	for _, table := range tables {
		if n := seen(id.ID{}, table); n != 0 {
			t.Errorf("%s shows %d rows to no org", table, n)
		}
		if n := seen(id.New(), table); n != 0 {
			t.Errorf("%s shows %d rows to an org that is not", table, n)
		}
		if seen(a.Org, table) > 0 {
			full++
			if n := s.count(fmt.Sprintf("%q WHERE org_id = $1", table), a.Org); seen(a.Org, table) != n {
				t.Errorf("%s shows org A %d rows, it has %d", table, seen(a.Org, table), n)
			}
		}
		if n, own := seen(b.Org, table), s.count(fmt.Sprintf("%q WHERE org_id = $1", table), b.Org); n != own {
			t.Errorf("%s shows org B %d rows, it has %d", table, n, own)
		}
	}
	if full < 4 {
		t.Errorf("only %d tables hold rows of org A: %v", full, tables)
	}
}

// TestThePermissionTable calls every route as every role, with a valid request if the document has one.
func TestThePermissionTable(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	owner := s.signup()
	people := map[string]*caller{
		"viewer": owner.as(auth.Viewer), "member": owner.as(auth.Member),
		"admin": owner.as(auth.Admin), "owner": owner.as(auth.Owner),
	}
	keys := map[string]*caller{
		"viewer": owner.key(auth.Viewer), "member": owner.key(auth.Member),
		"admin": owner.key(auth.Admin), "owner": owner.key(auth.Owner),
	}
	for _, r := range s.App.Routes() {
		path := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(r.Path, id.New().String())
		ask := func(c *caller) answer { return c.do(r.Method, path, s.example(r, 2)) }
		if r.Role == "" {
			if got := ask(s.stranger()); !r.Console && got.Status == 403 && got.code() == "forbidden" {
				t.Errorf("%s %s is public, but refuses: %s", r.Method, r.Path, got.Body)
			}
			continue
		}
		if strings.HasPrefix(r.Path, "/api/v1/auth/") { // these change the caller's own login
			ask(s.stranger()).want(t, 401, "unauthorized")
			continue
		}
		ask(s.stranger()).want(t, 401, "unauthorized")
		for role, c := range people {
			if got := ask(c); (got.Status == 403) == auth.Role(role).Includes(r.Role) {
				t.Errorf("%s %s as %s: %d %s", r.Method, r.Path, role, got.Status, got.Body)
			}
		}
		for role, c := range keys {
			allowed := auth.Role(role).Includes(r.Role) && !r.NoKeys
			if got := ask(c); (got.Status == 403) == allowed {
				t.Errorf("%s %s with a key of %s: %d %s", r.Method, r.Path, role, got.Status, got.Body)
			}
		}
	}
}
