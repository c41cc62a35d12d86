package operations

import (
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Value is what the document says about a string beyond its type; the zero Value says nothing. The service does not
// validate by it: the handlers refuse wrong values with errors of their own.
type Value struct {
	Format string   // of JSON Schema, such as email or uuid
	Enum   []string // the values that are known today
	Name   string   // of the schema of Enum that all uses share; "": each lists them
}

// Values returns what the document says about the strings that have neither an enum nor a format of their own. A key is
// the name of a member or parameter; one with the schema before it, as in Invoice.id, or with ? for a parameter, as in
// ?status, is looked up first. [] follows the name of an array whose items are meant.
func Values() map[string]Value {
	types := make([]string, 0, 64)
	for _, t := range events.Catalogue() {
		types = append(types, t.Name)
	}
	platforms := make([]string, 0, 16)
	for _, spec := range provider.Catalogue() {
		platforms = append(platforms, spec.Platform)
	}
	all := map[string]Value{}
	for format, names := range formats {
		for _, name := range names {
			all[name] = Value{Format: format}
		}
	}
	// The id of any kind of object, and one of the payment processor.
	for _, name := range []string{"AuditTarget.id", "Invoice.id"} {
		all[name] = Value{}
	}
	for name, values := range enums {
		all[name] = Value{Enum: values}
	}
	for _, name := range []string{
		"Event.type", "EventType.type", "ExportedEvent.type", "TestWebhookRequest.type",
		"TimelineEntry.type", "event_type", "?event_type",
	} {
		all[name] = Value{Enum: types, Name: "EventTypeName"}
	}
	for _, name := range []string{"events[]", "types[]"} {
		all[name] = Value{Enum: append([]string{"*"}, types...), Name: "EventTypeSelector"}
	}
	all["platform"] = Value{Enum: platforms, Name: "SocialPlatform"}
	return all
}

// formats lists the names of strings by their format.
var formats = map[string][]string{
	"email": {"email", "from_email", "owner_email", "reply_to", "support_email", "ShownEmail.from"},
	"uuid": {
		"id", "after_id", "assignee_id", "before_id", "company_id", "created_by", "existing_id", "mailbox_id",
		"owner_id", "social_account_id", "template_id",
		"email_ids[]", "TestBroadcastRequest.contact_id", "loser_ids[]", "sample_ids[]", "assignee", "contact_ids[]",
		"mailbox_ids[]",
	},
	"date-time": {
		"at", "confirmed_at", "closed_at", "created_at", "due_at", "expires_at", "paused_at", "scheduled_at",
		"updated_at", "send_at",
	},
	"date": {"holidays[]", "expected_close_on"},
	"uri": {
		"authorize_url", "download_url", "errors_url", "hosted_invoice_url", "inbound_url", "pdf_url", "redirect_url",
		"url", "warnings_url",
		"Problem.instance", "Problem.type", "SocialAccount.avatar_url",
	},
	"uri-reference": {"OfferedAccount.avatar_url", "PublicBrand.logo_url", "href", "location"},
}

// enums lists the strings whose handlers refuse any other value.
var enums = map[string][]string{
	"CreateDealRequest.status":              {"open", "won", "lost"},
	"UpdateDealRequest.status":              {"open", "won", "lost"},
	"DealBatchRow.status":                   {"open", "won", "lost"},
	"CreateTaskRequest.status":              {"open", "done"},
	"UpdateTaskRequest.status":              {"open", "done"},
	"PipelineStageInput.kind":               {"open", "won", "lost"},
	"UpdateMessageRequest.class":            classify.Classes(),
	"CreateMailboxRequest.kind":             {"smtp", "google", "microsoft", "sandbox"},
	"UpdateMailboxRequest.kind":             {"smtp", "google", "microsoft", "sandbox"},
	"CreateMailboxRequest.smtp.tls":         {"tls", "starttls", "none"},
	"CreateMailboxRequest.imap.tls":         {"tls", "starttls", "none"},
	"UpdateMailboxRequest.smtp.tls":         {"tls", "starttls", "none"},
	"UpdateMailboxRequest.imap.tls":         {"tls", "starttls", "none"},
	"CreateEmailRequest.purpose":            {"personal", "marketing"},
	"UpdateSendingRequest.default_purpose":  {"personal", "marketing"},
	"tracking_domain_status":                {"pending_dns", "verified", "active", "degraded", "suspended"},
	"CreateSuppressionRequest.purpose":      {"marketing", "all"},
	"CreateSequenceRequest.rotation":        {"sticky"},
	"UpdateSequenceRequest.rotation":        {"sticky"},
	"SequenceStepInput.email.thread":        {"reply", "new"},
	"SequenceStepInput.task.type":           {"todo", "call", "email", "message"},
	"CreateSequenceRequest.schedule.days[]": {"mon", "tue", "wed", "thu", "fri", "sat", "sun"},
	"UpdateSequenceRequest.schedule.days[]": {"mon", "tue", "wed", "thu", "fri", "sat", "sun"},
	"JWK.alg":                               {"EdDSA"},
	"JWK.crv":                               {"Ed25519"},
	"JWK.kty":                               {"OKP"},
	"JWK.use":                               {"sig"},
	"api_version":                           {"v1"},
	"CreatedWebhook.disabled_reason":        {"gone", "failing"},
	"RotatedWebhook.disabled_reason":        {"gone", "failing"},
	"Webhook.disabled_reason":               {"gone", "failing"},
	"priority":                              {"low", "normal", "high"},
	"BrandSettings.logo.content_type":       {"image/png", "image/jpeg", "image/svg+xml"},
}
