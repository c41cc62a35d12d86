package liquid

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token inside braces.
type tokenKind byte

const (
	endToken tokenKind = iota
	nameToken
	textToken
	numberToken
	signToken // | : , . [ ] == != <> < > <= >= = -
)

type token struct {
	kind tokenKind
	text string // of a textToken without quotes
	at   position
}

// quotes maps an opening quote to the closing ones. Editors turn straight quotes into typographic ones.
var quotes = map[rune]string{
	'"': `"`, '\'': `'`, '“': `”“"`, '”': `”"`, '„': `“”"`, '‘': `’‘'`, '’': `’'`, '«': `»`,
}

// twoSigns are the operators of two characters.
var twoSigns = map[string]bool{"==": true, "!=": true, "<>": true, "<=": true, ">=": true}

// tokens cuts the inside of braces into tokens.
func tokens(body string, at position) ([]token, error) {
	var list []token
	for body != "" {
		r, size := utf8.DecodeRuneInString(body)
		shut, isQuote := quotes[r]
		var t token
		switch {
		case unicode.IsSpace(r):
			at = at.after(body[:size])
			body = body[size:]
			continue
		case isQuote:
			end := strings.IndexAny(body[size:], shut)
			if end < 0 {
				return nil, at.errorf("this text has no closing quote")
			}
			_, last := utf8.DecodeRuneInString(body[size+end:])
			t = token{textToken, body[size : size+end], at}
			size += end + last
		case r >= '0' && r <= '9' || r == '-' && len(body) > 1 && body[1] >= '0' && body[1] <= '9':
			size = 1
			for size < len(body) && (body[size] >= '0' && body[size] <= '9' || body[size] == '.') {
				size++
			}
			t = token{numberToken, body[:size], at}
		case r == '_' || unicode.IsLetter(r):
			size = strings.IndexFunc(body, func(r rune) bool {
				return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
			})
			if size < 0 {
				size = len(body)
			}
			t = token{nameToken, body[:size], at}
		default:
			if len(body) > 1 && twoSigns[body[:2]] {
				size = 2
			} else if !strings.ContainsRune("|:,.[]<>", r) {
				return nil, at.errorf("unexpected " + strconv.QuoteRune(r))
			}
			t = token{signToken, body[:size], at}
		}
		list = append(list, t)
		at = at.after(body[:size])
		body = body[size:]
	}
	return append(list, token{endToken, "", at}), nil
}

// operand is a literal or a path.
type operand struct {
	path    []string // nil for a literal
	literal any
	at      position
}

// name returns the path as it is shown: contact.first_name.
func (o operand) name() string { return strings.Join(o.path, ".") }

type filterCall struct {
	name string
	run  filter
	args []operand
	at   position
}

// value is an operand with filters.
type value struct {
	operand
	filters []filterCall
}

// condition is a comparison, or, with op "", the truth of left; and or or joins it to next.
type condition struct {
	left, right operand
	op          string
	join        string
	next        *condition
}

// expressionParser reads the tokens inside one pair of braces.
type expressionParser struct{ list []token }

func (p *expressionParser) peek() token { return p.list[0] }

func (p *expressionParser) take() token {
	t := p.list[0]
	if t.kind != endToken {
		p.list = p.list[1:]
	}
	return t
}

func (p *expressionParser) is(kind tokenKind, text string) bool {
	return p.list[0].kind == kind && p.list[0].text == text
}

// accept takes the next token if it is the sign text, and reports whether it was.
func (p *expressionParser) accept(text string) bool {
	if !p.is(signToken, text) {
		return false
	}
	p.take()
	return true
}

func (p *expressionParser) end() error {
	if t := p.peek(); t.kind != endToken {
		return t.at.errorf("unexpected " + strconv.Quote(t.text))
	}
	return nil
}

// blankValue is the literals empty and blank.
type blankValue struct{}

func (p *expressionParser) operand() (operand, error) {
	t := p.take()
	o := operand{at: t.at}
	switch t.kind {
	case textToken:
		o.literal = t.text
		return o, nil
	case numberToken:
		if n, err := strconv.ParseInt(t.text, 10, 64); err == nil {
			o.literal = n
			return o, nil
		}
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return o, t.at.errorf(strconv.Quote(t.text) + " is not a number")
		}
		o.literal = f
		return o, nil
	case nameToken:
		switch t.text {
		case "true", "false":
			o.literal = t.text == "true"
			return o, nil
		case "nil", "null":
			return o, nil
		case "empty", "blank":
			o.literal = blankValue{}
			return o, nil
		}
		o.path = []string{t.text}
		return o, p.path(&o)
	case endToken:
		return o, t.at.errorf("a value is missing here")
	case signToken:
	}
	return o, t.at.errorf("unexpected " + strconv.Quote(t.text))
}

// path reads the rest of a path: .name, [0], ["name"].
func (p *expressionParser) path(o *operand) error {
	for {
		var key token
		switch {
		case p.accept("."):
			if key = p.take(); key.kind != nameToken {
				return key.at.errorf("a name is missing behind the dot")
			}
		case p.accept("["):
			if key = p.take(); key.kind != textToken && key.kind != numberToken {
				return key.at.errorf("an index must be a number or a text in quotes")
			}
			if t := p.take(); t.kind != signToken || t.text != "]" {
				return t.at.errorf("a ] is missing")
			}
		default:
			return nil
		}
		if o.path = append(o.path, key.text); len(o.path) > 16 {
			return key.at.errorf("this path is too long")
		}
	}
}

func (p *expressionParser) value() (value, error) {
	var v value
	var err error
	if v.operand, err = p.operand(); err != nil {
		return v, err
	}
	for p.accept("|") {
		t := p.take()
		known, ok := filters[t.text]
		if t.kind != nameToken || !ok {
			return v, t.at.errorf("there is no filter " + strconv.Quote(t.text) + "; there are " + filterNames)
		}
		call := filterCall{name: t.text, run: known.run, at: t.at}
		if p.accept(":") {
			for {
				arg, err := p.operand()
				if err != nil {
					return v, err
				}
				call.args = append(call.args, arg)
				if !p.accept(",") {
					break
				}
			}
		}
		if len(call.args) < known.least || len(call.args) > known.most {
			return v, t.at.errorf(t.text + " takes " + known.takes)
		}
		if known.check != nil {
			if msg := known.check(call.args); msg != "" {
				return v, t.at.errorf(t.text + ": " + msg)
			}
		}
		if v.filters = append(v.filters, call); len(v.filters) > 16 {
			return v, t.at.errorf("too many filters")
		}
	}
	return v, nil
}

var comparisons = map[string]bool{
	"==": true, "!=": true, "<>": true, "<": true, ">": true, "<=": true, ">=": true, "contains": true,
}

func (p *expressionParser) condition() (*condition, error) {
	first := &condition{}
	for c, n := first, 1; ; n++ {
		var err error
		if c.left, err = p.operand(); err != nil {
			return nil, err
		}
		if t := p.peek(); comparisons[t.text] && (t.kind == signToken || t.kind == nameToken) {
			c.op = p.take().text
			if c.right, err = p.operand(); err != nil {
				return nil, err
			}
		}
		t := p.peek()
		if t.kind != nameToken || t.text != "and" && t.text != "or" {
			return first, p.end()
		}
		if n == 50 {
			return nil, t.at.errorf("this condition is too long")
		}
		p.take()
		c.join, c.next = t.text, &condition{}
		c = c.next
	}
}
