package parse

import (
	"bytes"
	"io"
	"strings"
)

// WriteIdentity writes what is the same for each copy of a mail, and tells it from every other one but those with the
// same Message-ID, which WriteEssence tells apart. It writes to a hash, whose errors it ignores. It is the first of
// these that the mail has:
//
//	its Message-ID, if the whole header was read and has exactly one
//	what its author has written, if the whole header was read and has a Date
//	its bytes
//
// Nothing is derived from a header of which a limit left something over: mails that differ behind the limit would be
// taken for one.
func WriteIdentity(w io.Writer, raw []byte) {
	r := reader{mail: &Mail{}}
	h, body := r.splitHeader(skipJunk(raw))
	sole := h.soleMessageID()
	switch {
	case r.mail.Cut, sole == "" && strings.TrimSpace(h.Get("Date")) == "":
		writeText(w, "raw\x00")
		writeLines(w, withoutEnvelope(raw))
	case sole != "":
		writeText(w, "id\x00"+sole)
	default:
		writeText(w, "mail\x00")
		h.writeEssence(w)
		writeLines(w, body)
	}
}

// SoleMessageID returns the Message-ID of a mail whose header has exactly one, without angle brackets. It returns ""
// for other mails, and for a header of which a limit left something over.
func SoleMessageID(raw []byte) string {
	r := reader{mail: &Mail{}}
	h, _ := r.splitHeader(skipJunk(raw))
	if r.mail.Cut {
		return ""
	}
	return h.soleMessageID()
}

// soleMessageID returns the Message-ID of a header that has exactly one, without angle brackets, or else "".
func (h Header) soleMessageID() (sole string) {
	for _, value := range h.All("Message-ID") {
		if value == "" {
			continue
		}
		one := firstID(value)
		if one == "" || strings.Count(value, "<") > 1 || sole != "" && one != sole {
			return ""
		}
		sole = one
	}
	return sole
}

// writeEssence writes the fields that the author of a mail has written and that no server changes on the way.
func (h Header) writeEssence(w io.Writer) {
	for _, name := range []string{"From", "To", "Date", "Subject"} {
		writeText(w, h.Get(name)+"\x00")
	}
	for _, value := range h.All("Message-ID") { // several, or one that is too long
		if value != "" {
			writeText(w, value+"\x00")
		}
	}
}

// writeLines writes text with line ends of one byte, since servers change them, and without empty lines at its end.
func writeLines(w io.Writer, text []byte) {
	for text = bytes.TrimRight(text, "\r\n"); len(text) > 0; {
		var line []byte
		line, text = cutLine(text)
		_, _ = w.Write(line)
		_, _ = w.Write([]byte{'\n'})
	}
}

// withoutEnvelope returns a mail without the fields at its start that the listener adds: the same mail may come again
// by another way.
func withoutEnvelope(raw []byte) []byte {
	for {
		line, rest := cutLine(raw)
		name, _, _ := bytes.Cut(line, []byte{':'})
		isEnvelope := bytes.EqualFold(name, []byte("Return-Path")) || bytes.EqualFold(name, []byte("X-Original-To"))
		if !isEnvelope || len(rest) == 0 || isFolded(rest) {
			return raw
		}
		raw = rest
	}
}

func writeText(w io.Writer, text string) { _, _ = io.WriteString(w, text) }
