package emails_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// results are the results of a dialogue after the mark.
var results = map[emails.Verdict]transport.Result{
	emails.TookMail: {
		Outcome: transport.Sent, Stage: transport.Dot, Reply: transport.Reply{Code: 250, Text: "queued as 4ABCDE12345"},
	},
	emails.RefusedMail: {
		Outcome: transport.NotSentPermanent, Stage: transport.Dot,
		Reply: transport.Reply{Code: 554, Enhanced: "5.7.1", Text: "spam"},
	},
	emails.PutOff: {
		Outcome: transport.NotSentTemporary, Stage: transport.Dot, Reply: transport.Reply{Code: 451, Text: "later"},
	},
	emails.NoDot: {Outcome: transport.MarkRefused, Stage: transport.Data, Err: errLost},
}

type lostError struct{}

func (lostError) Error() string { return "the session was lost" }

var errLost lostError

// final returns the final reply of a marked email, as a file gives it back.
func (o *office) final(out *emails.Outgoing, verdict emails.Verdict) *emails.FinalReply {
	o.Helper()
	r := results[verdict]
	f, ok := emails.FinalReplyOf(out, &r)
	if !ok || f.Verdict != verdict {
		o.Fatalf("%s became %q, %v", verdict, f.Verdict, ok)
	}
	line, err := json.Marshal(&f)
	if err != nil {
		o.Fatal(err)
	}
	var read emails.FinalReply
	if err := json.Unmarshal(line, &read); err != nil {
		o.Fatal(err)
	}
	return &read
}

func (o *office) replay(f *emails.FinalReply) (result emails.Replayed) {
	o.Helper()
	o.must(func(tx *postgres.Tx) (err error) {
		result, err = emails.Replay(o.Context(), tx, f)
		return err
	})
	return result
}

func (o *office) doubt(out *emails.Outgoing) {
	o.Helper()
	o.must(func(tx *postgres.Tx) error { return out.Doubt(o.Context(), tx, emails.Interrupted) })
}

// TestAReplayedReplySettlesAnUnknownEmailOnce replays each reply twice, for an email that is still transmitting, and
// for one that has become unknown.
func TestAReplayedReplySettlesAnUnknownEmailOnce(t *testing.T) {
	t.Parallel()
	type want struct {
		First  emails.Replayed
		Second emails.Replayed
		Status string
		Sent   int // events
		Failed int
	}
	for name, c := range map[string]struct {
		verdict emails.Verdict
		unknown bool
		want    want
	}{
		"accepted": {
			emails.TookMail, false, want{emails.ReplayedSent, emails.Obsolete, "sent", 1, 0},
		},
		"accepted, unknown meanwhile": {
			emails.TookMail, true, want{emails.ReplayedSent, emails.Obsolete, "sent", 1, 0},
		},
		"refused": {
			emails.RefusedMail, false, want{emails.ReplayedFailed, emails.Obsolete, "failed rejected", 0, 1},
		},
		"refused, unknown meanwhile": {
			emails.RefusedMail, true, want{emails.ReplayedFailed, emails.Obsolete, "failed rejected", 0, 1},
		},
		"put off": { // its job decides
			emails.PutOff, false, want{emails.Waits, emails.Waits, "transmitting", 0, 0},
		},
		"put off, unknown meanwhile": {
			emails.PutOff, true, want{emails.ReplayedFailed, emails.Obsolete, "failed attempts_exhausted", 0, 1},
		},
		"no dot": {emails.NoDot, false, want{emails.Waits, emails.Waits, "transmitting", 0, 0}},
		"no dot, unknown meanwhile": { // it may be sent again by proof
			emails.NoDot, true, want{emails.Obsolete, emails.Obsolete, "unknown interrupted", 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			email := o.written(nil)
			out := o.marked(email)
			f := o.final(out, c.verdict)
			if c.unknown {
				o.doubt(out)
			}
			got := want{First: o.replay(f), Second: o.replay(f), Status: o.status(email)}
			got.Sent, got.Failed = o.events("email.sent"), o.events("email.failed")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAReplayedReplyWritesTheRowThatItsRunWouldHaveWritten compares the rows of emails whose outcomes were written by
// their runs with those that were unknown and replayed.
func TestAReplayedReplyWritesTheRowThatItsRunWouldHaveWritten(t *testing.T) {
	t.Parallel()
	o := open(t)
	row := func(email id.ID) (s string) {
		t.Helper()
		if err := o.sql.QueryRow(t.Context(), `SELECT concat_ws(' ', status, status_reason, smtp_reply, server_id,
			marked_at IS NULL, sent_at IS NULL, sent_at BETWEEN marked_at AND clock_timestamp(), attempt, bounced,
			refused_at, evidence::text, (SELECT string_agg(((data -> 'object')::jsonb
				- '{id,message_id,thread_id}'::text[])::text, ' ') FROM event
				WHERE type IN ('email.sent', 'email.failed') AND data -> 'object' ->> 'id' = e.id::text))
			FROM email e WHERE id = $1`, email).Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for verdict, write := range map[emails.Verdict]func(*postgres.Tx, *emails.Outgoing, *transport.Result) error{
		emails.TookMail: func(tx *postgres.Tx, out *emails.Outgoing, r *transport.Result) error {
			return out.Accept(t.Context(), tx, r.Reply)
		},
		emails.RefusedMail: func(tx *postgres.Tx, out *emails.Outgoing, r *transport.Result) error {
			return o.emails.Fail(t.Context(), tx, out, emails.Rejected, r)
		},
	} {
		usual, late := o.written(nil), o.written(nil)
		out, r := o.marked(usual), results[verdict]
		o.must(func(tx *postgres.Tx) error { return write(tx, out, &r) })
		out = o.marked(late)
		f := o.final(out, verdict)
		o.doubt(out)
		o.replay(f)
		if diff := cmp.Diff(row(usual), row(late)); diff != "" {
			t.Errorf("%s (-run +replay):\n%s", verdict, diff)
		}
	}
}

func TestAReplyOfAnotherRunOrOrgOrOfASettledEmailChangesNothing(t *testing.T) {
	t.Parallel()
	o := open(t)
	other := id.New()
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Other')`, other)
	person := func(outcome bool) func(*emails.FinalReply, *emails.Outgoing) {
		return func(_ *emails.FinalReply, out *emails.Outgoing) {
			o.doubt(out)
			o.passes(time.Hour)
			o.must(func(tx *postgres.Tx) error {
				_, err := o.emails.Resolve(t.Context(), tx, out.ID, outcome, "user/1")
				return err
			})
		}
	}
	for name, c := range map[string]struct {
		before func(f *emails.FinalReply, out *emails.Outgoing)
		want   string
	}{
		"the mark of another run": {
			func(f *emails.FinalReply, out *emails.Outgoing) {
				f.Fence = id.New()
				o.doubt(out)
			}, "unknown interrupted",
		},
		"an email that was planned again": {
			func(_ *emails.FinalReply, out *emails.Outgoing) {
				o.must(func(tx *postgres.Tx) error {
					out.Unmarked(tx, transport.Reply{})
					return nil
				})
			}, "planned",
		},
		"an email that another run has marked again": {
			func(_ *emails.FinalReply, out *emails.Outgoing) {
				o.must(func(tx *postgres.Tx) error {
					out.Unmarked(tx, transport.Reply{})
					return nil
				})
				o.doubt(o.marked(out.ID))
			}, "unknown interrupted",
		},
		"a person knows that it was sent":     {person(true), "sent"},
		"a person knows that it was not sent": {person(false), "failed not_sent"},
		"another org": {
			func(f *emails.FinalReply, out *emails.Outgoing) {
				f.Org = other
				o.doubt(out)
			}, "unknown interrupted",
		},
		"an email that is gone": {
			func(f *emails.FinalReply, _ *emails.Outgoing) { f.Email = id.New() }, "transmitting",
		},
	} {
		for _, verdict := range []emails.Verdict{emails.TookMail, emails.RefusedMail} {
			email := o.written(nil)
			out := o.marked(email)
			f := o.final(out, verdict)
			c.before(f, out)
			sent, failed := o.events("email.sent"), o.events("email.failed")
			var result emails.Replayed
			if err := o.App.Tx(t.Context(), f.Org, func(tx *postgres.Tx) (err error) {
				result, err = emails.Replay(t.Context(), tx, f)
				return err
			}); err != nil || result != emails.Obsolete {
				t.Errorf("%s, %s: %s, %v", name, verdict, result, err)
			}
			if got := o.status(email); got != c.want {
				t.Errorf("%s, %s: %s, want %s", name, verdict, got, c.want)
			}
			if o.events("email.sent") != sent || o.events("email.failed") != failed {
				t.Errorf("%s, %s: it was announced", name, verdict)
			}
		}
	}
}

func TestAnIndefiniteResultIsNoFinalReply(t *testing.T) {
	t.Parallel()
	o := open(t)
	out := o.begun(o.written(nil))
	for name, r := range map[string]transport.Result{
		"no reply to the dot": {Outcome: transport.Unknown, Stage: transport.Dot},
		"refused before the mark": {
			Outcome: transport.NotSentPermanent, Stage: transport.Rcpt, Reply: transport.Reply{Code: 550},
		},
		"no mark was given": {Outcome: transport.MarkRefused, Stage: transport.Data, Err: &emails.RefusedError{}},
	} {
		if f, ok := emails.FinalReplyOf(out, &r); ok {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
