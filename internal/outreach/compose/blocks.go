package compose

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// Markup of blocks: tables, since Outlook lays out nothing else. widths are in pixels.
const (
	blocksOpen = `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">` +
		`<tr><td align="center"><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" ` +
		`style="width:100%;max-width:600px;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:1.5">`
	blocksClose = `</table></td></tr></table>`
	cellPadding = "padding:8px 24px"
)

// span is where a member of a block stands in the compiled template.
type span struct {
	pointer              string
	line, column         int
	lastLine, lastColumn int
}

// blockWriter compiles blocks to one template.
type blockWriter struct {
	b            strings.Builder
	spans        []span
	line, column int
}

// compileBlocks returns blocks as one template in HTML. One template has one budget of steps and output.
func compileBlocks(blocks []Block) (source string, spans []span) {
	w := &blockWriter{line: 1, column: 1}
	w.markup(blocksOpen)
	for i := range blocks {
		w.block("/blocks/"+strconv.Itoa(i), &blocks[i])
	}
	w.markup(blocksClose)
	return w.b.String(), w.spans
}

// markup writes text of ours.
func (w *blockWriter) markup(s string) {
	w.b.WriteString(s)
	if n := strings.Count(s, "\n"); n > 0 {
		w.line += n
		w.column = 1
		s = s[strings.LastIndexByte(s, '\n')+1:]
	}
	w.column += len([]rune(s))
}

// member writes the text of the member of a block that pointer names.
func (w *blockWriter) member(pointer, s string) {
	at := span{pointer: pointer, line: w.line, column: w.column}
	w.markup(s)
	at.lastLine, at.lastColumn = w.line, w.column
	w.spans = append(w.spans, at)
}

func (w *blockWriter) block(pointer string, b *Block) {
	align := b.Align
	if align == "" {
		align = "left"
		if b.Type == "footer" {
			align = "center"
		}
	}
	style := cellPadding
	switch {
	case b.Type == "footer" && b.Color == "":
		style += ";font-size:12px;color:#666666"
	case b.Type == "footer":
		style += ";font-size:12px;color:" + b.Color
	case b.Type == "text" && b.Color != "":
		style += ";color:" + b.Color
	}
	if b.Background != "" && b.Type != "button" {
		style += ";background-color:" + b.Background
	}
	w.markup(fmt.Sprintf(`<tr><td align="%s" style="%s">`, align, style))
	switch b.Type {
	case "text", "footer":
		if b.HTML != "" {
			w.member(pointer+"/html", b.HTML)
		} else {
			w.member(pointer+"/text", paragraphs(b.Text))
		}
	case "button":
		w.button(pointer, b)
	case "image":
		w.image(pointer, b)
	case "columns":
		w.columns(pointer, b)
	case "divider":
		w.markup(`<hr style="border:0;border-top:1px solid ` + orElse(b.Color, "#dddddd") + `">`)
	}
	w.markup("</td></tr>\n")
}

func (w *blockWriter) button(pointer string, b *Block) {
	ground := orElse(b.Background, "#1a56db")
	w.markup(`<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td bgcolor="` + ground +
		`" style="background-color:` + ground + `;border-radius:6px"><a href="`)
	w.member(pointer+"/url", html.EscapeString(strings.TrimSpace(b.URL)))
	w.markup(`" style="display:inline-block;padding:12px 24px;text-decoration:none;font-weight:bold;color:` +
		orElse(b.Color, "#ffffff") + `">`)
	w.member(pointer+"/text", html.EscapeString(b.Text))
	w.markup(`</a></td></tr></table>`)
}

func (w *blockWriter) image(pointer string, b *Block) {
	if b.URL != "" {
		w.markup(`<a href="`)
		w.member(pointer+"/url", html.EscapeString(strings.TrimSpace(b.URL)))
		w.markup(`">`)
	}
	w.markup(`<img src="`)
	w.member(pointer+"/src", html.EscapeString(strings.TrimSpace(b.Src)))
	w.markup(`" alt="`)
	w.member(pointer+"/alt", html.EscapeString(b.Alt))
	w.markup(`"`)
	if b.Width > 0 {
		w.markup(` width="` + strconv.Itoa(b.Width) + `"`)
	}
	w.markup(` border="0" style="max-width:100%;height:auto">`)
	if b.URL != "" {
		w.markup(`</a>`)
	}
}

func (w *blockWriter) columns(pointer string, b *Block) {
	w.markup(`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>`)
	for i := range b.Columns {
		c := &b.Columns[i]
		width := c.Width
		if width == 0 {
			width = 100 / len(b.Columns)
		}
		w.markup(fmt.Sprintf(`<td width="%d%%" valign="top"><table role="presentation" width="100%%" cellpadding="0" `+
			`cellspacing="0" border="0">`, width))
		for j := range c.Blocks {
			w.block(fmt.Sprintf("%s/columns/%d/blocks/%d", pointer, i, j), &c.Blocks[j])
		}
		w.markup(`</table></td>`)
	}
	w.markup(`</tr></table>`)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// paragraphs returns plain text with merge fields as HTML: an empty line ends a paragraph. The inside of braces stays
// as it is, escaped, which liquid reads alike.
func paragraphs(s string) string {
	var b strings.Builder
	b.WriteString("<p>")
	for s != "" {
		open := strings.IndexByte(s, '{')
		text := s
		if open >= 0 {
			text = s[:open]
		}
		s = s[len(text):]
		text = strings.ReplaceAll(html.EscapeString(text), "\r\n", "\n")
		text = strings.ReplaceAll(text, "\n\n", "</p><p>")
		b.WriteString(strings.ReplaceAll(text, "\n", "<br>"))
		size := bracesLength(s)
		b.WriteString(html.EscapeString(s[:size]))
		s = s[size:]
	}
	b.WriteString("</p>")
	return b.String()
}

// bracesLength returns the length of {{ }} or {% %} at the start of s, else of the one character there.
func bracesLength(s string) int {
	for open, end := range map[string]string{"{{": "}}", "{%": "%}"} {
		if strings.HasPrefix(s, open) {
			if i := strings.Index(s, end); i > 0 {
				return i + len(end)
			}
		}
	}
	return min(1, len(s))
}

// memberAt returns the pointer of the member at a place of the compiled template.
func memberAt(spans []span, line, column int) string {
	for _, s := range spans {
		after := line > s.line || line == s.line && column >= s.column
		before := line < s.lastLine || line == s.lastLine && column <= s.lastColumn
		if after && before {
			return s.pointer
		}
	}
	return "/blocks"
}
