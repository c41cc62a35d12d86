package ai

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed prompts
var prompts embed.FS

// Ask is the input of an operation.
type Ask struct {
	Task   string         `json:"task"`             // written by the caller
	Record map[string]any `json:"record,omitempty"` // CRM data, untrusted
	Text   string         `json:"text,omitempty"`   // a mail, untrusted
}

// Answer is the result of an operation: one of the types below.
type Answer interface {
	// check validates the contents of a decoded answer.
	check(a Ask) error
}

// Draft is an email that has not been sent.
type Draft struct {
	Subject string `json:"subject" doc:"Subject of the mail"`
	Body    string `json:"body" doc:"The mail as plain text; nothing is sent"`
}

// Summary is a summary of a contact.
type Summary struct {
	Summary    string   `json:"summary" doc:"Summary of the contact in a few sentences"`
	Highlights []string `json:"highlights" doc:"The most important facts, one short sentence each"`
}

// NextAction is the recommended next action for a contact.
type NextAction struct {
	Action    string `json:"action" enum:"email,call,meeting,task,wait,none"`
	Reason    string `json:"reason" doc:"Why this action is recommended, in a sentence or two"`
	DueInDays int    `json:"due_in_days" doc:"Days from now until the action is due, at least 0"`
}

// Descriptions implements wire.Describer.
func (NextAction) Descriptions() map[string]string {
	return map[string]string{
		"action": "The recommended action; wait: not yet; none: nothing to do",
	}
}

// Classified is the classification of a reply.
type Classified struct {
	Label      string  `json:"label" enum:"positive,neutral,negative,ooo,unsubscribe"`
	Confidence float64 `json:"confidence" doc:"How sure the model is of label, 0 to 1"`
	Reason     string  `json:"reason" doc:"Why the reply has this class, in a sentence"`
}

// Descriptions implements wire.Describer.
func (Classified) Descriptions() map[string]string {
	return map[string]string{
		"label": "Class of the reply; ooo: an automatic out-of-office reply; unsubscribe: a wish for no more " +
			"mails",
	}
}

// Operation is one kind of request to a model.
type Operation struct {
	Name      string
	MaxTokens int64 // of the reply
	schema    json.RawMessage
	system    string
}

// The supported operations.
var (
	DraftEmail = newOperation("draft_email", 900, `{"subject":{"type":"string"},"body":{"type":"string"}}`)
	Summarize  = newOperation("summarize_contact", 600,
		`{"summary":{"type":"string"},"highlights":{"type":"array","items":{"type":"string"}}}`)
	Next = newOperation("next_action", 250,
		`{"action":{"type":"string","enum":["email","call","meeting","task","wait","none"]},`+
			`"reason":{"type":"string"},"due_in_days":{"type":"integer"}}`)
	Classify = newOperation("classify_reply", 150,
		`{"label":{"type":"string","enum":["positive","neutral","negative","ooo","unsubscribe"]},`+
			`"confidence":{"type":"number"},"reason":{"type":"string"}}`)
)

func newOperation(name string, tokens int64, properties string) Operation {
	common, err := prompts.ReadFile("prompts/common.md")
	own, err2 := prompts.ReadFile("prompts/" + name + ".md")
	var fields map[string]json.RawMessage
	if err := errors.Join(err, err2, json.Unmarshal([]byte(properties), &fields)); err != nil {
		panic(err) // the prompts are embedded, and a test reads all of them
	}

	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": json.RawMessage(properties),
		"required": slices.Sorted(maps.Keys(fields)), "additionalProperties": false,
	})
	if err != nil {
		panic(err)
	}

	return Operation{Name: name, MaxTokens: tokens, schema: schema, system: string(common) + "\n" + string(own)}
}

// Call returns the call to the provider for a.
func (o Operation) Call(a Ask) (Call, error) {
	user, err := json.Marshal(a)
	if err != nil {
		return Call{}, fmt.Errorf("encode question: %w", err)
	}
	return Call{Name: o.Name, System: o.system, User: string(user), Schema: o.schema, MaxTokens: o.MaxTokens}, nil
}

// Estimate returns an upper bound of the tokens that c uses: a generous count of the prompt plus the maximum length of
// the reply.
func (c Call) Estimate() int64 {
	const perMessage = 16
	return int64(len(c.System)+len(c.User)+len(c.Schema)+2)/3 + 2*perMessage + c.MaxTokens
}

// ErrForm reports that a reply does not have the requested form.
var ErrForm = errors.New("the reply does not have the requested form")

// Read decodes a model's text as an answer of type A: the one JSON object in it with exactly the fields of A, each
// within its bounds. Around it there may be what the model has thought, marks of code and prose. For any other text,
// also one with several such objects that differ, it returns ErrForm.
func Read[A any, P interface {
	*A
	Answer
}](text string, a Ask) (*A, error) {
	var (
		found *A
		first error
	)
	for _, object := range objectsIn(text) {
		out, err := readObject[A, P](object, a)
		switch {
		case err != nil:
			if first == nil {
				first = err
			}
		case found != nil && !reflect.DeepEqual(found, out):
			return nil, fmt.Errorf("%w: more than one answer", ErrForm)
		default:
			found = out
		}
	}
	switch {
	case found != nil:
		return found, nil
	case first != nil:
		return nil, first
	}
	return nil, fmt.Errorf("%w: it has no JSON object", ErrForm)
}

// readObject decodes a JSON object as an answer.
func readObject[A any, P interface {
	*A
	Answer
}](text string, a Ask) (*A, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}

	out := new(A)
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more than one value", ErrForm)
	}

	want, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}

	var own map[string]json.RawMessage
	if err := json.Unmarshal(want, &own); err != nil || len(own) != len(fields) {
		return nil, fmt.Errorf("%w: a field is missing", ErrForm)
	}

	for f := range own {
		if _, ok := fields[f]; !ok { // encoding/json ignores letter case
			return nil, fmt.Errorf("%w: %s is missing", ErrForm, f)
		}
	}

	if err := P(out).check(a); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}

	return out, nil
}

func (d *Draft) check(a Ask) error {
	return errors.Join(checkProse("subject", d.Subject, 200, false), checkProse("body", d.Body, 5000, true),
		checkLinks(d.Subject+" "+d.Body, a.Task))
}

func (s *Summary) check(a Ask) error {
	err := errors.Join(checkProse("summary", s.Summary, 2000, true), checkLinks(s.Summary, a.Task))
	if len(s.Highlights) > 5 {
		err = errors.Join(err, errors.New("more than five highlights"))
	}

	for _, h := range s.Highlights {
		err = errors.Join(err, checkProse("highlight", h, 300, false), checkLinks(h, a.Task))
	}

	return err
}

func (n *NextAction) check(a Ask) error {
	err := errors.Join(oneOf("action", n.Action, "email", "call", "meeting", "task", "wait", "none"),
		checkProse("reason", n.Reason, 600, false), checkLinks(n.Reason, a.Task))
	if n.DueInDays < 0 || n.DueInDays > 365 {
		err = errors.Join(err, errors.New("due_in_days is not between 0 and 365"))
	}
	return err
}

func (c *Classified) check(a Ask) error {
	err := errors.Join(oneOf("label", c.Label, "positive", "neutral", "negative", "ooo", "unsubscribe"),
		checkProse("reason", c.Reason, 400, false), checkLinks(c.Reason, a.Task))
	if !(c.Confidence >= 0 && c.Confidence <= 1) {
		err = errors.Join(err, errors.New("confidence is not between 0 and 1"))
	}
	return err
}

// checkProse returns an error unless s is non-blank text of at most longest characters without control characters.
func checkProse(name, s string, longest int, lines bool) error {
	bad := func(r rune) bool { return unicode.IsControl(r) && (!lines || !strings.ContainsRune("\n\r\t", r)) }
	if strings.TrimSpace(s) == "" || utf8.RuneCountInString(s) > longest || strings.ContainsFunc(s, bad) ||
		!utf8.ValidString(s) {
		return fmt.Errorf("%s is empty, too long or not plain text", name)
	}
	return nil
}

func oneOf(name, s string, all ...string) error {
	for _, one := range all {
		if s == one {
			return nil
		}
	}
	return fmt.Errorf("%s is not an allowed value", name)
}

// checkLinks rejects a link in s that is not part of task: untrusted text in the prompt could have injected it.
func checkLinks(s, task string) error {
	for word := range strings.FieldsSeq(s) {
		lower := strings.ToLower(word)
		if i := strings.Index(lower, "://"); i >= 0 || strings.HasPrefix(strings.TrimLeft(lower, "(<[\"'"), "www.") {
			if !strings.Contains(strings.ToLower(task), strings.Trim(lower, "()<>[]\"'.,;:!?")) {
				return errors.New("it contains a link that is not in the task")
			}
		}
	}

	return nil
}
