package enrolments_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// TestAnEnrolmentGoesOnOnceByAReplayedReply replays the reply to the mail of a first step, twice, after what has
// happened to the enrolment meanwhile.
func TestAnEnrolmentGoesOnOnceByAReplayedReply(t *testing.T) {
	t.Parallel()
	accepted := transport.Result{
		Outcome: transport.Sent, Stage: transport.Dot, Reply: transport.Reply{Code: 250, Text: "queued"},
	}
	refused := transport.Result{
		Outcome: transport.NotSentPermanent, Stage: transport.Dot, Reply: transport.Reply{Code: 554, Text: "spam"},
	}
	type want struct{ State, Announced string }
	for name, c := range map[string]struct {
		result    transport.Result
		meanwhile func(o *office, out *emails.Outgoing, enrolment id.ID)
		want      want
	}{
		"nothing": {accepted, nil, want{"active second", "enrolled step_completed"}},
		"its email became unknown": {
			accepted, func(o *office, out *emails.Outgoing, _ id.ID) { o.doubt(out) },
			want{"active second", "enrolled step_completed"},
		},
		"it went on as if the email was sent": {
			accepted, func(o *office, out *emails.Outgoing, _ id.ID) {
				o.doubt(out)
				o.must(func(ctx context.Context, tx *postgres.Tx) error { return emails.GiveUp(ctx, tx, out.ID) })
			}, want{"active second", "enrolled step_completed"},
		},
		"an absence has paused it": {
			accepted, func(o *office, out *emails.Outgoing, enrolment id.ID) {
				o.doubt(out)
				o.must(func(ctx context.Context, tx *postgres.Tx) error {
					return (&states.Reply{Message: id.New(), Enrolment: &enrolment, At: time.Now()}).Away(ctx, tx, nil)
				})
			}, want{"paused second out_of_office", "enrolled step_completed"},
		},
		"the server has refused its email": {
			refused, func(o *office, out *emails.Outgoing, _ id.ID) { o.doubt(out) },
			want{"failed first rejected", "enrolled stopped"},
		},
		"it went on, and the server has refused its email": {
			refused, func(o *office, out *emails.Outgoing, _ id.ID) {
				o.doubt(out)
				o.must(func(ctx context.Context, tx *postgres.Tx) error { return emails.GiveUp(ctx, tx, out.ID) })
			}, want{"active second", "enrolled step_completed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			_, e, out := o.transmitting(1)
			f, ok := emails.FinalReplyOf(out, &c.result)
			if !ok {
				t.Fatal("no final reply")
			}
			if c.meanwhile != nil {
				c.meanwhile(o, out, e)
			}
			for range 2 {
				o.must(func(ctx context.Context, tx *postgres.Tx) error {
					_, err := emails.Replay(ctx, tx, &f)
					return err
				})
			}
			if diff := cmp.Diff(c.want, want{o.state(e), o.announced()}); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, o.history(e))
			}
		})
	}
}

func (o *office) doubt(out *emails.Outgoing) {
	o.Helper()
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return out.Doubt(ctx, tx, emails.Interrupted) })
}
