package compose

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// MaxAttachments is the number of bytes that all attachments of one mail may have together.
const MaxAttachments = 10 << 20

// ErrAttachments reports attachments of more than MaxAttachments bytes.
var ErrAttachments = errors.New("the attachments are larger than 10 MiB")

// A Mail is one message to one recipient.
type Mail struct {
	MessageID string // local@domain, without angle brackets
	Date      time.Time
	From      mail.Address
	To        mail.Address
	ReplyTo   mail.Address // none if its Address is ""
	Subject   string       // one line; line ends become spaces
	HTML      string       // "" for a mail of text only
	Text      string
	// InReplyTo is the Message-ID of the mail that this one answers, or ""; see References for References. Ids that are
	// malformed are left out, since they may come from mails of strangers.
	InReplyTo  string
	References []string
	// ListUnsubscribe are https, http and mailto links that end mails to the recipient. With a web link, the mail also
	// has List-Unsubscribe-Post: that link must accept the POST of RFC 8058.
	ListUnsubscribe []string
	Attachments     []Attachment
}

// An Attachment is a file of a mail.
type Attachment struct {
	Name    string
	Type    string // media type; application/octet-stream if it is malformed
	Content []byte
}

// MIME returns the message with CRLF line ends: multipart/alternative of text and HTML, inside multipart/mixed if there
// are attachments. The bytes depend on m alone. An error is an *AddressError, ErrAttachments, or says which field is
// malformed.
func (m *Mail) MIME() ([]byte, error) {
	if !isMessageID(m.MessageID) {
		return nil, fmt.Errorf("message-id: %q is malformed", m.MessageID)
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := m.addresses(msg); err != nil {
		return nil, err
	}
	msg.SetMessageIDWithValue(m.MessageID)
	msg.SetDateWithValue(m.Date.UTC())
	msg.SetGenHeader(gomail.HeaderSubject, unstructured(m.Subject))
	if id := bracketed([]string{m.InReplyTo}); id != "" {
		msg.SetGenHeader(gomail.HeaderInReplyTo, id)
	}
	if ids := bracketed(m.References); ids != "" {
		msg.SetGenHeader(gomail.HeaderReferences, ids)
	}
	links, oneClick, err := unsubscribeLinks(m.ListUnsubscribe)
	if err != nil {
		return nil, err
	}
	if links != "" {
		msg.SetGenHeader(gomail.HeaderListUnsubscribe, links)
	}
	if oneClick {
		msg.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(gomail.TypeTextPlain, bodyText(m.Text))
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, bodyText(m.HTML))
	}
	if err := m.attach(msg); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := msg.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("write mail: %w", err)
	}
	return fixBoundaries(out.Bytes(), m.MessageID), nil
}

// bodyText returns s as UTF-8 without NUL, with the line ends of Unix; the encoder writes them as CRLF.
func bodyText(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

func (m *Mail) addresses(msg *gomail.Msg) error {
	from, err := checkedAddress("From", m.From)
	if err != nil {
		return err
	}
	msg.FromMailAddress(from)
	to, err := checkedAddress("To", m.To)
	if err != nil {
		return err
	}
	msg.ToMailAddress(to)
	if m.ReplyTo.Address == "" {
		return nil
	}
	reply, err := checkedAddress("Reply-To", m.ReplyTo)
	if err != nil {
		return err
	}
	msg.ReplyToMailAddress(reply)
	return nil
}

// attach adds the attachments. The headers are set here, since go-mail writes names as encoded words inside of quotes,
// which RFC 2047 forbids and some readers show as they are.
func (m *Mail) attach(msg *gomail.Msg) error {
	total := 0
	for _, a := range m.Attachments {
		if total += len(a.Content); total > MaxAttachments {
			return ErrAttachments
		}
		name := fileName(a.Name)
		file := &gomail.File{
			Name: name, Header: textproto.MIMEHeader{},
			Writer: func(w io.Writer) (int64, error) {
				n, err := w.Write(a.Content)
				return int64(n), err
			},
		}
		file.Header.Set("Content-Type", fileType(&a, name))
		file.Header.Set("Content-Disposition", fileParameter("attachment", "filename", name))
		msg.SetAttachments(append(msg.GetAttachments(), file))
	}
	return nil
}

var boundaries = regexp.MustCompile(`\r\nContent-Type: multipart/(mixed|alternative);\r\n boundary=([0-9a-f]{60})\r\n`)

// fixBoundaries replaces the random boundaries of go-mail, which takes one of the caller for all nested parts or none,
// by ones derived from the Message-ID. A body cannot contain them: they are long, hard to guess, and the parts are
// encoded.
func fixBoundaries(message []byte, messageID string) []byte {
	for _, found := range boundaries.FindAllSubmatch(message, -1) {
		digest := sha256.Sum256([]byte(string(found[1]) + " " + messageID))
		message = bytes.ReplaceAll(message, found[2], []byte(hex.EncodeToString(digest[:30])))
	}
	return message
}
