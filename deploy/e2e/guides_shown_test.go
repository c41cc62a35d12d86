package e2e_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// elision stands for any text in what a guide shows.
const elision = "…"

// compareShown returns an error unless out has what the block b shows.
func compareShown(b block, out string) error {
	if b.info == "console" {
		return compareLines(b.text, out)
	}
	var want any
	if err := json.Unmarshal([]byte(b.text), &want); err != nil {
		return fmt.Errorf("the guide shows no JSON: %w", err)
	}
	var last error
	for _, got := range documentsIn(out) {
		if last = comparePart("", want, got); last == nil {
			return nil
		}
	}
	if last == nil {
		return fmt.Errorf("no JSON in %q", out)
	}
	return fmt.Errorf("%w\nin %s", last, out)
}

// compareLines returns an error unless every line of want is a line of out, in order.
func compareLines(want, out string) error {
	lines := strings.Split(out, "\n")
	for line := range strings.Lines(want) {
		line = strings.TrimSpace(line)
		i := slices.IndexFunc(lines, func(s string) bool { return matchText(line, strings.TrimSpace(s)) })
		if i < 0 {
			return fmt.Errorf("no line %q in the rest of\n%s", line, out)
		}
		lines = lines[i+1:]
	}
	return nil
}

// documentsIn returns every JSON object that begins at the start of a line.
func documentsIn(out string) []any {
	var all []any
	for at := 0; at < len(out); {
		if out[at] == '{' {
			var one any
			d := json.NewDecoder(strings.NewReader(out[at:]))
			if d.Decode(&one) == nil {
				all = append(all, one)
				at += int(d.InputOffset())
			}
		}
		next := strings.IndexByte(out[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return all
}

// comparePart returns an error unless want is a part of got: every member of an object, and every element of a list in
// order.
func comparePart(at string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, not an object", at, got)
		}
		for name, value := range want {
			member, ok := object[name]
			if !ok {
				return fmt.Errorf("%s/%s is missing", at, name)
			}
			if err := comparePart(at+"/"+name, value, member); err != nil {
				return err
			}
		}
		return nil
	case []any:
		list, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s is %v, not a list", at, got)
		}
		if len(want) == 0 && len(list) > 0 {
			return fmt.Errorf("%s is %v, not empty", at, got)
		}
		for i, value := range want {
			found := slices.IndexFunc(list, func(one any) bool { return comparePart("", value, one) == nil })
			if found < 0 {
				return fmt.Errorf("%s has no element %d as shown, %v", at, i, value)
			}
			list = list[found+1:]
		}
		return nil
	case string:
		if text, ok := got.(string); ok && matchText(want, text) {
			return nil
		}
	default:
		if reflect.DeepEqual(want, got) {
			return nil
		}
	}
	return fmt.Errorf("%s is %v, and shown as %v", at, got, want)
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// matchText reports whether got is as want shows it. Times and identifiers differ from run to run.
func matchText(want, got string) bool {
	if uuid.MatchString(want) && uuid.MatchString(got) {
		return true
	}
	if _, err := time.Parse(time.RFC3339, want); err == nil {
		_, err = time.Parse(time.RFC3339, got)
		return err == nil
	}
	parts := strings.Split(want, elision)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, `.*`) + `$`).MatchString(got)
}
