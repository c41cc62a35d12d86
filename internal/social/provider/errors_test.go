package provider_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/social/provider"
)

var update = flag.Bool("update", false, "write the golden files")

// said is a provider's response and its expected classification.
type said struct {
	platform string
	op       provider.Op
	status   int
	header   string // "Name: value"
	body     string
	class    provider.Class // "" means no error
	code     string
	retry    time.Duration
}

const (
	dead  = provider.Dead
	stale = provider.Stale
	later = provider.Transient
	slow  = provider.Throttled
	ours  = provider.Misconfigured
	lost  = provider.Unknown
	ex    = provider.Exchanging
	re    = provider.Renewing
	api   = provider.Asking
	rev   = provider.Revoking
	req   = provider.Requesting
)

// graph returns an error body of the Graph API.
func graph(code, sub int, message string) string {
	return fmt.Sprintf(
		`{"error":{"message":%q,"type":"OAuthException","code":%d,"error_subcode":%d,"fbtrace_id":"A"}}`, message,
		code, sub)
}

func oauthError(name, description string) string {
	return fmt.Sprintf(`{"error":%q,"error_description":%q}`, name, description)
}

// xSays returns an error body of X: code is a number of its own API, or a quoted name of the Ads API.
func xSays(code string) string { return `{"errors":[{"code":` + code + `,"message":"?"}]}` }

// table lists responses of providers. The bodies come from their documentation and from user reports.
var table = []said{
	// Facebook and Meta Ads
	{
		"facebook", re, 400, "", graph(190, 463, "Error validating access token: Session has expired"), dead, "190/463",
		0,
	},
	{
		"facebook", re, 400, "",
		graph(190, 460, "The session has been invalidated because the user changed their password"), dead, "190/460",
		0,
	},
	{"facebook", re, 400, "", graph(190, 458, "The user has not authorized application"), dead, "190/458", 0},
	{
		"facebook", api, 400, "", graph(190, 459, "The user is enrolled in a blocking, logged-in checkpoint"), dead,
		"190/459", 0,
	},
	{"facebook", api, 401, "", graph(190, 467, "Invalid access token"), dead, "190/467", 0},
	{"facebook", api, 400, "", graph(102, 0, "Session key invalid or no longer valid"), dead, "102", 0},
	{"facebook", api, 403, "", graph(200, 0, "Permissions error"), dead, "200", 0},
	{"meta_ads", api, 403, "", graph(10, 0, "Application does not have permission for this action"), dead, "10", 0},
	{
		"meta_ads", api, 403, "",
		graph(294, 0, "Managing advertisements requires the extended permission ads_management"), dead, "294", 0,
	},
	{"facebook", re, 500, "", graph(1, 0, "An unknown error has occurred."), later, "1", 0},
	{
		"facebook", re, 503, "", graph(2, 0, "An unexpected error has occurred. Please retry your request later."),
		later, "2", 0,
	},
	{"facebook", re, 400, "", graph(4, 0, "Application request limit reached"), slow, "4", time.Minute},
	{"facebook", api, 400, "", graph(17, 0, "User request limit reached"), slow, "17", time.Minute},
	{
		"meta_ads", api, 400, "Retry-After: 90",
		graph(80004, 2446079, "There have been too many calls to this ad-account."), slow, "80004/2446079",
		90 * time.Second,
	},
	{"facebook", api, 400, "", graph(341, 0, "Application limit reached"), slow, "341", time.Minute},
	{
		"facebook", api, 400, "",
		graph(368, 0, "The action attempted has been deemed abusive or is otherwise disallowed"), later, "368", 0,
	},
	{
		"facebook", re, 400, "",
		graph(101, 0, "Error validating application. Cannot get application info due to a system error."), ours,
		"101", 0,
	},
	{"facebook", ex, 400, "", graph(1, 0, "Error validating client secret."), ours, "1", 0},
	{"facebook", ex, 400, "", graph(100, 36009, "This authorization code has been used."), dead, "100/36009", 0},
	{"facebook", ex, 400, "", graph(100, 36007, "This authorization code has expired."), dead, "100/36007", 0},
	{
		"facebook", ex, 400, "",
		graph(100, 36008, "Error validating verification code. Please make sure your redirect_uri is identical"),
		ours, "100/36008", 0,
	},
	{"facebook", api, 400, "", graph(100, 0, "Invalid appsecret_proof provided in the API argument"), ours, "100", 0},
	{"facebook", re, 200, "", graph(190, 463, "Session has expired"), dead, "190/463", 0},
	{"facebook", rev, 400, "", graph(190, 458, "The user has not authorized application"), "", "", 0},
	// Instagram
	{
		"instagram", ex, 400, "",
		`{"error_type":"OAuthException","code":400,"error_message":"Invalid authorization code"}`, dead,
		"OAuthException/400", 0,
	},
	{
		"instagram", ex, 400, "",
		`{"error_type":"OAuthException","code":400,"error_message":"Matching code was not found or was already ` +
			`used"}`, dead, "OAuthException/400", 0,
	},
	{
		"instagram", ex, 400, "", `{"error_type":"OAuthException","code":400,"error_message":"Invalid platform app"}`,
		ours, "OAuthException/400", 0,
	},
	{
		"instagram", ex, 429, "",
		`{"error_type":"OAuthRateLimitException","code":429,"error_message":"You have exceeded the maximum number ` +
			`of requests"}`, slow, "OAuthRateLimitException/429", time.Minute,
	},
	{
		"instagram", re, 400, "", graph(190, 0, "Error validating access token: Session has expired on Saturday"), dead,
		"190", 0,
	},
	{"instagram", re, 400, "", graph(100, 0, "The access token is too young"), ours, "100", 0},
	{
		"instagram", re, 500, "",
		`{"error":{"message":"An unexpected error","type":"IGApiException","code":2,"is_transient":true}}`, later,
		"2", 0,
	},
	// LinkedIn
	{
		"linkedin", re, 400, "",
		oauthError("invalid_grant",
			"The provided authorization grant or refresh token is invalid, expired or revoked"), dead,
		"invalid_grant", 0,
	},
	{
		"linkedin", re, 400, "", oauthError("invalid_request", "The refresh token is expired or revoked"), dead,
		"invalid_request", 0,
	},
	{
		"linkedin", re, 400, "", oauthError("invalid_request", "A required parameter \"refresh_token\" is missing"),
		ours, "invalid_request", 0,
	},
	{"linkedin", re, 401, "", oauthError("invalid_client", "Client authentication failed"), ours, "invalid_client", 0},
	{
		"linkedin", ex, 400, "",
		oauthError("invalid_redirect_uri",
			"Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code"),
		ours, "invalid_redirect_uri", 0,
	},
	{
		"linkedin", api, 401, "",
		`{"status":401,"serviceErrorCode":65601,"code":"REVOKED_ACCESS_TOKEN","message":"The token used in the ` +
			`request has been revoked by the user"}`, dead, "65601", 0,
	},
	{
		"linkedin", api, 401, "",
		`{"status":401,"serviceErrorCode":65602,"code":"EXPIRED_ACCESS_TOKEN","message":"The token used in the ` +
			`request has expired"}`, stale, "65602", 0,
	},
	{
		"linkedin_page", api, 403, "",
		`{"status":403,"serviceErrorCode":100,"code":"ACCESS_DENIED","message":"Not enough permissions to access: ` +
			`GET /organizationalEntityAcls"}`, dead, "ACCESS_DENIED", 0,
	},
	{
		"linkedin_ads", api, 429, "",
		`{"status":429,"serviceErrorCode":101,"code":"TOO_MANY_REQUESTS","message":"Resource level throttle limit ` +
			`reached"}`, slow, "101", time.Minute,
	},
	{
		"linkedin_ads", api, 426, "",
		`{"status":426,"code":"NONEXISTENT_VERSION","message":"Requested version 20240101 is not active"}`, ours,
		"426", 0,
	},
	{"linkedin", re, 503, "Retry-After: 5", "", later, "503", 5 * time.Second},
	// X
	{
		"x", re, 400, "", oauthError("invalid_request", "Value passed for the token was invalid."), dead,
		"invalid_request", 0,
	},
	{
		"x", ex, 400, "", oauthError("invalid_request", "Value passed for the authorization code was invalid."), dead,
		"invalid_request", 0,
	},
	{
		"x", ex, 400, "",
		oauthError("invalid_request",
			"Value passed for the redirect uri did not match the uri of the authorization code."), ours,
		"invalid_request", 0,
	},
	{"x", re, 400, "", oauthError("invalid_grant", "The token was revoked"), dead, "invalid_grant", 0},
	{
		"x", re, 401, "", oauthError("unauthorized_client", "Missing valid authorization header"), ours,
		"unauthorized_client", 0,
	},
	{
		"x", re, 400, "", oauthError("invalid_request", "Missing required parameter [client_id]."), ours,
		"invalid_request", 0,
	},
	{
		"x", re, 429, "X-Rate-Limit-Reset: +120",
		`{"title":"Too Many Requests","detail":"Too Many Requests","type":"about:blank","status":429}`, slow, "429",
		2 * time.Minute,
	},
	{
		"x", re, 503, "",
		`{"title":"Service Unavailable","detail":"Service Unavailable","type":"about:blank","status":503}`, later,
		"503", 0,
	},
	{
		"x", api, 401, "", `{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}`, stale,
		"401", 0,
	},
	{
		"x", api, 403, "",
		`{"client_id":"1","detail":"When authenticating ` +
			`requests","registration_url":"https://developer.x.com/en/docs/projects/overview","title":"Client ` +
			`Forbidden","required_enrollment":"Appropriate Level of API ` +
			`Access","reason":"client-not-enrolled","type":"https://api.twitter.com/2/problems/client-forbidden"}`,
		ours, "client-not-enrolled", 0,
	},
	{"x", api, 401, "", `{"errors":[{"code":89,"message":"Invalid or expired token."}]}`, stale, "89", 0},
	{
		"x", api, 403, "",
		`{"errors":[{"code":64,"message":"Your account is suspended and is not permitted to access this feature."}]}`,
		dead, "64", 0,
	},
	{
		"x", api, 403, "",
		`{"errors":[{"code":326,"message":"To protect our users from spam and other malicious activity, ` +
			`this account is temporarily locked."}]}`, dead, "326", 0,
	},
	{"x", api, 503, "", `{"errors":[{"code":130,"message":"Over capacity"}]}`, later, "130", 0},
	// TikTok
	{
		"tiktok", re, 400, "",
		`{"error":"invalid_grant","error_description":"Refresh token is invalid or expired.","log_id":"2022"}`, dead,
		"invalid_grant", 0,
	},
	{
		"tiktok", re, 200, "",
		`{"error":"invalid_grant","error_description":"Refresh token is invalid or expired.","log_id":"2022"}`, dead,
		"invalid_grant", 0,
	},
	{
		"tiktok", ex, 200, "",
		`{"error":"invalid_grant","error_description":"Authorization code is expired.","log_id":"2022"}`, dead,
		"invalid_grant", 0,
	},
	{
		"tiktok", ex, 400, "",
		`{"error":"invalid_request","error_description":"Code verifier or code challenge is ` +
			`invalid.","log_id":"2022"}`, ours, "invalid_request", 0,
	},
	{
		"tiktok", re, 200, "",
		`{"error":"invalid_client","error_description":"Client key or secret is incorrect.","log_id":"2022"}`, ours,
		"invalid_client", 0,
	},
	{
		"tiktok", re, 200, "", `{"error":"server_error","error_description":"Please try again","log_id":"2022"}`, later,
		"server_error", 0,
	},
	{
		"tiktok", api, 401, "",
		`{"data":{},"error":{"code":"access_token_invalid","message":"Access token is invalid, ` +
			`please refresh token and retry","log_id":"2022"}}`, stale, "access_token_invalid", 0,
	},
	{
		"tiktok", api, 401, "",
		`{"data":{},"error":{"code":"scope_not_authorized","message":"The user did not authorize the scope ` +
			`required","log_id":"2022"}}`, dead, "scope_not_authorized", 0,
	},
	{
		"tiktok", api, 429, "",
		`{"data":{},"error":{"code":"rate_limit_exceeded","message":"The API rate limit was ` +
			`exceeded.","log_id":"2022"}}`, slow, "rate_limit_exceeded", time.Minute,
	},
	{
		"tiktok", api, 500, "",
		`{"data":{},"error":{"code":"internal_error","message":"Internal error","log_id":"2022"}}`, later,
		"internal_error", 0,
	},
	{
		"tiktok", api, 200, "", `{"data":{},"error":{"code":"something_new","message":"?","log_id":"2022"}}`, later,
		"something_new", 0,
	},
	// TikTok Ads, with status 200 throughout
	{
		"tiktok_ads", ex, 200, "", `{"code":40110,"message":"The auth_code is expired","request_id":"1","data":{}}`,
		dead, "40110", 0,
	},
	{
		"tiktok_ads", ex, 200, "",
		`{"code":40101,"message":"The app_id or secret is incorrect","request_id":"1","data":{}}`, ours, "40101", 0,
	},
	{
		"tiktok_ads", api, 200, "",
		`{"code":40105,"message":"Access token is incorrect or has been revoked.","request_id":"1","data":{}}`, dead,
		"40105", 0,
	},
	{
		"tiktok_ads", api, 200, "",
		`{"code":40100,"message":"Too many requests. Please retry later.","request_id":"1","data":{}}`, slow, "40100",
		time.Minute,
	},
	{
		"tiktok_ads", api, 200, "",
		`{"code":40001,"message":"You don't have permission to perform this action.","request_id":"1","data":{}}`,
		dead, "40001", 0,
	},
	{
		"tiktok_ads", api, 200, "",
		`{"code":40002,"message":"There's a problem with the parameters in your ` +
			`request.","request_id":"1","data":{}}`, ours, "40002", 0,
	},
	{
		"tiktok_ads", api, 200, "", `{"code":50000,"message":"Internal error","request_id":"1","data":{}}`, later,
		"50000", 0,
	},
	{
		"tiktok_ads", rev, 200, "",
		`{"code":40105,"message":"Access token is incorrect or has been revoked.","request_id":"1","data":{}}`, "",
		"", 0,
	},
	// Google
	{
		"youtube", re, 400, "", oauthError("invalid_grant", "Token has been expired or revoked."), dead,
		"invalid_grant",
		0,
	},
	{
		"youtube", re, 400, "",
		`{"error":"invalid_grant","error_description":"reauth related error ` +
			`(invalid_rapt)","error_subtype":"invalid_rapt"}`, dead, "invalid_grant", 0,
	},
	{
		"youtube", re, 401, "", oauthError("invalid_client", "The OAuth client was not found."), ours, "invalid_client",
		0,
	},
	{"youtube", re, 401, "", oauthError("deleted_client", "The OAuth client was deleted."), ours, "deleted_client", 0},
	{"youtube", re, 401, "", oauthError("unauthorized_client", "Unauthorized"), ours, "unauthorized_client", 0},
	{
		"youtube", re, 400, "",
		oauthError("admin_policy_enforced",
			"Access to your account data is restricted by policies within your organization."), dead,
		"admin_policy_enforced", 0,
	},
	{"youtube", ex, 400, "", oauthError("redirect_uri_mismatch", "Bad Request"), ours, "redirect_uri_mismatch", 0},
	{"youtube", re, 500, "", oauthError("internal_failure", "Backend Error"), later, "internal_failure", 0},
	{"youtube", re, 403, "", oauthError("rate_limit_exceeded", ""), slow, "rate_limit_exceeded", time.Minute},
	{
		"youtube", api, 401, "",
		`{"error":{"code":401,"message":"Invalid Credentials","errors":[{"message":"Invalid ` +
			`Credentials","domain":"global","reason":"authError","location":"Authorization"}],` +
			`"status":"UNAUTHENTICATED"}}`, stale, "authError", 0,
	},
	{
		"youtube", api, 403, "",
		`{"error":{"code":403,"message":"The request cannot be completed because you have exceeded your ` +
			`quota.","errors":[{"domain":"youtube.quota","reason":"quotaExceeded"}]}}`, slow, "quotaExceeded",
		time.Minute,
	},
	{
		"youtube", api, 403, "",
		`{"error":{"code":403,"message":"YouTube Data API v3 has not been used in project 1 before or it is ` +
			`disabled.","errors":[{"domain":"usageLimits","reason":"accessNotConfigured"}],` +
			`"status":"PERMISSION_DENIED"}}`, ours, "accessNotConfigured", 0,
	},
	{
		"youtube", api, 403, "",
		`{"error":{"code":403,"message":"Request had insufficient authentication ` +
			`scopes.","errors":[{"domain":"global","reason":"insufficientPermissions"}],` +
			`"status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",` +
			`"reason":"ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}}`, dead, "insufficientPermissions", 0,
	},
	{
		"google_ads", api, 401, "",
		`{"error":{"code":401,"message":"Request had invalid authentication ` +
			`credentials.","status":"UNAUTHENTICATED",` +
			`"details":[{"@type":"type.googleapis.com/google.ads.googleads.v25.errors.GoogleAdsFailure",` +
			`"errors":[{"errorCode":{"authenticationError":"OAUTH_TOKEN_REVOKED"},"message":"?"}]}]}}`, dead,
		"OAUTH_TOKEN_REVOKED", 0,
	},
	{
		"google_ads", api, 403, "",
		`{"error":{"code":403,"message":"The caller does not have ` +
			`permission","status":"PERMISSION_DENIED",` +
			`"details":[{"@type":"type.googleapis.com/google.ads.googleads.v25.errors.GoogleAdsFailure",` +
			`"errors":[{"errorCode":{"authorizationError":"DEVELOPER_TOKEN_NOT_APPROVED"},"message":"?"}]}]}}`, ours,
		"DEVELOPER_TOKEN_NOT_APPROVED", 0,
	},
	{
		"google_ads", api, 429, "",
		`{"error":{"code":429,"message":"Resource has been exhausted (e.g. check ` +
			`quota).","status":"RESOURCE_EXHAUSTED",` +
			`"details":[{"errors":[{"errorCode":{"quotaError":"RESOURCE_EXHAUSTED"}}]}]}}`, slow,
		"RESOURCE_EXHAUSTED", time.Minute,
	},
	{
		"google_ads", api, 503, "",
		`{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}`, later,
		"UNAVAILABLE", 0,
	},
	{"youtube", rev, 400, "", oauthError("invalid_token", "Token expired or revoked"), "", "", 0},
	{"gmail", re, 400, "", oauthError("invalid_grant", "Token has been expired or revoked."), dead, "invalid_grant", 0},
	{"gmail", re, 400, "", oauthError("admin_policy_enforced", ""), dead, "admin_policy_enforced", 0},
	{
		"gmail", api, 401, "",
		`{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}`,
		stale, "UNAUTHENTICATED", 0,
	},
	{
		"outlook", re, 400, "", oauthError("invalid_grant", "AADSTS50173: The provided grant has expired."), dead,
		"invalid_grant", 0,
	},
	{
		"outlook", re, 400, "", oauthError("interaction_required", "AADSTS50076: Use multi-factor authentication."),
		dead, "interaction_required", 0,
	},
	{
		"outlook", ex, 400, "", oauthError("consent_required", "AADSTS65001: The user has not consented."), dead,
		"consent_required", 0,
	},
	{
		"outlook", re, 401, "", oauthError("invalid_client", "AADSTS7000222: The client secret keys are expired."),
		ours, "invalid_client", 0,
	},
	{"outlook", re, 400, "", oauthError("invalid_resource", "AADSTS500011"), ours, "invalid_resource", 0},
	{"outlook", re, 503, "", oauthError("temporarily_unavailable", ""), later, "temporarily_unavailable", 0},
	// Pinterest
	{"pinterest", re, 401, "", `{"code":283,"message":"The provided refresh token is invalid."}`, dead, "283", 0},
	{"pinterest", ex, 400, "", `{"code":283,"message":"The authorization grant is invalid"}`, dead, "283", 0},
	{
		"pinterest", ex, 400, "", `{"code":283,"data":"Invalid Application ID","message":"Invalid application ID"}`,
		ours, "283", 0,
	},
	{"pinterest", re, 401, "", `{"code":2,"message":"Authentication failed."}`, ours, "2", 0},
	{"pinterest", api, 401, "", `{"code":2,"message":"Authentication failed."}`, stale, "2", 0},
	{
		"pinterest", api, 403, "", `{"code":29,"message":"You are not permitted to access that resource."}`, dead, "29",
		0,
	},
	{
		"pinterest", api, 429, "", `{"code":8,"message":"You have exceeded your rate limit. Try again later."}`, slow,
		"8", time.Minute,
	},
	{"pinterest_ads", api, 500, "", `{"code":0,"message":"Sorry! Something went wrong on our end."}`, later, "500", 0},
	// X Ads: the OAuth endpoints respond in text or XML, and the APIs use numbers or names as codes
	{"x_ads", req, 401, "", xSays(`32`), ours, "32", 0},
	{"x_ads", req, 403, "", `<errors><error code="415">?</error></errors>`, ours, "415", 0},
	{"x_ads", req, 401, "", xSays(`135`), ours, "135", 0},
	{"x_ads", req, 401, "", `Failed to validate oauth signature and token`, ours, "401", 0},
	{"x_ads", req, 429, "Retry-After: 30", ``, slow, "429", 30 * time.Second},
	{"x_ads", req, 503, "", xSays(`130`), later, "130", 0},
	{"x_ads", req, 502, "", ``, later, "502", 0},
	{"x_ads", req, 200, "", `<html>Maintenance</html>`, later, "no_access_token", 0},
	{"x_ads", req, 200, "", `oauth_token=a&oauth_token_secret=b`, later, "callback_not_confirmed", 0},
	{"x_ads", ex, 401, "", `Error processing your OAuth request: Invalid oauth_verifier parameter`, dead, "401", 0},
	{"x_ads", ex, 401, "", `Invalid request token.`, dead, "401", 0},
	{"x_ads", ex, 401, "", `<errors><error code="32">?</error></errors>`, ours, "32", 0},
	{"x_ads", ex, 401, "", xSays(`89`), dead, "89", 0},
	{"x_ads", ex, 401, "", `something new`, ours, "401", 0},
	{"x_ads", ex, 200, "", `oauth_token=a`, lost, "no_access_token", 0},
	{"x_ads", ex, 200, "", `%zz`, lost, "not_a_form", 0},
	{"x_ads", ex, 504, "", ``, lost, "504", 0},
	{"x_ads", api, 401, "", xSays(`89`), dead, "89", 0},
	{"x_ads", api, 401, "", xSays(`"UNAUTHORIZED_ACCESS"`), ours, "UNAUTHORIZED_ACCESS", 0},
	{"x_ads", api, 403, "", xSays(`"UNAUTHORIZED_CLIENT_APPLICATION"`), ours, "UNAUTHORIZED_CLIENT_APPLICATION", 0},
	{
		"x_ads", api, 403, "", xSays(`"INSUFFICIENT_USER_AUTHORIZED_PERMISSION"`),
		dead, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION", 0,
	},
	{"x_ads", api, 403, "", xSays(`"CURRENT_USER_SUSPENDED"`), dead, "CURRENT_USER_SUSPENDED", 0},
	{"x_ads", api, 403, "", xSays(`"SOMETHING_NEW"`), ours, "SOMETHING_NEW", 0},
	{
		"x_ads", api, 429, "X-Rate-Limit-Reset: +120", xSays(`"TOO_MANY_REQUESTS"`),
		slow, "TOO_MANY_REQUESTS", 2 * time.Minute,
	},
	{"x_ads", api, 503, "", xSays(`"OVER_CAPACITY"`), later, "OVER_CAPACITY", 0},
	{"x_ads", api, 400, "", xSays(`"INVALID"`), ours, "400", 0},
	{"x_ads", api, 404, "", `<html>Not Found</html>`, ours, "404", 0},
	{"x_ads", api, 200, "", `{"data":[]}`, later, "no_id", 0},
	{"x_ads", rev, 401, "", xSays(`89`), "", "", 0},
	{"x_ads", rev, 401, "", xSays(`32`), ours, "32", 0},
	{"x_ads", api, 401, "", xSays(`"sbxtok-planted-access"`), ours, "withheld", 0},
	// Any provider
	{"x", re, 200, "", `{"token_type":"bearer"}`, lost, "no_access_token", 0},
	{"x", re, 200, "", `{"access_token":"`, lost, "not_json", 0},
	{"x", re, 200, "", `<html>Maintenance</html>`, lost, "not_json", 0},
	{"x", re, 200, "", `{"error":"something_new"}`, lost, "something_new", 0},
	{"x", re, 502, "", `<html>Bad gateway</html>`, lost, "502", 0},
	{"x", re, 504, "", ``, lost, "504", 0},
	{"x", api, 504, "", ``, later, "504", 0},
	{"x", re, 500, "", `<html>Oops</html>`, later, "500", 0},
	// Firewalls between us and a platform
	{"x", re, 403, "", `<html>Request blocked. Ray ID: 1</html>`, later, "403", 0},
	{"facebook", re, 403, "Retry-After: 40", `Access Denied`, later, "403", 40 * time.Second},
	{"linkedin", re, 401, "", `<!doctype html><title>Sign in to the network</title>`, later, "401", 0},
	{"linkedin", api, 403, "", `<html>Request blocked</html>`, later, "403", 0},
	{"gmail", re, 407, "", `<html>Proxy</html>`, later, "407", 0},
	{"tiktok", re, 451, "", `<html>Not in your country</html>`, later, "451", 0},
	{"x", re, 302, "Location: https://elsewhere.example.com/", ``, later, "302", 0},
	{"x", re, 418, "", `{"error":"something_new"}`, ours, "something_new", 0},
	{"x", re, 429, "Retry-After: 99999999", ``, slow, "429", 24 * time.Hour},
	{"x", re, 400, "", oauthError("invalid_grant sbxtok-planted", ""), ours, "withheld", 0},
	{"x", api, 200, "", `{"data":{}}`, later, "no_id", 0},
}

const planted = "sbxtok-planted"

// call makes a request of kind op and returns its error.
func call(t *testing.T, p *provider.Provider, op provider.Op) error {
	token := provider.Token{Access: planted + "-access", Refresh: planted, IssuedAt: time.Now().Add(-48 * time.Hour)}
	var err error
	switch op {
	case provider.Requesting:
		_, err = p.Begin(t.Context(), planted+"-state", callback(p.Platform))
	case provider.Exchanging:
		_, err = p.Exchange(t.Context(), planted+"-code", planted+"-verifier", callback(p.Platform))
	case provider.Renewing:
		_, err = p.Refresh(t.Context(), token)
	case provider.Asking:
		_, _, err = p.Login(t.Context(), token)
	case provider.Revoking:
		err = p.Revoke(t.Context(), token)
	}
	return err
}

// answering returns providers with one handler for every address.
func answering(t *testing.T, handler http.HandlerFunc) *provider.Set {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	apps := map[string]provider.App{}
	for _, f := range provider.Families() {
		apps[f] = provider.App{ClientID: "id", ClientSecret: planted + "-secret", Base: srv.URL}
	}
	return provider.New(provider.Options{Apps: apps})
}

func TestWhatProvidersSayMeansWhatTheTableSays(t *testing.T) {
	t.Parallel()
	if len(table) < 60 {
		t.Errorf("%d answers", len(table))
	}
	now := make(chan said, 1)
	set := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		s := <-now
		now <- s
		if name, value, has := strings.Cut(s.header, ": "); has {
			if after, plus := strings.CutPrefix(value, "+"); plus {
				d, _ := time.ParseDuration(after + "s")
				value = fmt.Sprint(time.Now().Add(d).Unix())
			}
			w.Header().Set(name, value)
		}
		w.WriteHeader(s.status)
		fmt.Fprint(w, s.body)
	})
	var golden strings.Builder
	golden.WriteString(heading)
	for _, s := range table {
		p, err := set.Get(s.platform)
		if err != nil {
			t.Fatal(err)
		}
		now <- s
		err = call(t, p, s.op)
		<-now
		class, code, retry := provider.Class("done"), "", time.Duration(0)
		if err != nil {
			var e *provider.Error
			if !errors.As(err, &e) {
				t.Fatalf("%s %s %s: %v", s.platform, s.op, s.body, err)
			}
			class, code, retry = e.Class, e.Code, e.RetryAfter.Round(time.Minute/12)
			if e.Status != s.status || e.Platform != s.platform {
				t.Errorf("%+v of %+v", e, s)
			}
			if shown := fmt.Sprintf("%v %+v %#v", err, e, e); strings.Contains(shown, planted) {
				t.Errorf("a secret is shown: %s", shown)
			}
		}
		if s.class == "" {
			s.class = "done"
		}
		if class != s.class || code != s.code || retry != s.retry {
			t.Errorf("%s %s %d %s\nis %s %s %v, want %s %s %v", s.platform, s.op, s.status, s.body, class, code,
				retry, s.class, s.code, s.retry)
		}
		after := ""
		if retry > 0 {
			after = retry.String()
		}
		fmt.Fprintf(&golden, "| %s | %s | %d | %s | %s | %s | `%s` |\n", s.platform, s.op, s.status, class, code,
			after, strings.ReplaceAll(strings.TrimSpace(s.header+" "+s.body), "|", "\\|"))
	}
	reviewed(t, "testdata/errors.golden.md", golden.String())
}

const heading = `# What providers say, and what it means

Written by ` + "`go test ./internal/social/provider -update`" + `; the test holds each line against its table.

- dead: a person has to connect again. Of an exchange: has to start again.
- stale: refresh, then ask again; refused after a fresh token it is dead.
- transient: certainly not done; later.
- throttled: not before the time given.
- misconfigured: the operator has to act; nobody is disconnected.
- unknown: it may have been done; a token that is good for one use may be spent.
- done: what was asked for is the case.

| platform | asked for | status | class | code | not before | answer |
|---|---|---|---|---|---|---|
`

// reviewed compares got with a golden file, or writes it.
func reviewed(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what comes out: run with -update and review", path)
	}
}

func TestEveryErrorHasAClassOfTheList(t *testing.T) {
	t.Parallel()
	seen := map[provider.Class]int{}
	ops := map[string]int{}
	for _, s := range table {
		seen[s.class]++
		ops[s.platform]++
	}
	for _, c := range []provider.Class{dead, stale, later, slow, ours, lost} {
		if seen[c] == 0 {
			t.Errorf("no answer is %s", c)
		}
	}
	for err, want := range map[error]provider.Class{
		nil: "", errors.New("another"): lost, fmt.Errorf("wrapped: %w", &provider.Error{Class: dead}): dead,
	} {
		if got := provider.ClassOf(err); got != want {
			t.Errorf("class of %v: %s, want %s", err, got, want)
		}
	}
	for _, spec := range provider.Catalogue() {
		if ops[spec.Platform] == 0 {
			t.Errorf("no answer of %s is in the table", spec.Platform)
		}
	}
}
