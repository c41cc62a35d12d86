package e2e_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// block is one fenced code block of a guide. The first word of its info string is the language:
//
//	sh           runs in the guide's shell, as pasted
//	sh check     cannot run in a test; its syntax, commands, flags and settings are checked
//	json         what the block above it prints, as a part of it
//	console      lines that the block above it prints, in order
//	json filter  a filter, which a list of contacts takes
type block struct {
	line int // of its first line
	info string
	text string
}

// kinds are the info strings that a guide may have.
var kinds = []string{"sh", "sh check", "json", "json filter", "console"}

// isShown reports whether b shows what the block above it prints.
func (b block) isShown() bool { return b.info == "json" || b.info == "console" }

var (
	changing = regexp.MustCompile(`-X|\s(-F|-T|-d|--data-binary)\s`)
	query    = regexp.MustCompile(`-G\s`)
	writing  = regexp.MustCompile(`-X|\s(-F|-T|--data-binary)\s`)
	reading  = regexp.MustCompile(`^(jobs (list|show|redrives|pauses|acts)|billing rights)\b`)
)

// isRead reports whether b only reads. Such a block is repeated until it prints what the guide shows, because a job may
// still run.
func (b block) isRead() bool {
	for command := range strings.SplitSeq(strings.ReplaceAll(b.text, "\\\n", " "), "\n") {
		if changing.MatchString(command) && (!query.MatchString(command) || writing.MatchString(command)) {
			return false
		}
	}
	for _, call := range strings.Split(b.text, "funnelwork ")[1:] {
		if !reading.MatchString(call) {
			return false
		}
	}
	return true
}

// document is what a test needs of a guide.
type document struct {
	blocks []block
	spans  []string // inline code
	links  []string
}

// parseGuide returns the code blocks, inline code and links of a Markdown source. It fails on a block that no test
// would run.
func parseGuide(source string) (document, error) {
	var d document
	in := []byte(source)
	root := goldmark.DefaultParser().Parse(text.NewReader(in))
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			b := block{text: string(n.Lines().Value(in))}
			if n.Info != nil {
				b.info = string(n.Info.Value(in))
				b.line = 1 + strings.Count(source[:n.Info.Segment.Start], "\n")
			}
			if !slices.Contains(kinds, b.info) {
				return ast.WalkStop, fmt.Errorf("line %d: a code block of the unknown kind %q", b.line, b.info)
			}
			d.blocks = append(d.blocks, b)
		case *ast.CodeBlock:
			return ast.WalkStop, fmt.Errorf("a code block without a fence: %s", n.Lines().Value(in))
		case *ast.CodeSpan:
			var span strings.Builder
			for part := n.FirstChild(); part != nil; part = part.NextSibling() {
				if s, ok := part.(*ast.Text); ok {
					span.Write(s.Segment.Value(in))
					if s.SoftLineBreak() {
						span.WriteByte(' ')
					}
				}
			}
			d.spans = append(d.spans, span.String())
		case *ast.Link:
			d.links = append(d.links, string(n.Destination))
		}
		return ast.WalkContinue, nil
	})
	return d, err
}

// quickStart returns the section of the README with that heading.
func quickStart(readme string) (string, error) {
	_, section, found := strings.Cut(readme, "\n## Quick start\n")
	if !found {
		return "", fmt.Errorf("the README has no section %q", "Quick start")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section, nil
}
