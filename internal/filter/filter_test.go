package filter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
)

// thing is a record with a field of each type.
type thing map[string]any

func (thing) Field(name string) (filter.Type, bool) {
	t, ok := map[string]filter.Type{
		"name": filter.Text, "mail": filter.Address, "stage": filter.Key, "tag": filter.Keys, "score": filter.Number,
		"on": filter.Date,
		"at": filter.Time, "owner": filter.ID, "vip": filter.Boolean,
	}[name]
	return t, ok
}

func (thing) Names() []string {
	return []string{"at", "mail", "name", "on", "owner", "score", "stage", "tag", "vip"}
}

func (t thing) Value(field string) any { return t[field] }

// nested returns a leaf inside n groups.
func nested(n int) string {
	return strings.Repeat(`{"not":`, n) + `{"field":"name","op":"eq","value":"x"}` + strings.Repeat("}", n)
}

// list returns n values.
func list(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") + "]"
}

// leaves returns an all of n leaves.
func leaves(n int) string {
	return `{"all":[` + strings.TrimSuffix(strings.Repeat(`{"field":"name","op":"eq","value":"x"},`, n), ",") + `]}`
}

func TestWhatIsNotInTheLanguageIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	is := func(field, op, value string) string {
		return `{"field":"` + field + `","op":"` + op + `","value":` + value + `}`
	}
	for raw, want := range map[string]string{
		``: " malformed_json", `{`: " malformed_json", `[]`: " invalid_type", `null`: " invalid_type",
		`{} {}`: " malformed_json", "{\"all\":[\xff]}": " malformed_json",
		`{}`: " required", `{"all":{}}`: "/all invalid_type", `{"not":[]}`: "/not invalid_type",
		`{"any":[1]}`:         "/any/0 invalid_type",
		`{"all":[],"any":[]}`: "/any unknown_key", `{"all":[],"x":1}`: "/x unknown_key",
		`{"all":[],"all":[]}`: "/all duplicate_key", `{"All":[]}`: "/All unknown_key",
		`{"field":"name","op":"eq","value":"x","a/b~":1}`:                           "/a~1b~0 unknown_key",
		`{"field":"name","field":"name","op":"eq","value":"x"}`:                     "/field duplicate_key",
		`{"all":[` + is("name", "eq", `"x"`) + `,` + is("nome", "eq", `"x"`) + `]}`: "/all/1/field unknown_field",
		`{"field":1,"op":"eq","value":"x"}`:                                         "/field invalid_type",
		`{"field":"name","op":null,"value":"x"}`:                                    "/op invalid_type",
		`{"field":"name","op":"eq"}`:                                                " required",
		is("name", "like", `"x"`):                                                   "/op unknown_op",
		is("vip", "gt", `true`):                                                     "/op unknown_op",
		is("owner", "contains", `"x"`):                                              "/op unknown_op",
		is("tag", "gt", `"x"`):                                                      "/op unknown_op",
		is("score", "starts_with", `"1"`):                                           "/op unknown_op",
		is("name", "eq", `1`):                                                       "/value invalid_type",
		is("name", "eq", `null`):                                                    "/value invalid_type",
		is("name", "eq", `["x"]`):                                                   "/value invalid_type",
		is("name", "exists", `"yes"`):                                               "/value invalid_type",
		is("score", "eq", `"1"`):                                                    "/value invalid_type",
		is("score", "eq", `1e999`):                                                  "/value invalid_value",
		is("vip", "eq", `"true"`):                                                   "/value invalid_type",
		is("vip", "eq", `0`):                                                        "/value invalid_type",
		is("on", "eq", `"2026-02-30"`):                                              "/value invalid_value",
		is("on", "eq", `"2026-2-3"`):                                                "/value invalid_value",
		is("at", "eq", `"2026-02-03"`):                                              "/value invalid_value",
		is("owner", "eq", `"7"`):                                                    "/value invalid_value",
		is("at", "lt", `"9999-12-31T23:59:59-01:00"`):                               "/value invalid_value",
		is("at", "lt", `"0000-01-01T00:00:00+01:00"`):                               "/value invalid_value",
		is("name", "in", `"x"`):                                                     "/value invalid_type",
		is("name", "in", `[]`):                                                      "/value required",
		is("name", "in", `["x",2]`):                                                 "/value/1 invalid_type",
		is("name", "in", list(201)):                                                 "/value too_many",
		is("name", "starts_with", `""`):                                             "/value required",
		is("name", "contains", `""`):                                                "/value required",
		is("name", "eq", `"`+strings.Repeat("é", 401)+`"`):                          "/value too_long",
		is("name", "eq", `"`+strings.Repeat("\U0001D160", 400)+`"`):                 "/value too_long",
		is("name", "eq", `"a\u0000b"`):                                              "/value invalid_value",
		is("name", "eq", `"\ud800"`):                                                " invalid_value",
		is("name", "eq", `"\udc00\ud800"`):                                          " invalid_value",
		nested(6):                                                                   "/not/not/not/not/not too_deep",
		leaves(51):                                                                  "/all too_many",
		`{"all":[` + leaves(30) + `,` + leaves(21) + `]}`:                           "/all/1/all/20 too_many",
		strings.Repeat(`[`,
			100): strings.Repeat("/0", 16) + " too_deep", `"` + strings.Repeat("x", 70_000) + `"`: " too_long",
	} {
		_, err := filter.Parse([]byte(raw), thing{})
		wrong, ok := errors.AsType[*filter.Error](err)
		if !ok {
			t.Errorf("%.80s was taken, want %s", raw, want)
		} else if got := wrong.Path + " " + wrong.Code; got != want {
			t.Errorf("%.80s: %s, want %s", raw, got, want)
		}
	}
	for _, raw := range []string{
		nested(5), leaves(50), is("name", "in", list(200)),
		is("name", "eq", `"`+strings.Repeat("é", 400)+`"`), is("name", "eq", `"\ud83d\ude00\\ud800"`),
	} {
		if _, err := filter.Parse([]byte(raw), thing{}); err != nil {
			t.Errorf("%.80s: %v", raw, err)
		}
	}
}

func TestAMissingValueEqualsNothingAndEveryNotIsTheOpposite(t *testing.T) {
	t.Parallel()
	owner := id.New()
	ada := thing{
		"name": "A\u0308da O'Neil", "stage": "Lead", "tag": []string{"Hot", "north"}, "score": 61.5,
		"on": "2026-02-28", "vip": false, "owner": owner, "mail": "info@bücher.example",
		"at": time.Date(2026, 2, 28, 12, 0, 0, 123456789, time.UTC),
	}
	nobody := thing{"tag": []string{}}
	for raw, want := range map[string]string{ // for Ada, and for an empty record
		`{"all":[]}`: "true true", `{"any":[]}`: "false false", `{"not":{"any":[]}}`: "true true",
		`{"field":"name","op":"eq","value":"äda o'neil"}`: "true false",
		`{"field":"name","op":"ne","value":"ÄDA O'NEIL"}`: "false true",
		// ä sorts after z.
		`{"field":"name","op":"starts_with","value":"Ä"}`:                               "true false",
		`{"field":"name","op":"contains","value":"A O"}`:                                "true false",
		`{"field":"name","op":"gt","value":"z"}`:                                        "true false",
		`{"field":"stage","op":"eq","value":" LEAD"}`:                                   "true false",
		`{"field":"stage","op":"eq","value":"Lead"}`:                                    "true false",
		`{"field":"stage","op":"not_in","value":["Lead"]}`:                              "false true",
		`{"field":"tag","op":"eq","value":"north"}`:                                     "true false",
		`{"field":"tag","op":"ne","value":"north"}`:                                     "false true",
		`{"field":"tag","op":"in","value":["x","hot"]}`:                                 "true false",
		`{"field":"tag","op":"starts_with","value":"nor"}`:                              "true false",
		`{"field":"tag","op":"contains","value":"OT"}`:                                  "true false",
		`{"field":"mail","op":"eq","value":"INFO@xn--bcher-kva.example"}`:               "true false",
		`{"field":"mail","op":"in","value":["info@bücher.example"]}`:                    "true false",
		`{"field":"mail","op":"contains","value":"@Bücher."}`:                           "true false",
		`{"field":"name","op":"contains","value":" "}`:                                  "true false",
		`{"field":"tag","op":"exists","value":true}`:                                    "true false",
		`{"field":"tag","op":"exists","value":false}`:                                   "false true",
		`{"field":"score","op":"gte","value":61.5}`:                                     "true false",
		`{"field":"score","op":"lt","value":61.5}`:                                      "false false",
		`{"field":"score","op":"in","value":[1,61.50]}`:                                 "true false",
		`{"not":{"field":"score","op":"lt","value":61.5}}`:                              "true true",
		`{"field":"on","op":"lte","value":"2026-02-28"}`:                                "true false",
		`{"field":"on","op":"gt","value":"2025-12-31"}`:                                 "true false",
		`{"field":"at","op":"eq","value":"2026-02-28T13:00:00.1234569+01:00"}`:          "true false",
		`{"field":"at","op":"gt","value":"2026-02-28T12:00:00Z"}`:                       "true false",
		`{"field":"vip","op":"eq","value":false}`:                                       "true false",
		`{"field":"vip","op":"ne","value":true}`:                                        "true true",
		`{"field":"vip","op":"exists","value":true}`:                                    "true false",
		`{"field":"owner","op":"eq","value":"` + strings.ToUpper(owner.String()) + `"}`: "true false",
		`{"field":"owner","op":"not_in","value":["` + owner.String() + `"]}`:            "false true",

		`{"any":[{"field":"name","op":"eq","value":"x"},{"not":{"field":"name","op":"eq","value":"y"}}]}`: "true true",
	} {
		f, err := filter.Parse([]byte(raw), thing{})
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := fmt.Sprint(f.Match(ada), f.Match(nobody)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
		again, err := filter.Parse(f.JSON(), thing{})
		if err != nil {
			t.Errorf("%s became %s: %v", raw, f.JSON(), err)
			continue
		}
		if string(again.JSON()) != string(f.JSON()) {
			t.Errorf("%s became %s, and that %s", raw, f.JSON(), again.JSON())
		}
		if got, want := again.Match(ada), f.Match(ada); got != want {
			t.Errorf("%s matches: %v; as %s: %v", raw, want, f.JSON(), got)
		}
	}
}

func TestTheCanonicalFormKeepsWhatWasMeant(t *testing.T) {
	t.Parallel()
	f, err := filter.Parse(
		[]byte(
			` { "any" : [ {"value":"<Ada & Co>","op":"eq","field":"name"},
		{"not":{"field":"at","op":"lt","value":"2026-02-28T13:00:00+01:00"}},
		{"all":[{"field":"score","op":"in","value":[1.50,2e3]},
		{"all":[{"field":"tag","op":"exists","value":true},
		{"field":"name","op":"exists","value":false}]}]} ] } `), thing{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"any":[{"field":"name","op":"eq","value":"<Ada & ` +
		`Co>"},{"not":{"field":"at","op":"lt","value":"2026-02-28T12:00:00.000000Z"}},` +
		`{"all":[{"field":"score","op":"in","value":[1.5,2000]},{"all":[{"field":"tag","op":"exists","value":true},` +
		`{"field":"name","op":"exists","value":false}]}]}]}`
	if got := string(f.JSON()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := fmt.Sprint(f.Fields()); got != "[at name score tag]" {
		t.Errorf("fields %s", got)
	}
	if n := len(f.Conjuncts()); n != 1 {
		t.Errorf("an any has %d conjuncts", n)
	}
}

// Values never become SQL: the text of the statement does not depend on them.
func TestAValueIsNeverSQL(t *testing.T) {
	t.Parallel()
	column := func(field string, _ filter.Type) filter.Column { return filter.Column{Value: "c." + field} }
	for _, op := range []string{"eq", "ne", "gt", "starts_with", "contains"} {
		var plain string
		for _, value := range []string{
			`x`, `'`, `'; DROP TABLE contact; --`, `\\`, `$1`, `%_`, `\"`, `/*`,
			"\U0010FFFE", `\n`,
		} {
			f, err := filter.Parse([]byte(`{"field":"name","op":"`+op+`","value":"`+value+`"}`), thing{})
			if err != nil {
				t.Fatal(err)
			}
			var args []any
			sql := f.SQL(column, func(v any) string {
				args = append(args, v)
				return fmt.Sprint("$", len(args))
			})
			if plain == "" {
				plain = sql
			}
			if sql != plain {
				t.Errorf("%s %s: %s", op, value, sql)
			}
		}
	}
}

func TestEveryTextThatBeginsWithAPrefixLiesInItsRange(t *testing.T) {
	t.Parallel()
	column := func(string, filter.Type) filter.Column { return filter.Column{Value: "v"} }
	for _, prefix := range []string{"a", "z", "\uD7FF", "a\U0010FFFE", "\U0010FFFE", "é", "~"} {
		f, err := filter.Parse([]byte(`{"field":"stage","op":"starts_with","value":"`+prefix+`"}`), thing{})
		if err != nil {
			t.Fatal(err)
		}
		var args []any
		f.SQL(column, func(v any) string {
			args = append(args, v)
			return "?"
		})
		for _, s := range []string{
			prefix, prefix + "\x00", prefix + "zzz", prefix + "\U0010FFFF\U0010FFFF",
			prefix + "é", "", "a", "b", "\uE000", "{", "\u0080",
		} {
			in := s >= args[0].(string) && (len(args) == 1 || s < args[1].(string))
			if in != strings.HasPrefix(s, prefix) {
				t.Errorf("%q in the range of %q: %v", s, prefix, in)
			}
		}
	}
}
