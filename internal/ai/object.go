package ai

import (
	"encoding/json"
	"regexp"
	"strings"
)

// reasoningTags are the marks around what a model has thought before its answer.
var (
	reasoningBlock = regexp.MustCompile(`(?is)<(think|thinking|thought|reasoning|reason|analysis|reflection|scratchpad)>` +
		`.*?</(think|thinking|thought|reasoning|reason|analysis|reflection|scratchpad)>` +
		`|◁think▷.*?◁/think▷|\[THINK\].*?\[/THINK\]` +
		`|<\|channel\|>analysis<\|message\|>.*?(<\|end\|>|<\|start\|>)`)
	reasoningEnd = regexp.MustCompile(`(?i)</(think|thinking|thought|reasoning|reason|analysis|reflection|scratchpad)>` +
		`|◁/think▷|\[/THINK\]|<\|channel\|>final<\|message\|>`)
	reasoningBegin = regexp.MustCompile(`(?i)<(think|thinking|thought|reasoning|analysis|reflection|scratchpad)>` +
		`|◁think▷|\[THINK\]|<\|channel\|>analysis`)
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
