package pages

// texts lists the strings of the document that have no format and no list of values: free text, keys that users or
// operators choose, identifiers of other services, secrets, and cursors.
var texts = []string{
	"?If-Match", "?Last-Event-ID", "?Origin", "?Stripe-Signature", "?auth_code", "?cursor", "?denied",
	"?error_reason", "?filter", "?host", "?oauth_token", "?oauth_verifier", "?q", "?segment", "?target_id",
	"?target_type", "?type", "?types", "AuditTarget.type",
	"ConnectRequirements.disabled_reason", "UpdateClientOrgRequest.status",
	"UpdateCustomFieldRequest.type", "UpdateMemberRequest.status", "accent", "access_token", "account_id",
	"account_ids[]",
	"action", "add[]", "alt",
	"application_fee_percent", "background", "basis", "body", "brand_name", "catalog_version",
	"client_secret", "code", "company_name", "confirmation_code", "contact_name", "country", "currency",
	"currently_due[]", "description", "detail",
	"display_name", "domain", "error", "error_class", "event", "external_account_id", "failure", "feature",
	"field", "fields[]", "file_name", "first_name", "from_plan", "goal", "highlights[]", "hint", "html", "industry",
	"invoice_id", "ip", "job_title", "key", "kid", "label", "language", "last_error_class", "last_name",
	"lost_reason", "message", "model_version", "name", "new_password", "next_cursor", "number", "old_password",
	"on_accent", "on_primary", "operation", "operators[]", "org_name", "parameter", "password", "past_due[]",
	"pending_verification[]", "period", "phone", "plan", "pointer", "position", "powered_by", "primary", "reason",
	"refresh_token", "remove[]", "request_id", "response_body", "secret", "segment[]", "size", "source", "src", "stage",
	"state", "subject", "subscription_id", "subtitle", "summary", "tag", "tag[]", "text", "time_zone", "title",
	"to", "token", "unit", "upgrade_to", "user_agent", "value", "values[]", "version", "website", "x",
	"?status", "AttachmentSummary.type", "EmailAttachment.type", "by", "content", "from_name", "host",
	"lift_reason", "message_id", "note", "result", "signature_html", "smtp_reply", "status_action",
	"status_detail", "status_reason", "step",
	"username", "variant",
	"EnrollRequest.segment", "step_key", "cause", "then", "else", "add_tags[]", "remove_tags[]",
	"EnrolmentTransition.from", "SequenceSchedule.from", "CreateSequenceRequest.schedule.from",
	"UpdateSequenceRequest.schedule.from",
	"Attachment.type", "Message.from", "to[]", "why[]", "recipient", "reply_text", "diagnostic",
	"blocked_countries[]", "postal_address", "tracking_domain", "events_path",
}
