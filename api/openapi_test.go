package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; look at the change, then run with -update (-want +got):\n%s", path, diff)
	}
}

// bare returns an API that serves no requests.
func bare(t *testing.T) *api.App { return api.New(api.Deps{Log: testkit.Log(t)}) }

func TestTheDocumentIsTheReviewedOne(t *testing.T) {
	t.Parallel()
	golden(t, "openapi.golden.json", bare(t).Document())
}

func TestTheDocumentIsValid(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(bare(t).Document())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi is %q", doc.OpenAPI)
	}
	problem := doc.Components.Schemas["Problem"].Value
	for _, code := range fault.Codes() {
		if !slices.Contains(problem.Properties["code"].Value.Enum, any(string(code))) {
			t.Errorf("the code %s is not published", code)
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Summary == "" {
				t.Errorf("%s %s has no title", method, path)
			}
			if len(op.Tags) != 1 || op.Tags[0] == "" {
				t.Errorf("%s %s has the groups %q, want one", method, path, op.Tags)
			}
		}
	}
}

func TestProblemsAreDocumentedByReference(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(bare(t).Document())
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if got := op.Responses.Default(); got == nil || got.Ref != "#/components/responses/Problem" {
				t.Errorf("%s %s: the default response is not the shared problem", method, path)
			}
			for status, response := range op.Responses.Map() {
				if status[0] >= '4' && !strings.HasPrefix(response.Ref, "#/components/responses/") {
					t.Errorf("%s %s: the response %s is not a shared problem", method, path, status)
				}
			}
			if op.Security == nil {
				t.Errorf("%s %s: does not say which credential it needs", method, path)
			}
		}
	}
}

func TestTheDocumentNamesItsServer(t *testing.T) {
	t.Parallel()
	for publicURL, want := range map[string]string{"": "/", "https://api.example.com": "https://api.example.com"} {
		var doc struct {
			Servers []struct{ URL string }
			Info    struct{ Contact struct{ Name string } }
		}
		app := api.New(api.Deps{Log: testkit.Log(t), PublicURL: publicURL})
		if err := json.Unmarshal(app.Document(), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Servers) != 1 || doc.Servers[0].URL != want {
			t.Errorf("servers %v, want %q alone", doc.Servers, want)
		}
		if doc.Info.Contact.Name == "" {
			t.Errorf("public URL %q: no contact", publicURL)
		}
	}
}

func TestAppsThatShareTheirOperationsServeTheSameDocument(t *testing.T) {
	t.Parallel()
	alone := bare(t)
	twin := api.New(api.Deps{Log: testkit.Log(t), Operations: alone.Contract})
	if !bytes.Equal(alone.Document(), twin.Document()) {
		t.Error("the documents differ")
	}
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "is not an operation of the given contract") {
			t.Errorf("an app with further operations: %s", said)
		}
	}()
	api.NewWithThings(api.Deps{Log: testkit.Log(t), Operations: alone.Contract})
}

func TestAnOperationIsNotMountedWithoutAnIDOfItsOwn(t *testing.T) {
	t.Parallel()
	panics := func(operation string) (said any) {
		defer func() { said = recover() }()
		api.NewWithID(api.Deps{Log: testkit.Log(t)}, operation)
		return nil
	}
	for _, wrong := range []string{"", "contacts", "contacts.create", "contacts.Create", "get-contacts", "a.b.c"} {
		if panics(wrong) == nil {
			t.Errorf("an operation with the id %q was mounted", wrong)
		}
	}
	if said := panics("test_ids.get_one"); said != nil {
		t.Error(said)
	}
}

func TestTheEffectsOfEveryRouteAreTheReviewedOnes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, r := range bare(t).Routes() {
		if len(r.Writes) == 0 {
			continue
		}
		writes := slices.Clone(r.Writes)
		slices.Sort(writes)
		fmt.Fprintf(&out, "%-7s%s: %s\n", r.Method, r.Path, strings.Join(writes, ", "))
	}
	golden(t, "effects.golden", out.Bytes())
}

func TestTheReferencePageWorksOffline(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	page := s.stranger().do("GET", "/docs", nil).want(t, 200, "")
	csp := page.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "script-src 'self';") {
		t.Errorf("CSP %q", csp)
	}
	var all []byte
	for _, link := range []string{
		"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/start.js",
		"/docs/favicon-32x32.png",
	} {
		if !bytes.Contains(page.Body, []byte(link)) {
			t.Errorf("the page does not ask for %s", link)
		}
		for _, encoding := range []string{"gzip", "identity"} {
			got := s.stranger().do("GET", link, nil, "Accept-Encoding", encoding).want(t, 200, "")
			if len(got.Body) == 0 || got.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d bytes", link, len(got.Body))
			}
			all = append(all, got.Body...)
		}
	}
	if bytes.Contains(page.Body, []byte("http")) || !bytes.Contains(all, []byte("SwaggerUIBundle")) {
		t.Error("the page asks elsewhere, or its script is missing")
	}
	doc := s.stranger().do("GET", "/openapi.json", nil).want(t, 200, "")
	if !json.Valid(doc.Body) || bytes.Contains(bytes.TrimSpace(doc.Body), []byte("\n")) {
		t.Error("the document is not JSON in one line")
	}
	s.stranger().do("GET", "/openapi.json", nil, "If-None-Match", doc.Header.Get("ETag")).want(t, 304, "")
	s.stranger().do("HEAD", "/docs", nil).want(t, 200, "")
	s.stranger().do("POST", "/docs", nil).want(t, 405, "method_not_allowed")
}
