package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// crmList is one list request and the limit of its p95. deep is the position of a second request: page 10,000 if there
// is one, else the middle of the list.
type crmList struct {
	name    string
	query   url.Values
	bar     time.Duration
	deep    int
	share   float64 // its share of the org's contacts: counted for pairs, else the service's estimate
	took    []time.Duration
	tookFar []time.Duration
	far     string // the cursor of the deep page
}

// deepest is the offset of page 10,000.
const deepest = 9_999 * 50

// crmLists measures lists of the big org through the API, in turns, with one caller at a time. The floor is a page by
// primary key in bare SQL, as the superuser, without row policies.
//
// Page 10,000 is not reached by paging. Its cursor is sealed here with the service's keyset, for the position that
// OFFSET finds in the database. The response is the same.
func crmLists(ctx context.Context, c *crm) error {
	lists, err := c.lists(ctx)
	if err != nil {
		return err
	}
	box, err := secret.Load(filepath.Join(c.dir, "home", "keyset.json"))
	if err != nil {
		return err
	}
	cl := newClients(c.api.addr, 1)
	for _, l := range lists {
		if err := c.locate(ctx, cl, box, l); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	floor := &crmList{name: "floor: a page by primary key in bare SQL"}
	const rounds, each = 20, 5
	for round := range rounds + 1 {
		for _, i := range rand.Perm(len(lists) + 1) {
			for range each {
				if i == len(lists) {
					took, err := c.floorPage(ctx)
					if err != nil {
						return err
					}
					floor.took = append(floor.took, took)
					continue
				}
				if err := c.ask(cl, lists[i], round > 0); err != nil {
					return fmt.Errorf("%s: %w", lists[i].name, err)
				}
			}
		}
	}
	return report(floor, lists)
}

func (c *crm) floorPage(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	rows, err := c.admin.Query(ctx, "SELECT * FROM contact WHERE org_id = $1 ORDER BY id DESC LIMIT 51", c.big.org)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
	}
	return time.Since(began), rows.Err()
}

// ask requests the first page and, if the list has one, the deep page.
func (c *crm) ask(cl clients, l *crmList, counts bool) error {
	for i, cursor := range []string{"", l.far} {
		if i == 1 && cursor == "" {
			continue
		}
		query := url.Values{}
		for k, v := range l.query {
			query[k] = v
		}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		began := time.Now()
		if err := cl.call(0, c.big.key, fasthttp.MethodGet, contactsPath+"?"+query.Encode(), nil, fasthttp.StatusOK,
			nil); err != nil {
			return err
		}
		took := time.Since(began)
		switch {
		case !counts:
		case i == 0:
			l.took = append(l.took, took)
		default:
			l.tookFar = append(l.tookFar, took)
		}
	}
	return nil
}

// page is the response of a list.
type page struct {
	Data []struct {
		ID        string
		CreatedAt time.Time `json:"created_at"`
	}
	HasMore bool `json:"has_more"`
	Total   *int64
}

// locate reads the length of the list and makes the cursor of its page 10,000, or of its middle if it is shorter.
func (c *crm) locate(ctx context.Context, cl clients, box *secret.Sealer, l *crmList) error {
	query := url.Values{"count": {"estimate"}, "limit": {"1"}}
	if strings.Contains(l.name, " + ") || strings.Contains(l.query.Get("q"), " ") {
		query.Set("count", "exact") // the planner's estimate is too inexact for two conditions
	}
	for k, v := range l.query {
		if k != "count" {
			query[k] = v
		}
	}
	var p page
	if err := cl.call(0, c.big.key, fasthttp.MethodGet, contactsPath+"?"+query.Encode(), nil, fasthttp.StatusOK,
		func(b []byte) error { return json.Unmarshal(b, &p) }); err != nil {
		return err
	}
	if p.Total == nil {
		return errors.New("no total in the response")
	}
	l.share = float64(*p.Total) / float64(c.contacts)
	if l.deep = int(min(*p.Total/2, deepest)); l.deep < 100 || l.query.Has("q") || l.query.Has("count") {
		return nil
	}
	key, i, err := c.place(ctx, l, float64(l.deep)/float64(*p.Total))
	if err != nil {
		return err
	}
	plain, err := json.Marshal(map[string]any{"k": key, "i": i})
	if err != nil {
		return err
	}
	scope := url.Values{}
	for k, v := range l.query {
		if k != "limit" && k != "count" && (k != "sort" || v[0] != "-created_at") {
			scope[k] = v
		}
	}
	about := "cursor/" + c.big.org.String() + contactsPath
	if len(scope) > 0 {
		about += "?" + scope.Encode()
	}
	sealed, err := box.Seal(plain, about)
	if err != nil {
		return err
	}
	l.far = base64.RawURLEncoding.EncodeToString(sealed)
	return nil
}

// place returns the position after that share of the list. It is exact for the sort orders of all contacts. For a
// filtered list it is that share of the time, over which its contacts are spread evenly.
func (c *crm) place(ctx context.Context, l *crmList, share float64) (key string, i id.ID, err error) {
	order := map[string][2]string{
		"":            {"c.created_at DESC, c.id DESC", "(extract(epoch FROM c.created_at) * 1000000)::bigint::text"},
		"created_at":  {"c.created_at, c.id", "(extract(epoch FROM c.created_at) * 1000000)::bigint::text"},
		"-lead_score": {"s.score DESC, s.contact_id DESC", "s.score::text"},
		"lead_score":  {"s.score, s.contact_id", "s.score::text"},
		"last_name":   {"c.last_name_folded, c.id", "c.last_name_folded"},
		"email":       {"c.email_folded, c.id", "c.email_folded"},
	}[l.query.Get("sort")]
	from := "FROM contact c WHERE c.org_id = $1 AND c.archived_at IS NULL"
	if order[1] == "s.score::text" {
		from = "FROM contact_score s JOIN contact c ON c.org_id = s.org_id AND c.id = s.contact_id WHERE s.org_id " +
			"= $1 AND NOT s.archived"
	}
	err = c.admin.QueryRow(ctx, "SELECT "+order[1]+", c.id "+from+" ORDER BY "+order[0]+" OFFSET $2 LIMIT 1",
		c.big.org, int(share*float64(c.contacts)*0.98)).Scan(&key, &i)
	return key, i, err
}

// lists returns the lists to measure.
func (c *crm) lists(ctx context.Context) ([]*crmList, error) {
	var company, rareCompany, updated string
	err := c.admin.QueryRow(ctx,
		`SELECT (SELECT id::text FROM bench_company WHERE org_id = $1 AND i = 0), (SELECT id::text
			FROM bench_company WHERE org_id = $1 ORDER BY i DESC OFFSET 5 LIMIT 1)`, c.big.org).
		Scan(&company, &rareCompany)
	if err != nil {
		return nil, err
	}
	var name, last, first string
	if err := c.admin.QueryRow(ctx,
		`SELECT name FROM bench_company WHERE org_id = $1 AND i = 25000 % (SELECT companies FROM bench_org
			WHERE id = $1)`, c.big.org).Scan(&name); err != nil {
		return nil, err
	}
	if err := c.admin.QueryRow(ctx,
		`SELECT last_name_folded, first_name_folded, to_char(created_at AT TIME ZONE 'UTC',
			'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM contact
		WHERE org_id = $1 AND archived_at IS NULL ORDER BY last_name_folded DESC OFFSET 1000 LIMIT 1`, c.big.org).
		Scan(&last, &first, &updated); err != nil {
		return nil, err
	}
	var out []*crmList
	add := func(bar int, name string, pairs ...string) {
		l := &crmList{name: name, query: url.Values{"limit": {"50"}}, bar: time.Duration(bar) * time.Millisecond}
		for i := 0; i < len(pairs); i += 2 {
			l.query.Set(pairs[i], pairs[i+1])
		}
		out = append(out, l)
	}
	leaf := func(field, op, value string) string {
		return `{"field":"` + field + `","op":"` + op + `","value":` + value + `}`
	}
	for _, s := range []string{"-created_at", "created_at", "-lead_score", "lead_score", "last_name", "email"} {
		if s == "-created_at" {
			add(25, "sort -created_at")
			continue
		}
		add(25, "sort "+s, "sort", s)
	}
	ago := func(d time.Duration) string { return time.Now().UTC().Add(-d).Format(time.RFC3339) }
	for _, p := range [][]string{
		{"stage", "lead"},
		{"stage", "other"},
		{"stage", "sql,opportunity"},
		{"tag", "newsletter"},
		{"tag", "vip"},
		{"tag", "board"},
		{"tag", "nobody's"},
		{"tag", "vip,partner"},
		{"segment", "q4-campaign"},
		{"segment", "hot"},
		{"company_id", company},
		{"company_id", rareCompany},
		{"owner_id", "00000000-0000-7000-8000-000000000003"},
		{"min_score", "10"},
		{"min_score", "95"},
		{"created_after", ago(240 * time.Hour)},
		{"created_before", ago(8400 * time.Hour)},
		{"archived", "true"},
	} {
		add(25, p[0]+"="+p[1], p...)
	}
	for _, f := range [][3]string{
		{"email", "eq", `"nobody@acme.example"`},
		{"email", "starts_with", `"bala"`},
		{"first_name", "eq", `"balan"`},
		{"first_name", "eq", `"pulana"`},
		{"last_name", "eq", `"` + last + `"`},
		{"last_name", "gt", `"zu"`},
		{"phone", "eq", `"+49 30 0012345"`},
		{"job_title", "eq", `"vp sales"`},
		{"job_title", "starts_with", `"assistant"`},
		{"source", "eq", `"podcast"`},
		{"source", "in", `["website","ads"]`},
		{"time_zone", "eq", `"utc"`},
		{"company_id", "exists", "false"},
		{"owner_id", "exists", "true"},
		{"stage", "ne", `"lead"`},
		{"tag", "starts_with", `"event"`},
		{"tag", "exists", "false"},
		{"segment", "eq", `"hot"`},
		{"lead_score", "gte", "95"},
		{"lead_score", "lt", "0.05"},
		{"created_at", "lt", `"` + ago(8400*time.Hour) + `"`},
		{"updated_at", "gte", `"` + ago(time.Hour) + `"`},
		{"updated_at", "gte", `"` + ago(1000*time.Hour) + `"`},
		{"attributes.plan", "eq", `"pro"`},
		{"attributes.plan", "eq", `"legacy"`},
		{"attributes.plan", "ne", `"free"`},
		{"attributes.seats", "gte", "990"},
		{"attributes.seats", "lt", "500"},
		{"attributes.renews_on", "gte", `"2026-12-25"`},
	} {
		add(25, "filter "+f[0]+" "+f[1]+" "+f[2], "filter", leaf(f[0], f[1], f[2]))
	}
	add(80, "stage + tag: mql, webinar", "stage", "mql", "tag", "webinar")
	add(80, "stage + tag: other, vip", "stage", "other", "tag", "vip")
	add(80, "tag + min_score: newsletter, 80", "tag", "newsletter", "min_score", "80")
	add(80, "tag + min_score: vip, 80", "tag", "vip", "min_score", "80")
	add(80, "company_id + stage: the largest, customer", "company_id", company, "stage", "customer")
	add(80, "attribute + stage: enterprise, customer", "stage", "customer", "filter",
		leaf("attributes.plan", "eq", `"enterprise"`))
	add(80, "attribute + stage: legacy, sql", "filter",
		`{"all":[`+leaf("attributes.plan", "eq", `"legacy"`)+`,`+leaf("stage", "eq", `"sql"`)+`]}`)
	add(80, "attribute + stage: seats >= 900, other", "stage", "other", "filter",
		leaf("attributes.seats", "gte", "900"))
	for _, q := range [][2]string{
		{"rare", last + "1"},
		{"rare last name", last},
		{"a common last name", "balan"},
		{"frequent prefix", "b"},
		{"frequent word", "example"},
		{"two words", "balan " + last},
		{"two frequent words", "balan gmail"},

		{"nobody", "xyzzy"},
		{"company", name},
		{"company of many", "gmbh"},
		{"company and name", "media balan"},
	} {
		add(80, "q: "+q[0], "q", q[1])
	}
	for _, q := range [][2]string{
		{"two common words without a common contact", "gmail example"},
		{"two common words, one of companies, without a common contact", "gmail gmbh"},
		{"two common words of companies without a common contact", "media gmbh"},
		{"two common words with few common contacts", "kelan lilan"},
		{"three common words without a common contact", "gmail balan example"},
		{"three common words with few common contacts", "ke lilan gmail"},
		{"a prefix of two letters and a common word, no contact", "la gmail"},
		{"a prefix of three letters and a common word, no contact", "gma example"},
		{"a prefix of three letters and a common word, few contacts", "lil kelan"},
		{"a common word and a rare one", "gmail " + last},
	} {
		add(80, "q: "+q[0], "q", q[1])
	}
	add(80, "q: two common words without a common contact, by last_name", "q", "gmail example", "sort", "last_name")
	add(80, "q: two common words with few common contacts, by -lead_score", "q", "kelan lilan", "sort", "-lead_score")
	add(80, "q: two common words without a common contact, and stage", "q", "gmail example", "stage", "customer")
	add(80, "q: frequent prefix by last_name", "q", "pu", "sort", "last_name")
	add(80, "q + stage", "q", "balan", "stage", "customer")
	for _, e := range [][]string{
		{},
		{"stage", "lead"},
		{"tag", "newsletter"},
		{"tag", "board"},
		{"tag", "vip", "min_score", "80"},
		{"min_score", "10"},
		{"filter", leaf("attributes.plan", "eq", `"pro"`)},
		{"filter", leaf("job_title", "contains", `"sale"`)},

		{"q", "b"},
		{"q", last},
		{"q", "balan gmail"},
		{"q", "gmbh"},
	} {
		add(10, "count=estimate "+strings.Join(e, " "), append(e, "count", "estimate", "limit", "1")...)
	}
	return out, nil
}
