package fault

// Code is the stable name of a problem. Clients switch on it.
type Code string

// The published codes. A code never changes its status. New codes are added at the end of their status.
const (
	MalformedJSON    Code = "malformed_json"
	DuplicateKey     Code = "duplicate_key"
	InvalidParameter Code = "invalid_parameter"
	InvalidCursor    Code = "invalid_cursor"
	InvalidFilter    Code = "invalid_filter"
	BadRequest       Code = "bad_request"
	InvalidSignature Code = "invalid_signature"
	InvalidState     Code = "invalid_state"
	MalformedRequest Code = "malformed_request"

	Unauthorized       Code = "unauthorized"
	InvalidCredentials Code = "invalid_credentials"
	InvalidToken       Code = "invalid_token"
	SessionEnded       Code = "session_ended"

	PlanLimitReached Code = "plan_limit_reached"
	FeatureNotInPlan Code = "feature_not_in_plan"
	TrialEnded       Code = "trial_ended"
	PaymentDeclined  Code = "payment_declined"

	Forbidden    Code = "forbidden"
	SignupClosed Code = "signup_closed"
	OrgPaused    Code = "org_paused"
	OrgSuspended Code = "org_suspended"

	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	NotAcceptable    Code = "not_acceptable"
	RequestTimeout   Code = "request_timeout"

	Conflict            Code = "conflict"
	ContactExists       Code = "contact_exists"
	EmailTaken          Code = "email_taken"
	IdempotencyInFlight Code = "idempotency_in_flight"
	LastOwner           Code = "last_owner"
	FieldExists         Code = "field_exists"
	PreviewStale        Code = "preview_stale"
	ContactSales        Code = "contact_sales"
	ChangeInFlight      Code = "change_in_flight"
	PaymentPastDue      Code = "payment_past_due"
	NoSubscription      Code = "no_subscription"
	WrongAccount        Code = "wrong_account"
	ConnectNotEnabled   Code = "connect_not_enabled"
	DomainTaken         Code = "domain_taken"
	CompanyExists       Code = "company_exists"
	ExternalIDExists    Code = "external_id_exists"
	InUse               Code = "in_use"
	MailboxExists       Code = "mailbox_exists"
	Suppressed          Code = "suppressed"
	MailboxNotActive    Code = "mailbox_not_active"
	TooLate             Code = "too_late"
	TooEarly            Code = "too_early"
	NotUnknown          Code = "not_unknown"
	AlreadyStarted      Code = "already_started"
	SequenceNotActive   Code = "sequence_not_active"

	PreconditionFailed Code = "precondition_failed"
	BodyTooLarge       Code = "body_too_large"
	UnsupportedMedia   Code = "unsupported_media_type"

	ValidationFailed    Code = "validation_failed"
	IdempotencyMismatch Code = "idempotency_mismatch"
	URLNotAllowed       Code = "url_not_allowed"
	LinkExpired         Code = "link_expired"
	ProviderRefused     Code = "provider_refused"
	AIRequestTooLarge   Code = "ai_request_too_large"
	HostNotAllowed      Code = "host_not_allowed"
	PortNotAllowed      Code = "port_not_allowed"
	MergeMissing        Code = "merge_missing"
	StepCycle           Code = "step_cycle"
	StepUnknown         Code = "step_unknown"
	OpenNotACondition   Code = "open_not_a_condition"

	Misdirected Code = "misdirected_request"

	RateLimited      Code = "rate_limited"
	AIRateLimited    Code = "ai_rate_limited"
	AIQuotaExhausted Code = "ai_quota_exhausted"
	HeaderTooLarge   Code = "header_too_large"
	InvitationLimit  Code = "invitation_limit"

	Internal            Code = "internal"
	Unavailable         Code = "unavailable"
	ProviderUnavailable Code = "provider_unavailable"
	AIUnavailable       Code = "ai_unavailable"
	NotConfigured       Code = "not_configured"
	VersionUnsupported  Code = "http_version_not_supported"
)

// statuses has every code of the list above; a test checks this.
var statuses = map[Code]int{
	MalformedJSON: 400, DuplicateKey: 400, InvalidParameter: 400, InvalidCursor: 400, InvalidFilter: 400,
	BadRequest:       400,
	InvalidSignature: 400, InvalidState: 400, MalformedRequest: 400,
	Unauthorized: 401, InvalidCredentials: 401, InvalidToken: 401, SessionEnded: 401,
	PlanLimitReached: 402, FeatureNotInPlan: 402, TrialEnded: 402, PaymentDeclined: 402,
	Forbidden: 403, SignupClosed: 403, OrgPaused: 403, OrgSuspended: 403,
	NotFound: 404, MethodNotAllowed: 405, NotAcceptable: 406, RequestTimeout: 408,
	Conflict: 409, ContactExists: 409, EmailTaken: 409, IdempotencyInFlight: 409, LastOwner: 409, FieldExists: 409,
	PreviewStale: 409, ContactSales: 409, ChangeInFlight: 409, PaymentPastDue: 409, NoSubscription: 409,
	WrongAccount: 409, ConnectNotEnabled: 409, DomainTaken: 409, CompanyExists: 409, ExternalIDExists: 409, InUse: 409,
	MailboxExists: 409, Suppressed: 409, MailboxNotActive: 409, TooLate: 409, TooEarly: 409,
	NotUnknown: 409, SequenceNotActive: 409,
	AlreadyStarted: 409, PreconditionFailed: 412, BodyTooLarge: 413, UnsupportedMedia: 415,
	ValidationFailed: 422, IdempotencyMismatch: 422, URLNotAllowed: 422, LinkExpired: 422, ProviderRefused: 422,
	AIRequestTooLarge: 422, MergeMissing: 422, HostNotAllowed: 422, PortNotAllowed: 422,
	StepCycle: 422, StepUnknown: 422, OpenNotACondition: 422,
	Misdirected: 421, RateLimited: 429, AIRateLimited: 429, AIQuotaExhausted: 429, HeaderTooLarge: 431,
	InvitationLimit: 429,
	Internal:        500, Unavailable: 503, ProviderUnavailable: 503, AIUnavailable: 503, NotConfigured: 503,
	VersionUnsupported: 505,
}

// Status returns the HTTP status of c; 500 for an unknown code.
func (c Code) Status() int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return 500
}

// Codes returns every published code, for the API document.
func Codes() []Code {
	all := make([]Code, 0, len(statuses))
	for c := range statuses {
		all = append(all, c)
	}
	return all
}
