package api_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/contactimportundo"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

const importsPath, exportsPath = "/api/v1/crm/contacts/imports", "/api/v1/crm/contacts/exports"

// form returns a multipart body and its Content-Type. parts are pairs of name and content; a part called file has a
// file name.
func form(t testing.TB, parts ...string) (body []byte, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for pair := range slices.Chunk(parts, 2) {
		var p io.Writer
		var err error
		if pair[0] == "file" {
			p, err = w.CreateFormFile("file", `C:\people.csv`)
		} else {
			p, err = w.CreateFormField(pair[0])
		}
		if err == nil {
			_, err = io.WriteString(p, pair[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.FormDataContentType()
}

// send sends an import with these parts.
func (c *caller) send(headers []string, parts ...string) answer {
	c.Helper()
	body, kind := form(c, parts...)
	return c.do("POST", importsPath, body, append([]string{"Content-Type", kind}, headers...)...)
}

// workFiles runs file jobs until none are left.
func (s *service) workFiles() {
	s.Helper()
	job := contactimport.Job{Plans: entitlementsync.Standard(), Model: s.App.Scores.In, Log: testkit.Log(s)}
	handlers := []queue.Handler{
		job.Handler(), contactimportundo.Job{Import: job}.Handler(),
		contactexport.Job{Log: testkit.Log(s)}.Handler(),
	}
	for ran := true; ran; {
		ran = false
		for _, h := range handlers {
			rows, _ := testkit.Pgx(s, s.DB.URL).Query(s.Context(),
				`DELETE FROM job WHERE kind = $1 RETURNING id, org_id, kind, args`, h.Kind)
			all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c queue.Claimed, err error) {
				c.Attempt, c.MaxAttempts = 1, 8
				return c, row.Scan(&c.ID, &c.Org, &c.Kind, &c.Raw)
			})
			for i := range all {
				ran = true
				if err == nil {
					err = s.DB.App.Tx(s.Context(), all[i].Org, func(tx *postgres.Tx) error {
						return h.Tx(s.Context(), tx, &all[i])
					})
				}
			}
			if err != nil {
				s.Fatal(err)
			}
		}
	}
}

type importBody struct {
	ID, Status string
	FileName   *string `json:"file_name"`
	Mapping    map[string]*string
	DryRun     bool    `json:"dry_run"`
	Total      int     `json:"rows_total"`
	Created    int     `json:"rows_created"`
	Failed     int     `json:"rows_failed"`
	ErrorsURL  *string `json:"errors_url"`
	Undo       *struct{ Status string }
}

// download requests a link without a credential.
func (s *service) download(link *string) answer {
	s.Helper()
	if link == nil {
		s.Fatal("there is no link")
	}
	return s.stranger().do("GET", strings.TrimPrefix(*link, s.Deps.PublicURL), nil)
}

func TestAnImportIsTakenWorkedAndUndone(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	got := c.send(nil, "file", "Mail,First name,Last name,Shoe\na@x.test,A,B,42\nnone,A,B,43\n", "mapping",
		`{"Mail":"email","Shoe":"attributes.size"}`).want(t, 202, "")
	var i importBody
	got.into(t, &i)
	at := got.Header.Get("Location")
	if at != importsPath+"/"+i.ID || i.Status != "queued" || i.Total != 2 || *i.FileName != "people.csv" ||
		*i.Mapping["Shoe"] != "attributes.size" {
		t.Errorf("%s %s", at, got.Body)
	}
	queued := c.do("GET", at, nil).want(t, 200, "")
	c.workFiles()
	done := c.do("GET", at, nil).want(t, 200, "")
	done.into(t, &i)
	if i.Status != "completed" || i.Created != 1 || i.Failed != 1 ||
		queued.Header.Get("ETag") == done.Header.Get("ETag") {
		t.Errorf("%s %s", done.Header.Get("ETag"), done.Body)
	}
	file := c.download(i.ErrorsURL).want(t, 200, "")
	if want := "row,code,detail,Mail,First name,Last name,Shoe\n3,invalid_email,email: This is not an email " +
		"address.,none,A,B,43\n"; string(file.Body) != want {
		t.Errorf("%s", file.Body)
	}
	if got := file.Header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="failed-rows-`) {
		t.Error(got)
	}
	c.do("GET", "/api/v1/crm/contacts?q=a@x.test", nil).want(t, 200, "")
	var all struct{ Data []importBody }
	c.do("GET", importsPath, nil).want(t, 200, "").into(t, &all)
	if len(all.Data) != 1 || all.Data[0].ID != i.ID {
		t.Errorf("%+v", all)
	}
	c.as(auth.Viewer).do("POST", at+"/undo", nil).want(t, 403, "forbidden")
	c.do("POST", at+"/undo", nil).want(t, 202, "").into(t, &i)
	if i.Undo == nil || i.Undo.Status != "queued" {
		t.Errorf("%+v", i)
	}
	c.workFiles()
	c.do("GET", at, nil).into(t, &i)
	if i.Undo.Status != "completed" || c.count("contact WHERE archived_at IS NULL") != 0 {
		t.Errorf("%+v", i)
	}
}

func TestWhatIsNoImportIsRefusedAndNothingIsKept(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	const file = "email,a/b\na@x.test,1\n"
	for name, x := range map[string]struct {
		parts  []string
		status int
		code   string
		field  string
	}{
		"no file":      {[]string{"dry_run", "true"}, 422, "validation_failed", "#/file required"},
		"empty file":   {[]string{"file", ""}, 422, "validation_failed", "#/file required"},
		"twice":        {[]string{"file", file, "file", file}, 422, "validation_failed", "#/file duplicate"},
		"unknown part": {[]string{"file", file, "x", "y"}, 422, "validation_failed", "#/x unknown_field"},
		"dry_run": {
			[]string{"file", file, "dry_run", "yes"},
			422, "validation_failed",
			"#/dry_run invalid_type",
		},
		"mapping no JSON": {
			[]string{"file", file, "mapping", "{"},
			422, "validation_failed",
			"#/mapping invalid_type",
		},
		"mapping no map": {
			[]string{"file", file, "mapping", "[]"},
			422, "validation_failed",
			"#/mapping invalid_type",
		},
		"unknown column": {
			[]string{"mapping", `{"x":"email"}`, "file", file},
			422, "validation_failed",
			"#/mapping/x unknown_column",
		},
		"unknown field": {
			[]string{"file", file, "mapping", `{"a/b":"lead_score"}`},
			422, "validation_failed",
			"#/mapping/a~1b unknown_field",
		},
		"same field": {
			[]string{"file", file, "mapping", `{"a/b":"email","email":"email"}`},
			422,
			"validation_failed", "#/mapping/a~1b duplicate_field",
		},
		"no email": {
			[]string{"file", file, "mapping", `{"email":null}`},
			422, "validation_failed",
			"#/mapping required",
		},
		"never closed": {
			[]string{"file", "email\n\"" + strings.Repeat("x", 3<<20)},
			422, "validation_failed",
			"#/file record_too_long",
		},
		"mapping too long": {
			[]string{"file", file, "mapping", strings.Repeat(" ", 300<<10)},
			422,
			"validation_failed", "#/mapping too_long",
		},
	} {
		if got := c.send(nil, x.parts...).want(t, x.status, x.code); got.field() != x.field {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	c.do("POST", importsPath, "{}").want(t, 415, "unsupported_media_type")
	c.do("POST", importsPath, "x", "Content-Type", "multipart/form-data").want(t, 415, "unsupported_media_type")
	body, kind := form(t, "file", file)
	c.do("POST", importsPath, body, "Content-Type", kind, "Content-Encoding", "gzip").
		want(t, 415, "unsupported_media_type")
	c.do("POST", importsPath, body[:len(body)-10], "Content-Type", kind).want(t, 400, "bad_request")
	c.as(auth.Viewer).do("POST", importsPath, body, "Content-Type", kind).want(t, 403, "forbidden")
	for _, table := range []string{"contact_import", "contact_import_block", "job"} {
		if n := c.count(table); n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
}

// A body with a too large Content-Length is refused before it arrives. An aborted one leaves nothing.
func TestAnUploadIsHeldToItsLimitAndLeavesNothingWhenItBreaks(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	for _, length := range []int64{512<<20 + 1, 4 << 20} {
		r, w := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+importsPath, r)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = length
		req.Header.Set("Authorization", "Bearer "+c.Token)
		req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		go func() {
			_, _ = io.WriteString(w,
				"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.csv\"\r\n\r\nemail,first_name\n"+
					strings.Repeat("a@x.test,b\n", 5000))
			if length == 4<<20 {
				w.CloseWithError(io.ErrUnexpectedEOF)
			}
		}()
		res, err := http.DefaultClient.Do(req)
		if length > 512<<20 {
			if err != nil || res.StatusCode != 413 {
				t.Errorf("%v %v", res, err)
			}
		} else if err == nil {
			t.Errorf("%d", res.StatusCode)
		}
		if err == nil {
			_ = res.Body.Close()
		}
	}
	for end := time.Now().Add(20 * time.Second); c.count("contact_import")+c.count("contact_import_block") > 0; {
		if time.Now().After(end) {
			t.Fatal("a broken upload is kept")
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestAnUploadWithAKeyActsOnce(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	key := []string{"Idempotency-Key", "k"}
	const file = "email,first_name,last_name\na@x.test,A,B\n"
	first := c.send(key, "file", file).want(t, 202, "")
	again := c.send(key, "file", file).want(t, 202, "") // with another boundary
	if !bytes.Equal(first.Body, again.Body) || again.Header.Get("Idempotent-Replayed") != "true" ||
		first.Header.Get("Location") != again.Header.Get("Location") {
		t.Errorf("%s\n%s", first.Body, again.Body)
	}
	c.send(key, "file", file+"b@x.test,A,B\n").want(t, 422, "idempotency_mismatch")
	c.send(key, "file", file, "dry_run", "true").want(t, 422, "idempotency_mismatch")
	if c.count("contact_import") != 1 || c.count("contact_import_block") != 1 || c.count("job") != 1 {
		t.Error("it acted more than once")
	}
}

func TestAnExportIsMadeAndFetchedByItsLink(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	c.send(nil, "file", "email,first_name,last_name,stage\na@x.test,A,B,lead\nb@x.test,B,B,customer\n").want(t, 202, "")
	c.workFiles()
	var e struct {
		ID, Status string
		Filter     any
		Rows       int
		Link       *string `json:"download_url"`
	}
	where := map[string]any{"field": "stage", "op": "eq", "value": "customer"}
	got := c.as(auth.Viewer).do("POST", exportsPath,
		map[string]any{"format": "csv", "filter": where, "fields": []string{"email", "stage"}}, "Idempotency-Key",
		"k").want(t, 202, "")
	got.into(t, &e)
	if e.Status != "queued" || e.Link != nil || fmt.Sprint(e.Filter) != fmt.Sprint(where) {
		t.Errorf("%s", got.Body)
	}
	at := got.Header.Get("Location")
	c.workFiles()
	done := c.do("GET", at, nil).want(t, 200, "")
	done.into(t, &e)
	file := c.download(e.Link).want(t, 200, "")
	if e.Rows != 1 || string(file.Body) != "email,stage\nb@x.test,customer\n" ||
		file.Header.Get("Content-Length") != fmt.Sprint(len(file.Body)) {
		t.Errorf("%s: %s %v", done.Body, file.Body, file.Header)
	}
	head := c.stranger().do("HEAD", strings.TrimPrefix(*e.Link, c.Deps.PublicURL), nil).want(t, 200, "")
	if head.Header.Get("Content-Length") != fmt.Sprint(len(file.Body)) {
		t.Errorf("%v", head.Header)
	}
	// Another file's token, another kind of file, and a changed bit are invalid links, as is the link of a deleted
	// file.
	token := []byte((*e.Link)[strings.LastIndex(*e.Link, "/")+1:])
	for n := range token {
		other := bytes.Clone(token)
		if other[n]++; other[n] == '[' || other[n] == '{' || other[n] == ':' || other[n] == '.' || other[n] == '`' {
			other[n] = 'A'
		}
		c.stranger().do("GET", "/api/v1/files/"+string(other), nil).want(t, 404, "not_found")
	}
	c.stranger().do("GET", "/api/v1/files/x", nil).want(t, 404, "not_found")
	c.sql(`UPDATE contact_export SET expires_at = now()`)
	c.download(e.Link).want(t, 404, "not_found")

	var nd struct {
		ID   string
		Link *string `json:"download_url"`
	}
	at = c.do("POST", exportsPath, map[string]any{"format": "ndjson", "fields": []string{"email", "tag"}}).
		want(t, 202, "").Header.Get("Location")
	c.workFiles()
	c.do("GET", at, nil).into(t, &nd)
	if file := c.download(nd.Link); string(file.Body) !=
		"{\"email\":\"a@x.test\",\"tag\":[]}\n{\"email\":\"b@x.test\",\"tag\":[]}\n" {
		t.Errorf("%s", file.Body)
	}
	for _, x := range []struct {
		body   any
		status int
		code   string
		field  string
	}{
		{map[string]any{"format": "xml"}, 422, "validation_failed", "#/format not_allowed"},
		{
			map[string]any{"format": "csv", "fields": []string{"attributes"}},
			422, "validation_failed",
			"#/fields/0 unknown_field",
		},
		{
			map[string]any{"format": "csv", "fields": []string{"email", "email"}},
			422, "validation_failed",
			"#/fields/1 duplicate",
		},
		{
			map[string]any{
				"format": "csv",
				"filter": map[string]any{"all": []any{map[string]any{"field": "shoe", "op": "eq", "value": 1}}},
			},
			400,
			"invalid_filter", "#/filter/all/0/field unknown_field",
		},
	} {
		if got := c.do("POST", exportsPath, x.body).
			want(t, x.status, x.code); !strings.HasPrefix(got.field(), strings.Fields(x.field)[0]) {
			t.Errorf("%v: %s", x.body, got.Body)
		}
	}
}

func TestWhenTheTrialHasEndedContactsCanStillBeTakenAlong(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	c.sql(`UPDATE org SET writes_until = now() - interval '1 minute'`)
	c.Deps.Auth.Forget(c.Org, c.User)
	c.send(nil, "file", "email\na@x.test\n").want(t, 402, "trial_ended")
	at := c.do("POST", exportsPath, map[string]any{"format": "csv"}).want(t, 202, "").Header.Get("Location")
	c.workFiles()
	var e struct {
		Link *string `json:"download_url"`
	}
	c.do("GET", at, nil).want(t, 200, "").into(t, &e)
	c.download(e.Link).want(t, 200, "")
}
