package parse

import (
	"bytes"
	"strings"
	"time"
)

// Limits of a mail.
const (
	MaxBytes  = 25 << 20 // of a mail
	maxHeader = 256 << 10
	maxFields = 500
	maxValue  = 64 << 10 // of one field of a header
	maxParts  = 200
	maxDepth  = 12
	maxText   = 1 << 20 // bytes of all text parts, and of all HTML parts
	maxFiles  = 100     // attachments that are listed
)

// Mail is an incoming mail.
type Mail struct {
	Header     Header
	MessageID  string   // without angle brackets; "": none
	References []string // Message-IDs of In-Reply-To, then of References from the last to the first
	From       Address  // the first one; zero: none
	Senders    []string // in lower case, From and the addresses that a list which rewrites it keeps
	To         []Address
	Recipients []string // every address that the mail was sent or delivered to, in lower case
	Subject    string
	Date       time.Time // zero: none, or not legible
	ReturnPath string    // "<>" for the null return path, "" if it is not known

	Text        string // of the text parts; if there are none, of the HTML parts
	HTML        string // as it was sent: not safe to show
	Attachments []Attachment

	ContentType string    // media type of the whole mail
	ReportType  string    // of a multipart/report
	Statuses    []Status  // of a delivery status notification, one per recipient
	QueueID     string    // that the server which reports had given the mail; "": not said
	Feedback    *Feedback // of a feedback report; nil: none
	Receipt     Header    // of a message/disposition-notification; nil: none
	Original    Header    // of the mail that was returned or reported; nil: none
	Cut         bool      // a limit was met, so something is missing
}

// Attachment describes a file of a mail.
type Attachment struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Size int    `json:"size"`
}

// Status is what a delivery status notification says about one recipient (RFC 3464).
type Status struct {
	Recipient  string // in lower case
	Intended   string // Original-Recipient, in lower case: the address before it was forwarded; "": not said
	Action     string // failed, delayed, delivered, relayed, expanded
	Code       string // enhanced status code, such as 5.1.1; "": none
	Diagnostic string // the reply of the server
	Remote     string // host of the server that replied, in lower case; "": not said
}

// Feedback is a feedback report (RFC 5965).
type Feedback struct {
	Type      string // abuse, fraud, not-spam, ...
	Recipient string // of the mail that was reported; "": not said
}

// Parse reads a mail.
func Parse(raw []byte) *Mail {
	m := &Mail{}
	if len(raw) > MaxBytes {
		raw, m.Cut = raw[:MaxBytes], true
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') >= 0 {
		raw = bytes.ReplaceAll(raw, []byte{'\r'}, []byte{'\n'})
	}
	r := reader{mail: m}
	h, body := r.splitHeader(skipJunk(raw))
	m.readHeader(h)
	r.readPart(h, body, 0)
	m.Text, m.HTML = r.text.String(), r.html.String()
	if strings.TrimSpace(m.Text) == "" && m.HTML != "" {
		m.Text = TextOf(m.HTML)
	}

	return m
}

// readHeader fills in what the header says.
func (m *Mail) readHeader(h Header) {
	m.Header = h
	m.Subject = oneLine(decodeWords(h.Get("Subject")))
	m.MessageID = firstID(h.Get("Message-ID"))
	replied := messageIDs(h.Get("In-Reply-To"))
	refs := messageIDs(h.Get("References"))
	for i := len(refs) - 1; i >= 0; i-- {
		replied = append(replied, refs[i])
	}
	m.References = firstUnique(replied, 50)
	if from := parseAddresses(h.Get("From"), 1); len(from) > 0 {
		m.From = from[0]
	} else if from := parseAddresses(h.Get("Sender"), 1); len(from) > 0 {
		m.From = from[0]
	}
	for _, name := range []string{"From", "Reply-To", "X-Original-From", "X-Original-Sender"} {
		for _, a := range parseAddresses(h.Get(name), 5) {
			m.Senders = append(m.Senders, strings.ToLower(a.Email))
		}
	}
	m.Senders = firstUnique(m.Senders, 20)
	m.To = parseAddresses(h.Get("To"), 100)
	for _, name := range []string{"To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To"} {
		for _, value := range h.All(name) {
			for _, a := range parseAddresses(value, 100) {
				m.Recipients = append(m.Recipients, strings.ToLower(a.Email))
			}
		}
	}
	m.Recipients = firstUnique(m.Recipients, 200)
	m.Date = parseDate(h.Get("Date"))
	if value, ok := h.findField("Return-Path"); ok {
		if m.ReturnPath = strings.TrimSpace(value); m.ReturnPath == "" {
			m.ReturnPath = "<>"
		}
	}
}

// firstUnique returns at most limit different elements of all, in their order.
func firstUnique(all []string, limit int) []string {
	seen := make(map[string]bool, len(all))
	out := all[:0]
	for _, s := range all {
		if !seen[s] && len(out) < limit {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
