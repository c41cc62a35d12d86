package api_test

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Secrets of a rotation with overlap: the new one, the previous one and an unrelated one.
const (
	newest   = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD7GdCO9vx6yM="
	previous = "pässwörd mit Ümläuten"
	strange  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)

// deliveryCase is one delivery as input of a snippet, with the expected results of its two functions.
type deliveryCase struct {
	What    string            `json:"what"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"`
	plain   bool
	fresh   bool
}

// signedAndSpoiled returns deliveries signed by the production code, some of them altered afterwards.
func signedAndSpoiled() (all []deliveryCase) {
	body := []byte(`{"id":"1","text":"äöü <&> \u0000"}`)
	add := func(what, secret string, at time.Time, secrets []string, spoil func(h http.Header, b []byte) []byte,
		plain, fresh bool,
	) {
		h := webhooks.Headers(secrets, "0190a8b0-0000-7000-8000-000000000000", at, body)
		sent := bytes.Clone(body)
		if spoil != nil {
			sent = spoil(h, sent)
		}
		p := deliveryCase{
			What: what, Secret: secret, Headers: map[string]string{}, Body: sent, plain: plain,
			fresh: fresh,
		}
		for name := range h {
			p.Headers[strings.ToLower(name)] = h.Get(name)
		}
		all = append(all, p)
	}
	now, both := time.Now(), []string{newest, previous}
	for _, secret := range both {
		add("alone", secret, now, []string{secret}, nil, true, true)
		add("in an overlap", secret, now, both, nil, true, true)
		add("signed by a stranger", secret, now, []string{strange}, nil, false, false)
		add("another body", secret, now, both, func(_ http.Header, b []byte) []byte {
			return append(b, ' ')
		}, false, false)
		add("an empty body", secret, now, both, func(http.Header, []byte) []byte { return nil }, false, false)
		set := func(name, value string) func(http.Header, []byte) []byte {
			return func(h http.Header, b []byte) []byte {
				h.Set(name, value)
				return b
			}
		}
		add("another id", secret, now, both, set("webhook-id", "0190a8b0-0000-7000-8000-000000000001"), true, false)
		add("another time", secret, now.Add(-time.Minute), both, set("webhook-timestamp", "1"+now.Format("050405")),
			true, false)
		add("a time that is none", secret, now, both, set("webhook-timestamp", "now"), true, false)
		add("four minutes old", secret, now.Add(-4*time.Minute), both, nil, true, true)
		add("six minutes old", secret, now.Add(-6*time.Minute), both, nil, true, false)
		add("six minutes to come", secret, now.Add(6*time.Minute), both, nil, true, false)
		add("no signatures", secret, now, both, func(h http.Header, b []byte) []byte {
			h.Del("webhook-signature")
			h.Del("x-service-signature")
			return b
		}, false, false)
		add("no headers", secret, now, both, func(h http.Header, b []byte) []byte {
			clear(h)
			return b
		}, false, false)
		add("no more than a comma", secret, now, both, func(h http.Header, b []byte) []byte {
			h.Set("webhook-signature", " ")
			h.Set("x-service-signature", ",")
			return b
		}, false, false)
	}
	return all
}

// Drivers read deliveries as JSON from stdin and write a list of [plain, fresh].
const (
	goDriver = `package hooks

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
)

func TestMain(*testing.M) {
	var all []struct {
		Secret  string
		Headers map[string]string
		Body    []byte
	}
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		panic(err)
	}
	out := [][2]bool{}
	for _, d := range all {
		h := http.Header{}
		for k, v := range d.Headers {
			h.Set(k, v)
		}
		out = append(out, [2]bool{Verify(d.Secret, h, d.Body), VerifyFresh(d.Secret, h, d.Body)})
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}
`
	pythonDriver = `import base64, json, sys
import verify
out = []
for d in json.load(sys.stdin):
    body = base64.b64decode(d["body"] or "")
    out.append([verify.verify(d["secret"], d["headers"], body), verify.verify_fresh(d["secret"], d["headers"], body)])
print(json.dumps(out))
`
	nodeDriver = `import { verify, verifyFresh } from './verify.mjs'
import { readFileSync } from 'node:fs'
const out = JSON.parse(readFileSync(0)).map((d) => {
  const body = Buffer.from(d.body ?? '', 'base64')
  return [verify(d.secret, d.headers, body), verifyFresh(d.secret, d.headers, body)]
})
console.log(JSON.stringify(out))
`
)

func TestTheSnippetsOfThePageVerifyDeliveriesAndRefuseWhatIsAltered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		snippet, as    string
		driver, called string
		run            []string
	}{
		"go": {"verify.go.txt", "verify.go", goDriver, "driver_test.go", []string{"go", "test", "-count=1", "."}},
		"python": {
			"verify.py.txt", "verify.py", pythonDriver, "driver.py",
			[]string{"python3", "-I", "-c", "import sys; sys.path.insert(0, '.'); exec(open('driver.py').read())"},
		},
		"node": {"verify.mjs.txt", "verify.mjs", nodeDriver, "driver.mjs", []string{"node", "driver.mjs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(c.run[0])
			if err != nil {
				t.Skipf("SKIPPED FOR WANT OF %s: the snippet of the page was not run", strings.ToUpper(c.run[0]))
			}
			dir := t.TempDir()
			code, err := os.ReadFile(filepath.Join("pages", "docs", c.snippet))
			if err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{
				c.as: string(code), c.called: c.driver,
				"go.mod": "module hooks\n\ngo 1.21\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all := signedAndSpoiled()
			in, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), program, c.run[1:]...)
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
			cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
			if name == "go" { // go test passes no stdin to its test
				binary := filepath.Join(dir, "verify.test")
				build := exec.CommandContext(t.Context(), program, "test", "-c", "-o", binary, ".")
				build.Dir, build.Env = dir, cmd.Env
				if said, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, said)
				}
				cmd = exec.CommandContext(t.Context(), binary)
				cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
			}
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, said.Bytes())
			}
			var got [][2]bool
			if err := json.Unmarshal(out, &got); err != nil || len(got) != len(all) {
				t.Fatalf("%v: %s", err, out)
			}
			for i, p := range all {
				if want := [2]bool{p.plain, p.fresh}; got[i] != want {
					t.Errorf("%s, with %q: %v, want %v\n%v", p.What, p.Secret, got[i], want, p.Headers)
				}
			}
		})
	}
}

func TestThePageOnWebhooksShowsTheSnippetsAndEveryType(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	got := s.stranger().do("GET", "/docs/webhooks", nil).want(t, 200, "")
	page := html.UnescapeString(string(got.Body))
	for _, snippet := range []string{"verify.go.txt", "verify.py.txt", "verify.mjs.txt"} {
		code, err := os.ReadFile(filepath.Join("pages", "docs", snippet))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page, string(code)) {
			t.Errorf("%s is not on the page", snippet)
		}
	}
	for _, e := range events.Catalogue() {
		if !strings.Contains(page, "<code>"+e.Name+"</code>") {
			t.Errorf("%s is not on the page", e.Name)
		}
	}
	for _, scheme := range []string{"http:", "https:"} {
		if strings.Contains(page, scheme) {
			t.Errorf("the page has an address with %s", scheme)
		}
	}
	if policy := got.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "style-src 'sha256-") {
		t.Errorf("Content-Security-Policy %q allows no style", policy)
	}
}

func TestTheDocumentHasAWebhookForEveryTypeWhoseExampleMeetsItsSchema(t *testing.T) {
	t.Parallel()
	text := bare(t).Document()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Webhooks map[string]struct {
			Post struct {
				Live        *bool `json:"x-live"`
				RequestBody struct {
					Content map[string]struct {
						Example any
					}
				} `json:"requestBody"`
			}
		}
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Catalogue() {
		hook, ok := raw.Webhooks[e.Name]
		if !ok {
			t.Errorf("the document has no webhook %s", e.Name)
			continue
		}
		if diff := cmp.Diff(&e.Live, hook.Post.Live); diff != "" {
			t.Errorf("%s: whether it is live (-want +got):\n%s", e.Name, diff)
			continue
		}
		schema, err := c.Compile("mem:///openapi.json#/webhooks/" + e.Name +
			"/post/requestBody/content/application~1json/schema")
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		example := hook.Post.RequestBody.Content["application/json"].Example
		if err := schema.Validate(example); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		o := example.(map[string]any) //nolint:forcetypeassert // an envelope
		o["type"] = "contact.exploded"
		if schema.Validate(example) == nil {
			t.Errorf("%s takes another type", e.Name)
		}
	}
	live, all := events.Count()
	if len(raw.Webhooks) != all {
		t.Errorf("%d webhooks in the document, want %d", len(raw.Webhooks), all)
	}
	if !strings.Contains(doc.Info.Description, "of them live") {
		t.Errorf("the description does not count the live types: %s", doc.Info.Description)
	}
	if live == 0 {
		t.Error("no type is live")
	}
}
