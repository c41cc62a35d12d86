// Package operations describes the operations of the API document and their tags. Each file in texts describes one tag
// and its operations. The files are in the order in which a newcomer needs them.
package operations

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed texts/*.md
var sources embed.FS

// text is the description of one operation, in the file of tag.
type text struct{ tag, description string }

// catalogue is the parsed content of all files.
type catalogue struct {
	tags  []*huma.Tag
	texts map[string]text // by the id of the operation
}

var load = sync.OnceValue(parse)

// Tags returns the tags in the order of the document. Callers must not modify the result.
func Tags() []*huma.Tag { return load().tags }

// heading is the first line of a part of a file: "# Tag" or "## operation.id".
var heading = regexp.MustCompile(`(?m)^#{1,2} .*$`)

// parse reads the embedded files. It panics on a faulty one: a test fails first.
func parse() catalogue {
	files, err := sources.ReadDir("texts")
	if err != nil {
		panic(fmt.Errorf("list the texts of operations: %w", err))
	}
	c := catalogue{texts: map[string]text{}}
	for _, f := range files {
		source, err := sources.ReadFile(path.Join("texts", f.Name()))
		if err != nil {
			panic(fmt.Errorf("read the texts of operations: %w", err))
		}
		c.add(f.Name(), string(source))
	}
	return c
}

// add adds the parts of one file.
func (c *catalogue) add(file, source string) {
	at := heading.FindAllStringIndex(source, -1)
	for i, span := range at {
		end := len(source)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		mark, name, _ := strings.Cut(source[span[0]:span[1]], " ")
		description := unwrap(source[span[1]:end])
		switch {
		case (mark == "#") != (i == 0):
			panic(fmt.Sprintf("%s: only the first heading, and that one, names the tag: %q", file, name))
		case mark == "#":
			c.tags = append(c.tags, &huma.Tag{Name: name, Description: description})
		case c.texts[name].tag != "":
			panic(fmt.Sprintf("%s: %s is described twice", file, name))
		default:
			c.texts[name] = text{c.tags[len(c.tags)-1].Name, description}
		}
	}
}

// unwrap returns text with each paragraph on one line.
func unwrap(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}
