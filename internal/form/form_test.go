package form_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func null() wire.Field[string] { return wire.Field[string]{Set: true, Null: true} }

// TestWhatEachKindOfMemberTakes checks the error for a member and the resulting row.
func TestWhatEachKindOfMemberTakes(t *testing.T) {
	t.Parallel()
	at := wire.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	for name, take := range map[string]func(f *form.Form, in wire.Field[string]) any{
		"line": func(f *form.Form, in wire.Field[string]) any {
			v := "was"
			f.Required("x", in, &v, 5)
			return v
		},
		"text": func(f *form.Form, in wire.Field[string]) any {
			v := "was"
			f.RequiredText("x", in, &v, 5)
			return v
		},
		"optional": func(f *form.Form, in wire.Field[string]) any {
			was := "was"
			v := &was
			if f.Optional("x", in, &v, 5); v == nil {
				return "cleared"
			}
			return *v
		},
		"word": func(f *form.Form, in wire.Field[string]) any {
			v := "was"
			f.OneOf("x", in, &v, "a", "b")
			return v
		},
		"day": func(f *form.Form, in wire.Field[string]) any {
			was := "was"
			v := &was
			if f.Date("x", in, &v); v == nil {
				return "cleared"
			}
			return *v
		},
		"past": func(f *form.Form, in wire.Field[string]) any {
			v := at
			if f.Past("x", in, at, &v); v == at {
				return "was"
			}
			return v.String()
		},
	} {
		for _, c := range []struct {
			kinds, in, code, left string
		}{
			{"line text optional", "abcde", "", "abcde"},
			{"line text optional", "abcdef", "too_long", "was"},
			{"line text optional", "äöüß€", "", "äöüß€"},
			{"line optional", "a\nb", "invalid_characters", "was"},
			{"text", "a\nb\t", "", "a\nb\t"},
			{"line text optional", "a\x00b", "invalid_characters", "was"},
			{"line text", " ", "required", "was"},
			{"optional", " ", "", "cleared"},
			{"line text word past", "null", "not_nullable", "was"},
			{"optional day", "null", "", "cleared"},
			{"word", "b", "", "b"},
			{"word", "c", "not_allowed", "was"},
			{"day", "2026-02-28", "", "2026-02-28"},
			{"day", "2026-02-29", "invalid_date", "was"},
			{"day", "1899-12-31", "invalid_date", "was"},
			{"day", "2026-2-3", "invalid_date", "was"},
			{"past", "2026-05-01T10:00:00+02:00", "", "2026-05-01T08:00:00.000000Z"},
			{"past", "2026-05-01T12:00:01Z", "out_of_range", "was"},
			{"past", "1969-12-31T23:59:59Z", "out_of_range", "was"},
			{"past", "soon", "invalid_time", "was"},
		} {
			if !strings.Contains(" "+c.kinds+" ", " "+name+" ") {
				continue
			}
			f, in := form.At("rows/3/"), wire.Some(c.in)
			if c.in == "null" {
				in = null()
			}
			left := take(f, in)
			code, pointer := "", ""
			if err := fault.Of(f.Fault()); err != nil {
				code, pointer = err.Fields[0].Code, err.Fields[0].Pointer
			}
			if code != c.code || left != c.left || code != "" && pointer != "#/rows/3/x" {
				t.Errorf("%s of %q: %q at %q, left %v; want %q and %q", name, c.in, code, pointer, left, c.code, c.left)
			}
		}
		if f := form.At(""); take(f, wire.Field[string]{}) != "was" || !f.OK() {
			t.Errorf("%s: an absent member was taken", name)
		}
	}
}

func TestAReadOnlyMemberMaySayWhatIsSo(t *testing.T) {
	t.Parallel()
	current := struct {
		ID id.ID      `json:"id"`
		At wire.Time  `json:"at"`
		No *wire.Time `json:"no"`
	}{ID: id.New(), At: wire.At(time.Unix(1_700_000_000, 0))}
	for sent, ok := range map[string]bool{
		`{"id":"` + current.ID.String() + `"}`: true, `{"id":"` + id.New().String() + `"}`: false,
		`{"at":"2023-11-14T23:13:20+01:00"}`: true,
		`{"at":"2023-11-14T23:13:21+01:00"}`: false, `{"no":null}`: true, `{"no":"2023-11-14T23:13:20Z"}`: false,
		`{"nobody":null}`: false, `{"id":5}`: false,
	} {
		var p form.Refused
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(sent), &members); err != nil {
			t.Fatal(err)
		}
		for name, raw := range members {
			p.Refuse(name, raw)
		}
		p.Refuse("absent", nil)
		f := form.At("")
		if f.ReadOnly(p.Sent, current); f.OK() != ok {
			t.Errorf("%s: %v", sent, f.Fault())
		}
	}
}
