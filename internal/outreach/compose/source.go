package compose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/outreach/liquid"
)

// Limits of a source, in bytes and blocks.
const (
	MaxHTML   = 512 << 10
	MaxText   = 256 << 10
	maxBlocks = 200
)

// A Source is what people write: the parts of a mail with merge fields. It has HTML or Blocks or neither; Text is the
// text part, which is made from the HTML if it is "".
type Source struct {
	Subject string
	HTML    string
	Text    string
	Blocks  []Block
}

// A Block is a part of a mail that is built from blocks.
type Block struct {
	Type       string   `json:"type" enum:"text,button,image,columns,divider,footer" doc:"Kind of the block"`
	HTML       string   `json:"html,omitempty" maxLength:"100000"`
	Text       string   `json:"text,omitempty" maxLength:"100000"`
	URL        string   `json:"url,omitempty" maxLength:"2000"`
	Src        string   `json:"src,omitempty" maxLength:"2000"`
	Alt        string   `json:"alt,omitempty" maxLength:"500"`
	Width      int      `json:"width,omitempty" minimum:"1" maximum:"1200" doc:"Image: width in pixels"`
	Align      string   `json:"align,omitempty" enum:"left,center,right"`
	Color      string   `json:"color,omitempty" pattern:"^#[0-9a-fA-F]{6}$"`
	Background string   `json:"background,omitempty" pattern:"^#[0-9a-fA-F]{6}$"`
	Columns    []Column `json:"columns,omitempty" maxItems:"4" doc:"Columns: 2 to 4 of them, side by side"`
}

// Descriptions implements wire.Describer.
func (Block) Descriptions() map[string]string {
	return map[string]string{
		"html": "Text and footer: rich text, with merge fields",
		"text": "Text and footer: plain text, in which an empty line begins a paragraph. Button: its label. With " +
			"merge " +
			"fields",
		"url":        "Button and image: target of the link, with merge fields",
		"src":        "Image: address of the picture, with merge fields",
		"alt":        "Image: text for readers that show no pictures, with merge fields",
		"align":      "Alignment: left if absent, center for a footer",
		"color":      "Color of the text, or of a divider",
		"background": "Color behind the block, or of a button",
	}
}

// A Column is a column of a block of kind columns.
type Column struct {
	Width  int     `json:"width,omitempty" minimum:"1" maximum:"100"`
	Blocks []Block `json:"blocks" maxItems:"50" doc:"Blocks of the column, which cannot be columns"`
}

// Descriptions implements wire.Describer.
func (Column) Descriptions() map[string]string {
	return map[string]string{"width": "Percent of the width; columns without it have equal widths"}
}

// A SourceError is a source that cannot be rendered for anyone. Pointer is the JSON pointer of the member.
type SourceError struct{ Pointer, Msg string }

func (e *SourceError) Error() string { return e.Pointer + ": " + e.Msg }

// A MissingError is a merge field without a value and without a default.
type MissingError struct {
	Pointer      string // of the member of the source: /subject, /blocks/2/html
	Field        string // contact.first_name
	Line, Column int    // in that member; 0 for one of a block
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: %s has no value and no default", e.Pointer, e.Field)
}

// A RenderError is a template that cannot be rendered with these values: its Err is *liquid.ValueError, liquid.ErrFuel
// or liquid.ErrTooLong.
type RenderError struct {
	Pointer string
	Err     error
}

func (e *RenderError) Error() string { return e.Pointer + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RenderError) Unwrap() error { return e.Err }

// parsePart parses one member of a source.
func parsePart(pointer, source string, limit int) (*liquid.Template, error) {
	if len(source) > limit {
		return nil, &SourceError{pointer, "longer than " + strconv.Itoa(limit>>10) + " KiB"}
	}
	t, err := liquid.Parse(source)
	if err != nil {
		return nil, &SourceError{pointer, err.Error()}
	}
	return t, nil
}

// checkBlock checks b, which stands in columns if depth is 1.
func checkBlock(pointer string, b *Block, depth int, count *int) error {
	if *count++; *count > maxBlocks {
		return &SourceError{pointer, "there are more than " + strconv.Itoa(maxBlocks) + " blocks"}
	}
	for _, part := range []struct{ name, source string }{
		{"html", b.HTML},
		{"text", b.Text},
		{"url", b.URL},
		{"src", b.Src},
		{"alt", b.Alt},
	} {
		if _, err := parsePart(pointer+"/"+part.name, part.source, MaxText); err != nil {
			return err
		}
	}
	switch b.Type {
	case "text", "footer":
		if (b.HTML == "") == (b.Text == "") {
			return &SourceError{pointer, "this block needs html or text"}
		}
	case "button":
		if strings.TrimSpace(b.Text) == "" || strings.TrimSpace(b.URL) == "" {
			return &SourceError{pointer, "a button needs text and url"}
		}
	case "image":
		if strings.TrimSpace(b.Src) == "" {
			return &SourceError{pointer + "/src", "an image needs src"}
		}
	case "columns":
		return checkColumns(pointer, b, depth, count)
	case "divider":
	default:
		return &SourceError{pointer + "/type", "there is no block of this kind"}
	}
	if len(b.Columns) > 0 {
		return &SourceError{pointer + "/columns", "only a block of kind columns has columns"}
	}
	return nil
}

func checkColumns(pointer string, b *Block, depth int, count *int) error {
	if depth > 0 {
		return &SourceError{pointer + "/type", "columns cannot stand in columns"}
	}
	if len(b.Columns) < 2 || len(b.Columns) > 4 {
		return &SourceError{pointer + "/columns", "there must be 2 to 4 columns"}
	}
	total := 0
	for i := range b.Columns {
		c := &b.Columns[i]
		total += c.Width
		for j := range c.Blocks {
			at := fmt.Sprintf("%s/columns/%d/blocks/%d", pointer, i, j)
			if err := checkBlock(at, &c.Blocks[j], depth+1, count); err != nil {
				return err
			}
		}
	}
	if total > 100 {
		return &SourceError{pointer + "/columns", "the columns are wider than 100 percent"}
	}
	return nil
}
