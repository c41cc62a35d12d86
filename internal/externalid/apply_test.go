package externalid_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestAPatchOfExternalIDsIsAMergePatch(t *testing.T) {
	t.Parallel()
	before := externalid.IDs{"hubspot": "1", "old": "x"}
	for _, c := range []struct {
		patch externalid.Patch
		want  externalid.IDs
		wrong string
	}{
		{externalid.Patch{}, before, ""},
		{wire.Some(map[string]any{}), before, ""},
		{wire.Some(map[string]any{"hubspot": nil, "new": "2"}), externalid.IDs{"old": "x", "new": "2"}, ""},
		{externalid.Patch{Set: true, Null: true}, nil, ""},
		{wire.Some(map[string]any{"hubspot": nil, "old": nil}), nil, ""},
		{wire.Some(map[string]any{"a/b~": "2"}), before, "external_ids/a~1b~0 invalid_key"},
		{wire.Some(map[string]any{"a": "\x07"}), before, "external_ids/a invalid_characters"},
		{wire.Some(map[string]any{"a": true}), before, "external_ids/a invalid_type"},
	} {
		var wrong []string
		got := externalid.Apply(c.patch, before, func(field, code, _ string) {
			wrong = append(wrong, field+" "+code)
		})
		if !maps.Equal(got, c.want) || strings.Join(wrong, ",") != c.wrong {
			t.Errorf("%v makes %v, %q; want %v, %q", c.patch.Value, got, wrong, c.want, c.wrong)
		}
	}
	if before["hubspot"] != "1" || len(before) != 2 {
		t.Error("the ids before were changed")
	}
}

func TestExternalIDsAreEncodedAsAnObject(t *testing.T) {
	t.Parallel()
	for _, ids := range []externalid.IDs{nil, {}, {"hubspot": `a"b`}} {
		b, err := json.Marshal(struct {
			IDs externalid.IDs `json:"external_ids"`
		}{ids})
		if err != nil {
			t.Fatal(err)
		}
		var back externalid.IDs
		if err := back.Scan(ids.Text()); err != nil || !maps.Equal(back, ids) {
			t.Errorf("%v is read as %v: %v", ids, back, err)
		}
		if len(ids) == 0 && (back != nil || string(b) != `{"external_ids":{}}`) {
			t.Errorf("no ids are %s, read as %v", b, back)
		}
	}
}

func TestAKeyIsParsedAtItsFirstColon(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]externalid.Key{
		"hubspot:1": {System: "hubspot", Value: "1"}, "a.b-c_9:x:y": {System: "a.b-c_9", Value: "x:y"},
		"hubspot": {}, ":1": {}, "hubspot:": {}, "Hub:1": {}, "hubspot:\t": {},
	} {
		if got, ok := externalid.ParseKey(s); ok != (want != externalid.Key{}) || ok && got != want {
			t.Errorf("%q is %v, %v", s, got, ok)
		}
	}
}
