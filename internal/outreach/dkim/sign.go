package dkim

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/mail"
	"strings"
)

// Key is a key that signs for a domain.
type Key struct {
	Domain   string // d=, in its ASCII form
	Selector string // s=
	Signer   crypto.Signer
}

// signedHeaders are the headers that a signature covers, whether the mail has them or not: a header that is added
// later makes the signature invalid.
var signedHeaders = []string{
	"From", "To", "Reply-To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "MIME-Version",
	"Content-Type", "List-Unsubscribe", "List-Unsubscribe-Post",
}

var errNoHeader = errors.New("the mail has no end of its header")

// Sign returns a mail, whose line ends are CRLF, with a signature by k in front. Both canonicalizations are relaxed.
func (k *Key) Sign(mime []byte) ([]byte, error) {
	header, body, ok := bytes.Cut(mime, []byte("\r\n\r\n"))
	if !ok {
		return nil, errNoHeader
	}
	algorithm, err := algorithmOf(k.Signer)
	if err != nil {
		return nil, err
	}
	fields := fieldsOf(string(header))
	tags := []string{"v=1", "a=" + algorithm, "c=relaxed/relaxed", "d=" + k.Domain, "s=" + k.Selector}
	if date, err := mail.ParseDate(fields["date"]); err == nil {
		tags = append(tags, fmt.Sprintf("t=%d", date.Unix()))
	}
	sum := sha256.Sum256(relaxedBody(body))
	tags = append(tags, "h="+strings.Join(signedHeaders, ":"), "bh="+base64.StdEncoding.EncodeToString(sum[:]))
	field := "DKIM-Signature: " + strings.Join(tags, ";\r\n\t") + ";\r\n\tb="
	b, err := k.sign(signedText(fields, field))
	if err != nil {
		return nil, err
	}
	return append([]byte(field+folded(b)+"\r\n"), mime...), nil
}

// sign returns the signature of a text in base64.
func (k *Key) sign(text string) (string, error) {
	digest := sha256.Sum256([]byte(text))
	var how crypto.SignerOpts = crypto.SHA256
	if _, ok := k.Signer.Public().(ed25519.PublicKey); ok {
		how = crypto.Hash(0) // RFC 8463 signs the digest as a message
	}
	b, err := k.Signer.Sign(rand.Reader, digest[:], how)
	if err != nil {
		return "", fmt.Errorf("sign mail: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

var errAlgorithm = errors.New("the key is neither of RSA nor of Ed25519")

func algorithmOf(s crypto.Signer) (string, error) {
	switch s.Public().(type) {
	case *rsa.PublicKey:
		return "rsa-sha256", nil
	case ed25519.PublicKey:
		return "ed25519-sha256", nil
	default:
		return "", errAlgorithm
	}
}

// fieldsOf returns the values of a header's fields by lower-case name, unfolded and relaxed. Of several fields of one
// name it returns the last, which is the one that a signature covers.
func fieldsOf(header string) map[string]string {
	all := map[string]string{}
	unfolded := strings.NewReplacer("\r\n ", " ", "\r\n\t", " ").Replace(header)
	for line := range strings.SplitSeq(unfolded, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			all[strings.ToLower(strings.TrimSpace(name))] = relaxedLine(value)
		}
	}
	return all
}

// signedText returns what the signature covers of the header: its fields, and its own field without its value.
func signedText(fields map[string]string, own string) string {
	var b strings.Builder
	for _, name := range signedHeaders {
		name = strings.ToLower(name)
		if value, ok := fields[name]; ok {
			b.WriteString(name + ":" + value + "\r\n")
		}
	}
	_, value, _ := strings.Cut(own, ":")
	b.WriteString("dkim-signature:" + relaxedLine(strings.ReplaceAll(value, "\r\n", "")))
	return b.String()
}

// relaxedLine returns a line with each run of spaces and tabs as one space, and none at its ends.
func relaxedLine(s string) string { return strings.Join(strings.FieldsFunc(s, isSpace), " ") }

func isSpace(r rune) bool { return r == ' ' || r == '\t' }

// relaxedBody returns a body in its relaxed form (RFC 6376, 3.4.4).
func relaxedBody(body []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(body) + 2)
	empty := 0
	for line := range bytes.SplitSeq(body, []byte("\r\n")) {
		before := b.Len()
		for ; empty > 0 && len(bytes.Trim(line, " \t")) > 0; empty-- {
			b.WriteString("\r\n")
		}
		if relaxed(&b, line); b.Len() == before {
			empty++
			continue
		}
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// relaxed writes a line of a body: without spaces at its end, and each run of spaces as one.
func relaxed(b *bytes.Buffer, line []byte) {
	space := false
	for _, c := range bytes.TrimRight(line, " \t") {
		if isSpace(rune(c)) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteByte(c)
	}
}

// width is the length of the lines that a signature is folded to.
const width = 72

// folded returns base64 in lines of a header.
func folded(s string) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\r\n\t")
		s = s[width:]
	}
	return b.String() + s
}
