package liquid

import (
	"strconv"
	"strings"
)

const (
	maxSource = 512 << 10
	maxDepth  = 32
)

// A Template is a parsed template. It is safe for concurrent use.
type Template struct {
	source string
	nodes  []node
}

// node is one of textNode, outputNode, *ifNode and *forNode.
type node any

type textNode string

type outputNode struct {
	value
	at position
}

// ifNode is if and unless: the first branch whose condition holds is rendered.
type ifNode struct{ branches []branch }

type branch struct {
	condition *condition // nil for else
	negated   bool       // of unless
	body      []node
}

type forNode struct {
	name          string
	list          operand
	limit, offset operand
	hasLimit      bool
	body, empty   []node
}

// parser turns pieces into nodes.
type parser struct {
	pieces []piece
	depth  int
}

// Parse parses a template. An error is a *SyntaxError.
func Parse(source string) (*Template, error) {
	if len(source) > maxSource {
		return nil, position{1, 1}.errorf("the template is longer than 512 KiB")
	}
	pieces, err := split(source)
	if err != nil {
		return nil, err
	}
	p := parser{pieces: pieces}
	nodes, end, err := p.block()
	if err != nil {
		return nil, err
	}
	if end.name != "" {
		return nil, end.at.errorf(end.name + " does not belong to an open tag")
	}
	return &Template{source: source, nodes: nodes}, nil
}

// tag is the inside of {% %}: its name, and the tokens behind it.
type tag struct {
	name string
	rest string
	at   position
}

func readTag(p piece) tag {
	body := strings.TrimSpace(p.body)
	if strings.HasPrefix(body, "#") {
		return tag{"#", "", p.at}
	}
	name, rest, _ := strings.Cut(body, " ")
	if i := strings.IndexAny(name, "\t\r\n"); i >= 0 {
		name, rest = body[:i], body[i+1:]
	}
	return tag{name, rest, p.at}
}

// block parses nodes up to a tag that ends or divides a block, and returns that tag; its name is "" at the end.
func (p *parser) block() ([]node, tag, error) {
	var nodes []node
	p.depth++
	defer func() { p.depth-- }()
	for len(p.pieces) > 0 {
		here := p.pieces[0]
		if p.depth > maxDepth {
			return nil, tag{}, here.at.errorf("tags are nested too deep")
		}
		p.pieces = p.pieces[1:]
		var n node
		var err error
		switch here.kind {
		case textPiece:
			if here.body != "" {
				nodes = append(nodes, textNode(here.body))
			}
			continue
		case outputPiece:
			n, err = output(here)
		case tagPiece:
			t := readTag(here)
			switch t.name {
			case "#":
				continue
			case "comment":
				err = p.comment(t)
				if err == nil {
					continue
				}
			case "if", "unless":
				n, err = p.conditional(t)
			case "for":
				n, err = p.loop(t)
			case "elsif", "else", "endif", "endunless", "endfor", "endcomment":
				if strings.TrimSpace(t.rest) != "" && t.name != "elsif" {
					return nil, t, t.at.errorf("unexpected text behind " + t.name)
				}
				return nodes, t, nil
			default:
				err = t.at.errorf("there is no tag " + strconv.Quote(t.name) +
					"; there are if, unless, for and comment")
			}
		}
		if err != nil {
			return nil, tag{}, err
		}
		nodes = append(nodes, n)
	}
	return nodes, tag{}, nil
}

// body parses the block of t up to one of ends.
func (p *parser) body(t tag, ends string) ([]node, tag, error) {
	nodes, end, err := p.block()
	if err == nil && end.name == "" {
		err = t.at.errorf(t.name + " has no end" + t.name)
	}
	if err == nil && !strings.Contains(" "+ends+" ", " "+end.name+" ") {
		err = end.at.errorf(end.name + " does not belong to " + t.name)
	}
	return nodes, end, err
}

func output(here piece) (node, error) {
	list, err := tokens(here.body, here.at.after("{{"))
	if err != nil {
		return nil, err
	}
	p := expressionParser{list}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	return outputNode{v, here.at}, p.end()
}

// comment skips to the endcomment of t; comments nest.
func (p *parser) comment(t tag) error {
	for depth := 1; len(p.pieces) > 0; {
		here := p.pieces[0]
		p.pieces = p.pieces[1:]
		if here.kind != tagPiece {
			continue
		}
		switch readTag(here).name {
		case "comment":
			depth++
		case "endcomment":
			if depth--; depth == 0 {
				return nil
			}
		}
	}
	return t.at.errorf("comment has no endcomment")
}

func (p *parser) conditional(t tag) (node, error) {
	n := &ifNode{}
	negated := t.name == "unless"
	opening, finish := t, "end"+t.name
	for {
		b := branch{negated: negated}
		if opening.name != "else" {
			list, err := tokens(opening.rest, opening.at.after("{% "+opening.name+" "))
			if err != nil {
				return nil, err
			}
			e := expressionParser{list}
			if b.condition, err = e.condition(); err != nil {
				return nil, err
			}
		}
		ends := finish
		if opening.name != "else" {
			ends += " elsif else"
		}
		nodes, end, err := p.body(tag{t.name, "", t.at}, ends)
		if err != nil {
			return nil, err
		}
		b.body = nodes
		n.branches = append(n.branches, b)
		if end.name == finish {
			return n, nil
		}
		opening, negated = end, false
	}
}

func (p *parser) loop(t tag) (node, error) {
	list, err := tokens(t.rest, t.at.after("{% for "))
	if err != nil {
		return nil, err
	}
	e := expressionParser{list}
	name := e.take()
	if in := e.take(); name.kind != nameToken || in.kind != nameToken || in.text != "in" {
		return nil, t.at.errorf("for has the form: for item in contact.attributes.list")
	}
	n := &forNode{name: name.text}
	if n.list, err = e.operand(); err != nil {
		return nil, err
	}
	if n.list.path == nil {
		return nil, n.list.at.errorf("for needs the path of a list")
	}
	for e.peek().kind == nameToken {
		option := e.take()
		if option.text != "limit" && option.text != "offset" || !e.accept(":") {
			return nil, option.at.errorf("for takes limit: and offset: only")
		}
		o, err := e.operand()
		if err != nil {
			return nil, err
		}
		if option.text == "limit" {
			n.limit, n.hasLimit = o, true
		} else {
			n.offset = o
		}
	}
	if err = e.end(); err != nil {
		return nil, err
	}
	nodes, end, err := p.body(t, "else endfor")
	if n.body = nodes; err == nil && end.name == "else" {
		n.empty, _, err = p.body(t, "endfor")
	}
	return n, err
}
