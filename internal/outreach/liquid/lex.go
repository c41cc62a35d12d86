package liquid

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// position is a place in the source, both counted from 1.
type position struct{ line, column int }

func (p position) errorf(msg string) error {
	return &SyntaxError{Line: p.line, Column: p.column, Msg: msg}
}

// pieceKind says what a piece of the source is.
type pieceKind byte

const (
	textPiece   pieceKind = iota
	outputPiece           // {{ body }}
	tagPiece              // {% body %}
)

// piece is a part of the source: text, or the inside of one pair of braces.
type piece struct {
	kind pieceKind
	body string
	at   position
}

// split cuts the source into pieces and removes the white space that {{-, -}}, {%- and -%} ask for.
func split(source string) ([]piece, error) {
	var (
		pieces []piece
		trim   bool // the piece before ended in -}} or -%}
	)
	at := position{1, 1}
	for source != "" {
		open := nextOpen(source)
		if open > 0 || open < 0 {
			text := source
			if open > 0 {
				text = source[:open]
			}
			pieces = append(pieces, piece{textPiece, trimmed(text, trim, opensTrimmed(source, open)), at})
			at, trim = at.after(text), false
			source = source[len(text):]
			continue
		}
		kind, end := outputPiece, "}}"
		if source[1] == '%' {
			kind, end = tagPiece, "%}"
		}
		size := strings.Index(source[2:], end)
		if size < 0 {
			return nil, at.errorf("this " + source[:2] + " has no " + end)
		}
		body := source[2 : 2+size]
		whole := source[:2+size+2]
		body = strings.TrimPrefix(body, "-")
		if trim = strings.HasSuffix(body, "-"); trim {
			body = body[:len(body)-1]
		}
		if strings.ContainsRune(body, '&') {
			body = html.UnescapeString(body)
		}
		pieces = append(pieces, piece{kind, body, at})
		at = at.after(whole)
		source = source[len(whole):]
	}
	return pieces, nil
}

// nextOpen returns the index of the next {{ or {%, or -1.
func nextOpen(s string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '{')
		if i < 0 || from+i+1 >= len(s) {
			return -1
		}
		if from += i; s[from+1] == '{' || s[from+1] == '%' {
			return from
		}
		from++
	}
}

func opensTrimmed(s string, open int) bool { return open >= 0 && open+2 < len(s) && s[open+2] == '-' }

func trimmed(s string, left, right bool) string {
	if left {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	if right {
		s = strings.TrimRightFunc(s, unicode.IsSpace)
	}
	return s
}

// after returns the position behind text that begins at p.
func (p position) after(text string) position {
	if n := strings.Count(text, "\n"); n > 0 {
		p.line += n
		p.column = 1
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	p.column += utf8.RuneCountInString(text)
	return p
}
