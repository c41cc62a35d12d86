package liquid

import (
	"bytes"
	"strings"
)

// pageState is a state of the HTML tokenizer, reduced to what a value can meet.
type pageState byte

const (
	inText pageState = iota
	afterLess
	inEndTag // behind </
	inTagName
	inTag // between attributes
	inAttributeName
	afterAttributeName
	beforeAttributeValue
	inAttributeValue
	inDeclaration // behind <!
	inComment
	inBogus   // until >
	inRawText // of script, style and their like, until the end tag
	inURL     // not HTML: the whole output is a URL
)

// attributeKind says what the value of an attribute is.
type attributeKind byte

const (
	plainAttribute attributeKind = iota
	urlAttribute
	styleAttribute
	closedAttribute // takes no value of a contact
)

// page follows the output through the tokenizer.
type page struct {
	state   pageState
	element []byte // the name of the tag, in lower case
	ending  bool   // the tag is an end tag
	name    []byte // the name of the attribute, in lower case
	kind    attributeKind
	quote   byte   // of the attribute's value; 0: unquoted
	seen    []byte // the end of the raw text, declaration or comment
	link    link
}

// rawElements hold text without tags. In title and textarea character references work, so values there are text.
var rawElements = map[string]bool{
	"script": true, "style": true, "xmp": true, "iframe": true, "noembed": true, "noframes": true, "noscript": true,
	"plaintext": true, "title": true, "textarea": true,
}

var urlAttributes = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "background": true, "cite": true, "data": true,
	"longdesc": true, "poster": true, "usemap": true, "xlink:href": true, "profile": true, "codebase": true,
	"manifest": true, "ping": true, "dynsrc": true, "lowsrc": true,
}

func kindOf(name []byte) attributeKind {
	switch {
	case urlAttributes[string(name)]:
		return urlAttribute
	case string(name) == "style":
		return styleAttribute
	case bytes.HasPrefix(name, []byte("on")), string(name) == "srcset", string(name) == "srcdoc",
		string(name) == "http-equiv":
		return closedAttribute
	}
	return plainAttribute
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// follow moves the state over s, which is part of the template.
func (p *page) follow(s string) {
	for i := 0; i < len(s); i++ {
		switch p.state {
		case inText:
			next := strings.IndexByte(s[i:], '<')
			if next < 0 {
				return
			}
			i += next
			p.state = afterLess
		case inURL:
			p.link.add(s[i:])
			return
		case inAttributeValue:
			i = p.followValue(s, i)
		case inComment, inRawText, inDeclaration:
			p.followSpecial(s[i])
		case inBogus:
			if s[i] == '>' {
				p.state = inText
			}
		default:
			p.followTag(s[i])
		}
	}
}

// followValue moves to the end of the attribute's value and returns the index of its last byte.
func (p *page) followValue(s string, i int) int {
	var size int
	if p.quote != 0 {
		size = strings.IndexByte(s[i:], p.quote)
	} else {
		size = strings.IndexAny(s[i:], " \t\r\n\f>")
	}
	if size < 0 {
		p.link.add(s[i:])
		return len(s)
	}
	p.link.add(s[i : i+size])
	if p.state = inTag; s[i+size] == '>' && p.quote == 0 {
		p.endTag()
	}
	return i + size
}

// followSpecial moves over a byte of a comment, a declaration or raw text.
func (p *page) followSpecial(c byte) {
	if p.seen = append(p.seen, lower(c)); len(p.seen) > 32 {
		p.seen = append(p.seen[:0], p.seen[len(p.seen)-16:]...)
	}
	switch p.state {
	case inDeclaration:
		switch {
		case string(p.seen) == "--":
			p.state = inComment // p.seen stays: --> may follow at once
		case c == '>':
			p.state = inText
		case string(p.seen) != "-":
			p.state = inBogus
		}
	case inComment:
		if bytes.HasSuffix(p.seen, []byte("-->")) || bytes.HasSuffix(p.seen, []byte("--!>")) ||
			string(p.seen) == "-->" || string(p.seen) == "--->" {
			p.state = inText
		}
	default:
		end := len(p.element) + 3 // </script>
		if n := len(p.seen); n >= end && (isSpace(c) || c == '/' || c == '>') &&
			string(p.seen[n-end:n-end+2]) == "</" && bytes.Equal(p.seen[n-end+2:n-1], p.element) {
			p.ending = true
			if p.state = inTag; c == '>' {
				p.state = inText
			}
		}
	}
}

// followTag moves over a byte of a tag outside attribute values.
func (p *page) followTag(c byte) {
	switch p.state {
	case afterLess:
		p.ending, p.element, p.seen = false, p.element[:0], p.seen[:0]
		switch {
		case isLetter(c):
			p.element = append(p.element, lower(c))
			p.state = inTagName
		case c == '/':
			p.state = inEndTag
		case c == '!':
			p.state = inDeclaration
		case c == '?':
			p.state = inBogus
		case c != '<':
			p.state = inText
		}
	case inEndTag:
		p.ending = true
		switch {
		case isLetter(c):
			p.element = append(p.element, lower(c))
			p.state = inTagName
		case c == '>':
			p.state = inText
		default:
			p.state = inBogus
		}
	case inTagName:
		switch {
		case isSpace(c), c == '/':
			p.state = inTag
		case c == '>':
			p.endTag()
		default:
			p.element = append(p.element, lower(c))
		}
	case inTag:
		switch {
		case isSpace(c), c == '/':
		case c == '>':
			p.endTag()
		default:
			p.name = append(p.name[:0], lower(c))
			p.state = inAttributeName
		}
	default:
		p.followAttribute(c)
	}
}

// followAttribute moves over a byte of an attribute before its value.
func (p *page) followAttribute(c byte) {
	switch {
	case c == '>':
		p.endTag()
	case p.state == beforeAttributeValue:
		if isSpace(c) {
			return
		}
		p.state, p.quote = inAttributeValue, 0
		if c == '"' || c == '\'' {
			p.quote = c
		} else {
			p.link.add(string(c))
		}
	case c == '=':
		p.state, p.kind, p.link = beforeAttributeValue, kindOf(p.name), link{}
	case isSpace(c):
		p.state = afterAttributeName
	case c == '/':
		p.state = inTag
	case p.state == afterAttributeName:
		p.name = append(p.name[:0], lower(c))
		p.state = inAttributeName
	default:
		p.name = append(p.name, lower(c))
	}
}

// endTag moves behind the > of a tag.
func (p *page) endTag() {
	if p.state = inText; !p.ending && rawElements[string(p.element)] {
		p.state, p.seen = inRawText, p.seen[:0]
	}
}
