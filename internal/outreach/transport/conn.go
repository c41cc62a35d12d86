package transport

import (
	"context"
	"errors"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// Conn is a connection that is signed in. It is not safe for concurrent use.
type Conn struct {
	raw     *outbound.Conn
	replies *outbound.Lines // above TLS
	client  *smtp.Client
	limit   time.Duration
	mails   int // that were begun
	broken  bool
}

// Envelope has the addresses of a mail's envelope.
type Envelope struct{ From, To string }

// dotWithin is how long after the mark the final dot may be written.
const dotWithin = 60 * time.Second

// mailLimits is how many times the limit of a command a mail may take until the final dot, however its server drips.
const mailLimits = 2

// betweenMails bounds the commands between and after mails: a server that does not reply to them is gone, and no mail
// is lost with it.
const betweenMails = 5 * time.Second

// endOfSession is the code of a server that closes the connection.
const endOfSession = 421

var (
	errCut  = errors.New("the reply to the final dot has no end")
	errLate = errors.New("the final dot was not written: too much time has passed since the mark")
)

// Send sends one mail. It calls mark after the body and before the final dot; see the package's documentation. When ctx
// ends, the connection is closed, and the outcome is Unknown if mark has returned nil.
func (c *Conn) Send(ctx context.Context, e Envelope, body []byte, mark func(context.Context) error) Result {
	stop := context.AfterFunc(ctx, func() { _ = c.raw.Close() })
	defer stop()
	r := c.send(ctx, e, body, mark)
	if r.Err != nil || r.Hold || r.Outcome == MarkRefused {
		c.broken = true
		_ = c.raw.Close()
	}
	return r
}

func (c *Conn) send(ctx context.Context, e Envelope, body []byte, mark func(context.Context) error) Result {
	e, options, failure := c.encode(e)
	if failure != nil {
		return *failure
	}
	_ = c.raw.Renew(bounds(mailLimits * c.limit)) // if the connection is closed, the command fails
	if err := c.begin(e.From, options); err != nil {
		return *err
	}
	if err := c.client.Rcpt(e.To, nil); err != nil {
		return failed(Rcpt, err)
	}
	w, err := c.client.Data()
	if err != nil {
		return failed(Data, err)
	}
	if err := c.raw.SetDeadline(time.Now().Add(c.limit)); err != nil {
		return failed(Data, err)
	}
	if _, err := w.Write(body); err != nil {
		return failed(Data, err)
	}
	if err := mark(ctx); err != nil {
		return Result{Outcome: MarkRefused, Stage: Data, Err: err}
	}
	return c.dot(w, time.Now())
}

// begin names the sender. After the first mail of a connection, a server that does not reply, or that ends the session,
// has not begun the mail: the result is that of a connection that could not be used.
func (c *Conn) begin(from string, options *smtp.MailOptions) *Result {
	c.mails++
	stage := Mail
	if c.mails > 1 {
		c.client.CommandTimeout = min(c.limit, betweenMails)
	}
	err := c.client.Mail(from, options)
	c.client.CommandTimeout = c.limit
	if err == nil {
		return nil
	}
	if code := replyOf(err).Code; c.mails > 1 && (code == 0 || code == endOfSession) {
		stage = Connect
	}
	r := failed(stage, err)
	return &r
}

// Mails returns how many mails the connection was used for.
func (c *Conn) Mails() int { return c.mails }

// dot writes the final dot of a mail that was marked at the given time, and reads the reply.
func (c *Conn) dot(w *smtp.DataCommand, marked time.Time) Result {
	if time.Since(marked) > dotWithin {
		return Result{Outcome: Unknown, Stage: Dot, Err: errLate}
	}
	err := c.raw.Renew(bounds(dotWithin + c.client.SubmissionTimeout))
	if err == nil {
		err = c.raw.SetDeadline(marked.Add(dotWithin))
	}
	if err != nil {
		return Result{Outcome: Unknown, Stage: Dot, Err: err}
	}
	answer, err := w.CloseWithResponse()
	if c.replies.Cut() {
		return Result{Outcome: Unknown, Stage: Dot, Err: errCut}
	}
	if err == nil {
		return Result{Outcome: Sent, Stage: Dot, Reply: Reply{Code: 250, Text: clean(answer.StatusText)}}
	}
	r := Result{Outcome: Unknown, Stage: Dot, Reply: replyOf(err), Err: err}
	switch {
	case r.Reply.Code >= 400:
		r.Err = nil
		r.refuse()
	case r.Reply.Code >= 200 && r.Reply.Code < 300: // any 2yz accepts (RFC 5321 section 4.2.1)
		r.Outcome, r.Err = Sent, nil
	}
	return r
}

// Close ends the session.
func (c *Conn) Close() error {
	if c.broken {
		return nil
	}
	c.client.CommandTimeout = min(c.limit, betweenMails)
	if c.raw.Renew(bounds(c.client.CommandTimeout)) != nil || c.client.Quit() != nil {
		return c.raw.Close()
	}
	return nil
}
