package api_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// schemaWord is a word of a schema's name: Contact, API, 2.
var schemaWord = regexp.MustCompile(`[A-Z]+[a-z0-9]*`)

// emptyWords end no name of a schema: they say what every schema is.
var emptyWords = []string{
	"Body", "Bin", "Data", "Envelope", "In", "Info", "Input", "Item", "Object", "Out", "Response", "Row", "State",
	"Thing",
}

// fullNames end with such a word and say what it is about.
var fullNames = []string{
	"BulkActionInput", "CompanyBatchRow", "ConnectState", "ContactBatchRow", "DealBatchRow", "EventData",
	"ScoreModelCalibrationBin",
	"PipelineStageInput", "SequenceStepInput", "StepVariantInput",
}

func TestTheNameOfASchemaSaysWhatItIs(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			RequestBody struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(bare(t).Document(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, s := range doc.Components.Schemas {
		words := schemaWord.FindAllString(name, -1)
		if strings.Join(words, "") != name {
			t.Errorf("%s: not words that begin with upper-case letters", name)
			continue
		}
		if slices.Contains(emptyWords, words[len(words)-1]) && !slices.Contains(fullNames, name) {
			t.Errorf("%s ends with %s, which says nothing", name, words[len(words)-1])
		}
		if s.Properties["next_cursor"] != nil && s.Properties["data"] != nil && words[len(words)-1] != "List" {
			t.Errorf("%s is a page of a list, so its name ends with List", name)
		}
	}
	for _, methods := range doc.Paths {
		for method, o := range methods {
			ref, _ := o.RequestBody.Content["application/json"].Schema["$ref"].(string)
			if ref != "" && !strings.HasSuffix(ref, "Request") {
				t.Errorf("%s (%s): the body is %s, want a name that ends with Request", o.OperationID, method, ref)
			}
		}
	}
}
