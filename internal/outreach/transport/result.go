package transport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/emersion/go-smtp"
)

// Outcome is what is known of a mail after Send.
type Outcome int

// The outcomes.
const (
	NotSentTemporary Outcome = iota + 1 // certainly not sent; may be tried again
	NotSentPermanent                    // certainly not sent; the server will not take it
	MarkRefused                         // certainly not sent: mark returned an error
	Unknown                             // the final dot may have been read
	Sent                                // accepted by the server
)

// Stage is the part of the dialogue that decided the outcome.
type Stage string

// The stages, in order.
const (
	Connect Stage = "connect"
	Auth    Stage = "auth"
	Mail    Stage = "mail"
	Rcpt    Stage = "rcpt"
	Data    Stage = "data" // until the end of the body
	Dot     Stage = "dot"
)

// Reply is a reply of the server. The zero Reply is none.
type Reply struct {
	Code     int    // such as 250; 0: no reply
	Enhanced string // such as 5.1.1, or ""
	Text     string
}

// String returns the reply as one line, such as "550 5.1.1 no such user".
func (r Reply) String() string {
	if r.Code == 0 {
		return r.Text
	}
	parts := []string{strconv.Itoa(r.Code)}
	if r.Enhanced != "" {
		parts = append(parts, r.Enhanced)
	}
	return strings.Join(append(parts, r.Text), " ")
}

// Result is the result of Send.
type Result struct {
	Outcome Outcome
	Stage   Stage
	Reply   Reply
	// Hold reports that the server turned away the mailbox and not this mail: 421, 4.7.x, or a refused sign-in. No
	// other mail of the mailbox should be tried for a while.
	Hold bool
	// Err is the error of mark, or of the connection. It is nil after a reply.
	Err error
}

// failed returns the result of an error at a stage before the final dot.
func failed(stage Stage, err error) Result {
	r := Result{Outcome: NotSentTemporary, Stage: stage, Reply: replyOf(err)}
	if r.Reply.Code == 0 {
		r.Err = err
		return r
	}
	r.refuse()
	if stage == Auth {
		r.Outcome, r.Hold = NotSentTemporary, true
	}
	return r
}

// refuse sets the outcome by the class of the reply.
func (r *Result) refuse() {
	r.Outcome = NotSentTemporary
	if r.Reply.Code >= 500 {
		r.Outcome = NotSentPermanent
	}
	r.Hold = r.Reply.Code == endOfSession || r.Reply.Code < 500 && strings.HasPrefix(r.Reply.Enhanced, "4.7.")
}

// maxText bounds the text of a reply, which the org sees.
const maxText = 500

func replyOf(err error) Reply {
	e, ok := errors.AsType[*smtp.SMTPError](err)
	if !ok {
		return Reply{}
	}
	r := Reply{Code: e.Code, Text: clean(e.Message)}
	if c := e.EnhancedCode; c != smtp.EnhancedCodeNotSet && c != smtp.NoEnhancedCode {
		r.Enhanced = fmt.Sprintf("%d.%d.%d", c[0], c[1], c[2])
	}
	return r
}

// clean returns a server's text as one valid line.
func clean(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s), "?")), " ")
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText])
	}
	return s
}
