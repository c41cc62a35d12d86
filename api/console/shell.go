package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"

	"github.com/funnelwork/funnelwork/internal/branding"
)

// policy permits the console's own files and requests. %s is the hash of the style sheet with the brand's colours.
// Trusted Types stop any string from becoming markup or script. The only frame is framePath, which is of this host.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' %s; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

const (
	titleMark = "<title>Console</title>"
	headEnd   = "</head>"
)

// shell is the built HTML, cut where the brand is inserted.
type shell struct{ before, between, after []byte }

// newShell cuts the built HTML at its title and at the end of its head.
func newShell(built []byte) shell {
	before, rest, titled := bytes.Cut(built, []byte(titleMark))
	between, after, ended := bytes.Cut(rest, []byte(headEnd))
	if !titled || !ended {
		panic("the console's index.html lacks " + titleMark + " or " + headEnd) // a test reads the same file
	}
	return shell{before, between, after}
}

// render returns the shell in a brand's look, and the security policy to serve it with.
func (s shell) render(shown *branding.Shown) (page []byte, csp string) {
	title := shown.Name
	if title == "" {
		title = "Console"
	}
	style := colours(shown.Colors)
	var out bytes.Buffer
	out.Write(s.before)
	fmt.Fprintf(&out, "<title>%s</title>", html.EscapeString(title))
	out.Write(s.between)
	fmt.Fprintf(&out, "<meta name=\"brand\" content=\"%s\" />\n    <style>%s</style>\n  "+headEnd,
		html.EscapeString(string(described(shown))), style)
	out.Write(s.after)
	return out.Bytes(), fmt.Sprintf(policy, hashOf(style))
}

// brand is what the screens show of a brand besides its colours.
type brand struct {
	Name         string `json:"name"`
	Logo         string `json:"logo,omitempty"`
	SupportEmail string `json:"support_email,omitempty"`
	PoweredBy    string `json:"powered_by,omitempty"`
}

func described(shown *branding.Shown) []byte {
	b := brand{Name: shown.Name, SupportEmail: shown.SupportEmail, PoweredBy: shown.PoweredBy()}
	if shown.Logo.Digest != "" {
		b.Logo = shown.Logo.Path()
	}
	out, err := json.Marshal(b)
	if err != nil {
		panic(fmt.Errorf("encode a brand: %w", err)) // strings always encode
	}
	return out
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
