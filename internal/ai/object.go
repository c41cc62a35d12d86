package ai

import (
	"encoding/json"
	"regexp"
	"strings"
)

// thoughts are the names of the tags around what a model has thought before its answer.
const thoughts = `(think|thinking|thought|reasoning|reason|analysis|reflection|scratchpad)`

// Marks of what a model has thought.
var (
	reasoningBlock = regexp.MustCompile(`(?is)<` + thoughts + `>.*?</` + thoughts + `>` +
		`|◁think▷.*?◁/think▷|\[THINK\].*?\[/THINK\]` +
		`|<\|channel\|>analysis<\|message\|>.*?(<\|end\|>|<\|start\|>)`)
	reasoningEnd = regexp.MustCompile(`(?i)</` + thoughts + `>|◁/think▷|\[/THINK\]` +
		`|<\|channel\|>final<\|message\|>`)
	reasoningBegin = regexp.MustCompile(`(?i)<` + thoughts + `>|◁think▷|\[THINK\]|<\|channel\|>analysis`)
)

func hasReasoning(text string) bool { return reasoningBegin.MatchString(text) }

// withoutReasoning returns a model's text without what it has thought before. Some servers leave out the first mark.
func withoutReasoning(text string) string {
	text = reasoningBlock.ReplaceAllString(text, "")
	if ends := reasoningEnd.FindAllStringIndex(text, -1); len(ends) > 0 {
		text = text[ends[len(ends)-1][1]:]
	}
	return text
}

// objectsIn returns the JSON objects in a model's text, outermost ones only, without what it has thought before. A text
// that is one JSON value is returned as it is.
func objectsIn(text string) []string {
	whole := strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if json.Valid([]byte(whole)) {
		var inner string // the object as a string
		if json.Unmarshal([]byte(whole), &inner) == nil && json.Valid([]byte(inner)) {
			return []string{inner}
		}
		return []string{whole}
	}

	var all []string
	rest := withoutReasoning(whole)
	for {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			return all
		}
		rest = rest[at:]
		var raw json.RawMessage
		d := json.NewDecoder(strings.NewReader(rest))
		if d.Decode(&raw) != nil {
			rest = rest[1:]
			continue
		}
		all = append(all, string(raw))
		rest = rest[d.InputOffset():]
	}
}
