package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// described is the part of the API document that api/operations describes.
type described struct {
	Tags  []struct{ Name, Description string }
	Paths map[string]map[string]struct {
		OperationID          string
		Summary, Description string
		Tags                 []string
	}
}

func readDescribed(t *testing.T) (d described) {
	t.Helper()
	if err := json.Unmarshal(bare(t).Document(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	for _, methods := range readDescribed(t).Paths {
		for _, o := range methods {
			text, _, _ := strings.Cut(o.Description, "\n\n")
			if len(text) < 40 || strings.TrimSuffix(text, ".") == o.Summary {
				t.Errorf("%s: the description %q says too little", o.OperationID, text)
			}
		}
	}
}

func TestEveryTagIsDescribedAndUsed(t *testing.T) {
	t.Parallel()
	doc := readDescribed(t)
	used := map[string]bool{}
	for _, methods := range doc.Paths {
		for _, o := range methods {
			used[o.Tags[0]] = true
		}
	}
	for _, tag := range doc.Tags {
		if tag.Description == "" || !used[tag.Name] {
			t.Errorf("the tag %s has no description or no operation", tag.Name)
		}
		delete(used, tag.Name)
	}
	if len(used) > 0 {
		t.Errorf("tags without a text: %v", used)
	}
}

func TestNoRequiredMemberOfARequestMayBeNull(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]struct{ Type any }
			}
		}
	}
	if err := json.Unmarshal(bare(t).Document(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, schema := range doc.Components.Schemas {
		if !strings.HasSuffix(name, "Request") {
			continue
		}
		for _, member := range schema.Required {
			types, several := schema.Properties[member].Type.([]any)
			if several && slices.Contains(types, any("null")) {
				t.Errorf("%s.%s is both required and nullable", name, member)
			}
		}
	}
}
