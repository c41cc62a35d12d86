package classify

import (
	"encoding/json"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/inbound/provider"
)

// readProvider reads the notification of a provider that comes by mail: a topic of Amazon SNS may have an address as
// its subscriber. It is not signed, so it counts as any other report does: by the Message-ID that it names.
func readProvider(m *parse.Mail, r *Result) bool {
	text := strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(m.Text)) // long lines were folded
	if !strings.HasPrefix(text, "{") ||
		!strings.Contains(text, `otificationType`) && !strings.Contains(text, `ventType`) {
		return false
	}
	var record json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&record) != nil {
		return false
	}
	events := provider.NotificationEvents(record)
	for i := range events {
		e := &events[i]
		f := Failure{Recipient: strings.ToLower(e.Recipient), Code: e.Code, Diagnostic: e.Diagnostic}
		class := ""
		switch e.Kind {
		case provider.Bounced:
			class, f.Kind = Bounce, BounceOf(e.Code, e.Diagnostic, e.Permanent)
		case provider.Delivered:
			class = DeliveryReport
		case provider.Complained:
			class = Complaint
		default:
			continue
		}
		if r.Class == "" {
			r.Class, r.Bounce, r.Code, r.Recipient, r.Diagnostic = class, f.Kind, f.Code, f.Recipient, f.Diagnostic
			r.Original = e.MessageID
		}
		if class != Complaint && len(events) > 1 {
			r.Failures = append(r.Failures, f)
		}
	}

	return r.Class != ""
}
