package api_test

import (
	"bytes"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/contactimportundo"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/suppressionimport"
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
	return c.sendTo(importsPath, headers, parts...)
}

// sendTo sends a form with these parts.
func (c *caller) sendTo(path string, headers []string, parts ...string) answer {
	c.Helper()
	body, kind := form(c, parts...)
	return c.do("POST", path, body, append([]string{"Content-Type", kind}, headers...)...)
}

// workFiles runs file jobs until none are left.
func (s *service) workFiles() {
	s.Helper()
	job := contactimport.Job{Plans: entitlementsync.Standard(), Model: s.App.Scores.In, Log: testkit.Log(s)}
	s.workRows(
		job.Handler(), contactimportundo.Job{Import: job}.Handler(),
		contactexport.Job{Log: testkit.Log(s)}.Handler(),
		suppressionimport.Job{Suppressions: &suppression.Service{Box: s.Deps.Box}, Log: testkit.Log(s)}.Handler(),
	)
}

// workRows runs the jobs of kinds whose effects are rows until none are left.
func (s *service) workRows(handlers ...queue.Handler) {
	s.Helper()
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
	if diff := cmp.Diff(importsPath+"/"+i.ID, at); diff != "" {
		t.Errorf("Location (-want +got):\n%s", diff)
	}
	want := i
	want.Status, want.Total, want.FileName = "queued", 2, new("people.csv")
	want.Mapping = maps.Clone(i.Mapping)
	want.Mapping["Shoe"] = new("attributes.size")
	if diff := cmp.Diff(want, i); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
	queued := c.do("GET", at, nil).want(t, 200, "")
	c.workFiles()
	done := c.do("GET", at, nil).want(t, 200, "")
	done.into(t, &i)
	want = i
	want.Status, want.Created, want.Failed = "completed", 1, 1
	if diff := cmp.Diff(want, i); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
	if tag := done.Header.Get("ETag"); tag == queued.Header.Get("ETag") {
		t.Errorf("ETag %s before and after", tag)
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
	type facts struct{ Body, Replayed, Location string }
	if diff := cmp.Diff(facts{string(first.Body), "true", first.Header.Get("Location")}, facts{
		string(again.Body), again.Header.Get("Idempotent-Replayed"), again.Header.Get("Location"),
	}); diff != "" {
		t.Errorf("the second response (-want +got):\n%s", diff)
	}
	c.send(key, "file", file+"b@x.test,A,B\n").want(t, 422, "idempotency_mismatch")
	c.send(key, "file", file, "dry_run", "true").want(t, 422, "idempotency_mismatch")
	for _, table := range []string{"contact_import", "contact_import_block", "job"} {
		if n := c.count(table); n != 1 {
			t.Errorf("%d rows of %s, want 1", n, table)
		}
	}
}
