package demo

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// answering are contacts whose address tells the sandbox's mail server what becomes of a mail: a reply, an absence, a
// complaint, a bounce.
var answering = []struct{ email, first, last string }{
	{"reply@brightside.example.com", "Nora", "Lindqvist"},
	{"reply@oakfield.example.com", "Samuel", "Okafor"},
	{"reply@lumen.example.org", "Inès", "Moreau"},
	{"ooo@harbor.example.com", "Tomás", "Ribeiro"},
	{"bounce-later@maple.example.com", "Greta", "Vogel"},
	{"complain@cedar.example.org", "Pat", "Doyle"},
}

// newsletter is the template of the broadcasts.
var newsletter = templates.Patch{
	Name: wire.Some("Newsletter"), Subject: wire.Some("News for {{ contact.first_name }}"),
	HTML: wire.Some(`<h1>What is new</h1>
<p>Hello {{ contact.first_name }},</p>
<p>three things that you can do since this month: compare two versions of a mail, see who is in a segment while you
build it, and undo an import.</p>
<p>Have a look, and tell us what you miss.</p>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>`),
	Text: wire.Some("Hello {{ contact.first_name }},\n\nthree things that you can do since this month: compare two " +
		"versions of a mail, see who is in a segment while you build it, and undo an import.\n\n" +
		"Unsubscribe: {{ unsubscribe_url }}\n"),
}

const welcomeName = "Welcome new leads"

// allDay is a schedule without a pause, so that mails go out at any hour.
var allDay = wire.Some(sequences.SchedulePatch{
	TimeZone: wire.Some(sequences.ContactZone), From: wire.Some("00:00"), To: wire.Some("23:59"),
	Days: wire.Some([]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}),
})

func delayOfDays(n int) schedule.Delay { return schedule.Delay{Value: n, Unit: schedule.Days} }

func mailStep(key string, after schedule.Delay, thread, subject, text string) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindEmail, Delay: after, Email: &steps.Email{
		Thread: thread, Subject: subject, Text: text + "\n\nUnsubscribe: {{ unsubscribe_url }}\n",
		Variants: []steps.Variant{},
	}}
}

// welcomeSequence is a sequence of two mails, the first in two versions, and a call.
func welcomeSequence(box id.ID) sequences.Patch {
	first := mailStep("hello", delayOfDays(0), steps.NewThread, "Welcome, {{ contact.first_name }}",
		"Hello {{ contact.first_name }},\n\nthank you for your interest. What would you like to know first?")
	first.Email.Variants = []steps.Variant{
		{Key: "a", Weight: 50},
		{Key: "b", Weight: 50, Subject: "{{ contact.first_name }}, may I ask one question?"},
	}

	return sequences.Patch{
		Name: wire.Some(welcomeName), MailboxIDs: wire.Some([]string{box.String()}), Schedule: allDay,
		Steps: wire.Some([]steps.Step{
			first,
			mailStep("ask", delayOfDays(3), steps.Reply, "",
				"Hello {{ contact.first_name }},\n\ndid you find the time to look?"),
			{Key: "call", Kind: steps.KindTask, Delay: delayOfDays(2), Task: &steps.Task{
				Title: "Call {{ contact.first_name }}", Type: "call",
			}},
		}),
	}
}

// followWebinar is a sequence that is not active yet.
func followWebinar(box id.ID) sequences.Patch {
	return sequences.Patch{
		Name: wire.Some("After the webinar"), MailboxIDs: wire.Some([]string{box.String()}),
		Steps: wire.Some([]steps.Step{
			mailStep("thanks", delayOfDays(1), steps.NewThread, "The slides of the webinar",
				"Hello {{ contact.first_name }},\n\nthank you for coming. Here are the slides."),
		}),
	}
}

// lintMail returns the check of a mail that activations make.
func lintMail(ctx context.Context, tx *postgres.Tx) func(compose.Source) ([]compose.Finding, error) {
	return func(source compose.Source) ([]compose.Finding, error) { return templates.Lint(ctx, tx, source) }
}
