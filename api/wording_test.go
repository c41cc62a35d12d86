package api_test

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
)

const formsPath = "/api/v1/test/forms"

// details returns the texts of a problem's errors by location.
func (got answer) details(t testing.TB) map[string]string {
	t.Helper()
	var p struct {
		Errors []struct{ Pointer, Parameter, Detail string }
	}
	got.into(t, &p)
	out := map[string]string{}
	for _, e := range p.Errors {
		if at := e.Pointer + e.Parameter; out[at] == "" {
			out[at] = e.Detail
		} else {
			out[at] += " " + e.Detail
		}
	}
	return out
}

func TestEveryComplaintAboutABodyIsASentenceThatNamesTheLimit(t *testing.T) {
	t.Parallel()
	s := startWith(t, api.NewWithForms, unlimited)
	body := `{"moment":"x","http_date":"x","day":"x","clock":"x","email":"x","host":"_","ipv4":"x","ipv6":"x","ip":"x",
		"url":"http://[","url_template":"/{","uuid":"` + strings.Repeat("x",
		36) + `","short_uuid":"x","pointer":"x","relative":"x",
		"regexp":"(","wait":"x","flag":1,"whole":"x","fraction":1.5,"large":"x","number":"x","text":1,"bytes":"?",
		"list":1,"object":1,"unique":["a","a"],"interval":"day","only":8,"least":0,"more":0.5,"most":9007199254740994,
		"less":1000000,
		"multiple":4,"short":"a","empty":"","long":"abcd","pattern":"A","described":"A","few":[],"many":["a","b","c"],
		"few_members":{},"many_members":{"a":1,"b":2},"with":"x","either":5,"value":[],"not":true,
		"inner":[{"kind":"a","kid":1},{}],"intervall":"month"}`
	want := map[string]string{
		"#/needed":       "This field is required.",
		"#/moment":       "The value must be an RFC 3339 time, such as 2026-01-31T00:00:00Z.",
		"#/http_date":    "The value must be an HTTP date, such as Sat, 31 Jan 2026 00:00:00 GMT.",
		"#/day":          "The value must be a date as YYYY-MM-DD.",
		"#/clock":        "The value must be a time of day as HH:MM:SS.",
		"#/email":        "The value must be an email address.",
		"#/host":         "The value must be the name of a host.",
		"#/ipv4":         "The value must be an IPv4 address.",
		"#/ipv6":         "The value must be an IPv6 address.",
		"#/ip":           "The value must be an IP address.",
		"#/url":          "The value must be a URL.",
		"#/url_template": "The value must be a URL template.",
		"#/uuid":         "The value must be a UUID.",
		"#/short_uuid":   "The value must be a UUID.",
		"#/pointer":      "The value must be a JSON pointer.",
		"#/relative":     "The value must be a relative JSON pointer.",
		"#/regexp":       "The value must be a regular expression.",
		"#/wait":         "The value must be a duration, such as 90s.",
		"#/flag":         "The value must be true or false.",
		"#/whole":        "The value must be a whole number.",
		"#/fraction":     "The value must be a whole number.",
		"#/large":        "The value must be a whole number.",
		"#/number":       "The value must be a number.",
		"#/text":         "The value must be a text.",
		"#/bytes":        "The value must be base64.",
		"#/list":         "The value must be an array.",
		"#/object":       "The value must be an object.",
		"#/unique":       "The array must not have the same element twice.",
		"#/interval":     "The value must be one of: month, year.",
		"#/only":         "The value must be one of: 7.",
		"#/least":        "The number must be at least 1.",
		"#/more":         "The number must be more than 0.5.",
		"#/most":         "The number must be at most 9007199254740992.",
		"#/less":         "The number must be less than 1000000.",
		"#/multiple":     "The number must be a multiple of 5.",
		"#/short":        "The text must have at least 2 characters.",
		"#/empty":        "The text must have at least 1 character.",
		"#/long":         "The text must have at most 3 characters.",
		"#/pattern":      "The text must match the pattern ^[a-z]+$.",
		"#/described":    "The text must be lower-case letters.",
		"#/few":          "The array must have at least 1 element.",
		"#/many":         "The array must have at most 2 elements.",
		"#/few_members":  "The object must have at least 2 members.",
		"#/many_members": "The object must have at most 1 member.",
		"#":              "The field absent must be given with with.",
		"#/either":       "The value must be a text or an array of texts.",
		"#/value":        "The value must have one of the forms that /openapi.json gives it.",
		"#/not":          "The value has a form that is not allowed.",
		"#/inner/0/kid":  "There is no such field. Names match exactly. It must be one of: kind.",
		"#/inner/1/kind": "This field is required.",
		"#/intervall":    "There is no such field. Names match exactly. Did you mean interval?",
	}
	got := s.stranger().do("POST", formsPath+"?needed=x", body).want(t, 422, "validation_failed").details(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is said (-want +got):\n%s", diff)
	}
}

func TestEveryComplaintAboutAQueryIsASentenceThatNamesTheLimit(t *testing.T) {
	t.Parallel()
	s := startWith(t, api.NewWithForms, unlimited)
	for query, want := range map[string]map[string]string{
		"": {"needed": "This parameter is required."},
		"?needed=x&limit=x&size=x&on=x&at=x": {
			"limit": "The value must be a whole number.",
			"size":  "The value must be a number.",
			"on":    "The value must be true or false.",
			"at":    "The value must be an RFC 3339 time, such as 2026-01-31T00:00:00Z.",
		},
		"?needed=x&limit=201&sort=size": {
			"limit": "The number must be at most 200.",
			"sort":  "The value must be one of: name, -name.",
		},
		"?needed=x&limit=0": {"limit": "The number must be at least 1."},
		"?needed=x&limt=1": {
			"limt": "This operation has no such parameter. The name must be one of: at, limit, needed, on, size, sort.",
		},
	} {
		got := s.stranger().do("POST", formsPath+query, `{"needed":"x"}`).want(t, 400, "invalid_parameter").details(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestEveryMessageOfTheValidationIsReplaced(t *testing.T) {
	t.Parallel()
	from, err := build.Import("github.com/danielgtaylor/huma/v2/validation", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, file := range sources(t, from.Dir) {
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(v.Names[0].Name, "Msg") {
				return true
			}
			names[v.Names[0].Name] = quoted(t, v.Values[0])
			return false
		})
	}
	ours := api.ValidationTexts()
	if len(ours) != len(names) {
		t.Errorf("%d messages are replaced, the library has %d: %v", len(ours), len(names),
			slices.Sorted(maps.Keys(names)))
	}
	library := slices.Collect(maps.Values(names))
	for at, text := range ours {
		if slices.Contains(library, *at) {
			t.Errorf("the library's %q was left", *at)
		}
		if begin, _, _ := strings.Cut(text, "%s"); len(begin) < len("The ") || strings.Count(text, ".") == 0 {
			t.Errorf("%q is no sentence that can be told from the others", text)
		}
	}
}

func TestWhatTheLibrarySaysWithoutAVariableIsReplacedToo(t *testing.T) {
	t.Parallel()
	from, err := build.Import("github.com/danielgtaylor/huma/v2", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range sources(t, from.Dir) {
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, arg := range call.Args {
				lit, ok := arg.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				n++
				text := quoted(t, lit)
				said := api.WordingOf(text)
				if said == text || said == "" {
					t.Errorf("%q becomes %q, want another text", text, said)
				}
				if strings.Contains(said, "%!") {
					t.Errorf("%q becomes %q, which lacks an argument", text, said)
				}
			}
			return true
		})
	}
	if n < 100 {
		t.Errorf("only %d texts of the library were found", n)
	}
	if f := api.Refused(400, "invalid Go thing",
		errors.New("strconv.ParseInt: parsing")); f.Detail != "The value is not valid." {
		t.Errorf("an unknown message became %q", f.Detail)
	}
}

func TestWhatAFieldCannotHoldIsSaidWithItsBounds(t *testing.T) {
	t.Parallel()
	var v struct {
		Int   int64
		Small int16
		Bool  bool
		Text  string
		List  []int
		Map   map[string]int
		Float float64
	}
	for body, want := range map[string]string{
		`{"int":1e300}`: "The value must be a whole number from -9223372036854775808 to 9223372036854775807.",
		`{"small":1e6}`: "The value must be a whole number from -32768 to 32767.",
		`{"bool":1}`:    "The value must be true or false.",
		`{"text":1}`:    "The value must be a text.",
		`{"list":1}`:    "The value must be an array.",
		`{"map":1}`:     "The value must be an object.",
		`{"float":""}`:  "The value must be a number.",
		`{"int":`:       "The value is not valid.",
	} {
		if got := api.Unmarshal([]byte(body), &v); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// The text about a value of several forms names all of the forms in the document.
func TestAValueOfSeveralFormsIsDescribedByItsSentence(t *testing.T) {
	t.Parallel()
	s := start(t)
	forms := map[string]bool{}
	var walk func(v any, sent bool)
	walk = func(v any, sent bool) {
		switch v := v.(type) {
		case map[string]any:
			for _, word := range []string{"oneOf", "anyOf"} {
				all, ok := v[word].([]any)
				if !ok || !sent {
					continue
				}
				form := word
				for _, one := range all {
					m, _ := one.(map[string]any)
					form += " " + kindOf(m["type"])
				}
				forms[form] = true
			}
			for name, inner := range v {
				walk(inner, sent || name == "requestBody" || name == "parameters")
			}
		case []any:
			for _, inner := range v {
				walk(inner, sent)
			}
		}
	}
	walk(s.resolved(t), false)
	want := map[string]bool{"oneOf string array": true}
	if diff := cmp.Diff(want, forms); diff != "" {
		t.Errorf("forms of what is sent (-want +got):\n%s", diff)
	}
}

// kindOf returns a schema's type without null.
func kindOf(v any) string {
	if list, ok := v.([]any); ok {
		v = list[0]
	}
	text, _ := v.(string)
	return text
}

// resolved returns the API document's paths with references replaced by the schemas of components.
func (s *service) resolved(t testing.TB) any {
	t.Helper()
	var doc struct {
		Paths      map[string]any
		Components struct{ Schemas map[string]any }
	}
	s.stranger().do("GET", "/openapi.json", nil).into(t, &doc)
	var resolve func(v any, inside []string) any
	resolve = func(v any, inside []string) any {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, "#/components/schemas/")
				if slices.Contains(inside, name) {
					return nil
				}
				return resolve(doc.Components.Schemas[name], append(slices.Clone(inside), name))
			}
			out := map[string]any{}
			for k, inner := range v {
				out[k] = resolve(inner, inside)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = resolve(v[i], inside)
			}
			return out
		default:
			return v
		}
	}
	return resolve(doc.Paths, nil)
}

// sources returns the parsed files of a package, without tests.
func sources(t testing.TB, dir string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func quoted(t testing.TB, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%T is no literal", e)
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
