package events_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
)

const golden = "testdata/catalogue.golden.json"

// published returns the catalogue in the code.
func published(t *testing.T) (all []eventstest.Published) {
	t.Helper()
	for _, e := range events.Catalogue() {
		sample, err := e.Example()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all,
			eventstest.Published{
				Type: e.Name, Description: e.Description, Live: e.Live, Schema: e.Schema(),
				Sample: json.RawMessage(sample.Bytes()),
			})
	}
	return all
}

// reviewed returns the catalogue in the golden file.
func reviewed(t *testing.T) (text []byte, all []eventstest.Published) {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return text, all
}

// The -update flag does not override a broken promise: the golden file is rewritten only if the catalogue grows.
func TestTheCatalogueIsTheReviewedOneAndKeepsWhatItPromised(t *testing.T) {
	t.Parallel()
	now := published(t)
	want, was := reviewed(t)
	for _, b := range eventstest.Broken(was, now) {
		t.Errorf("a promise to receivers is broken: %s", b)
	}
	got, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
		want = got
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the catalogue differs from %s (-update writes it, where it only grows):\n%s", golden, diff)
	}
}

func TestOnlyAdditionsToALivePayloadKeepThePromise(t *testing.T) {
	t.Parallel()
	_, was := reviewed(t)
	// at returns a change to a copy of the schema of a type's data.object.
	at := func(name string, change func(o map[string]any)) func([]eventstest.Published) []eventstest.Published {
		return func(all []eventstest.Published) []eventstest.Published {
			for _, p := range all {
				if p.Type == name {
					change(member(p.Schema, "data", "object"))
				}
			}
			return all
		}
	}
	for name, c := range map[string]struct {
		change func([]eventstest.Published) []eventstest.Published
		breaks string // part of the expected message; "": no message
	}{
		"nothing": {func(all []eventstest.Published) []eventstest.Published { return all }, ""},
		"another member": {at("contact.created", func(o map[string]any) {
			properties(o)["shoe_size"] = map[string]any{"type": "integer"}
			o["required"] = append(o["required"].([]any), "shoe_size") //nolint:forcetypeassert // as written
		}), ""},
		"another value of an enum": {at("user.joined", func(o map[string]any) {
			role := member(o, "role")
			role["enum"] = append(role["enum"].([]any), "guest") //nolint:forcetypeassert // as written
		}), ""},
		"another description": {at("contact.created", func(o map[string]any) {
			member(o, "email")["description"] = "where mail goes"
		}), ""},
		"another type": {func(all []eventstest.Published) []eventstest.Published {
			return append(all, eventstest.Published{Type: "a.happened"})
		}, ""},
		"a member less": {at("contact.created", func(o map[string]any) {
			delete(properties(o), "email")
		}), "/data/object/email is gone"},
		"a member of a member less": {at("contact.created", func(o map[string]any) {
			delete(properties(member(o, "score")), "probability")
		}), "/data/object/score/probability is gone"},
		"a member renamed": {at("contact.created", func(o map[string]any) {
			properties(o)["mail"] = properties(o)["email"]
			delete(properties(o), "email")
		}), "/data/object/email is gone"},
		"a member that may be absent": {at("contact.created", func(o map[string]any) {
			o["required"] = slices.DeleteFunc(o["required"].([]any), func(v any) bool {
				return v == "email"
			}) //nolint:forcetypeassert // as written
		}), "[email] may be absent now"},
		"a narrower type": {at("contact.created", func(o map[string]any) {
			member(o, "lead_score")["type"] = "integer"
		}), "/lead_score: the type is [integer] now, was [number]"},
		"a null less": {at("contact.created", func(o map[string]any) {
			member(o, "phone")["type"] = "string"
		}), "/phone: the type is [string] now, was [null string]"},
		"a null more": {at("contact.created", func(o map[string]any) {
			member(o, "email")["type"] = []any{"string", "null"}
		}), "/email: the type is [null string] now"},
		"a value of an enum less": {at("user.joined", func(o map[string]any) {
			role := member(o, "role")
			role["enum"] = role["enum"].([]any)[1:] //nolint:forcetypeassert // as written
		}), "/role: the enum has lost [viewer]"},
		"no enum any more": {at("user.joined", func(o map[string]any) {
			delete(member(o, "role"), "enum")
		}), "/role: the enum has lost"},
		"an enum where none was": {at("contact.created", func(o map[string]any) {
			member(o, "stage")["enum"] = []any{"lead"}
		}), "/stage: enum is new"},
		"a length where none was": {at("contact.created", func(o map[string]any) {
			member(o, "stage")["maxLength"] = 10
		}), "/stage: maxLength is new"},
		"other elements": {at("contact.created", func(o map[string]any) {
			member(o, "tag")["items"] = map[string]any{"type": "integer"}
		}), "/tag/*: the type is [integer] now, was [string]"},
		"another format": {at("contact.created", func(o map[string]any) {
			member(o, "id")["format"] = "ulid"
		}), `/id: format is "ulid" now, was "uuid"`},
		"an optional member made required": {func(all []eventstest.Published) []eventstest.Published {
			for _, p := range all {
				if p.Type == "contact.created" {
					o := member(p.Schema, "data", "object")
					o["required"] = append(o["required"].([]any), "sometimes") //nolint:forcetypeassert // as written
				}
			}
			return all
		}, "[sometimes] was optional"},
		"a type less": {func(all []eventstest.Published) []eventstest.Published {
			return slices.DeleteFunc(all, func(p eventstest.Published) bool { return p.Type == "deal.won" })
		}, "deal.won is gone"},
		"a live type reserved again": {func(all []eventstest.Published) []eventstest.Published {
			for i := range all {
				all[i].Live = all[i].Live && all[i].Type != "contact.created"
			}
			return all
		}, "contact.created is no longer live"},
		"a reserved type's payload": {at("brand.updated", func(o map[string]any) { clear(properties(o)) }), ""},
	} {
		before, after := clone(t, was), clone(t, was)
		for i := range before {
			before[i].Live = before[i].Live && before[i].Type != "brand.updated"
			if before[i].Type == "contact.created" { // has an optional member
				for _, p := range []eventstest.Published{before[i], after[i]} {
					properties(member(p.Schema, "data", "object"))["sometimes"] = map[string]any{"type": "string"}
				}
			}
		}
		said := strings.Join(eventstest.Broken(before, c.change(after)), "\n")
		if (said == "") != (c.breaks == "") || !strings.Contains(said, c.breaks) {
			t.Errorf("%s: %q, want %q", name, said, c.breaks)
		}
	}
}

// member returns the schema at a path of properties.
func member(schema map[string]any, path ...string) map[string]any {
	for _, name := range path {
		schema = properties(schema)[name].(map[string]any) //nolint:forcetypeassert // as written
	}
	return schema
}

func properties(schema map[string]any) map[string]any {
	return schema["properties"].(map[string]any) //nolint:forcetypeassert // as written
}

func clone(t *testing.T, all []eventstest.Published) (out []eventstest.Published) {
	t.Helper()
	text, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
