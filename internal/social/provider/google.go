package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Common to YouTube, Gmail and Google Ads: one application, one login, Google's errors.

// googleApp returns the common part of Google's specs. The refresh token does not rotate, and Google issues one at each
// consent because the authorize URL requests it.
func googleApp() Spec {
	return Spec{
		Family:  "google",
		AuthURL: "https://accounts.google.com/o/oauth2/v2/auth", TokenURL: "https://oauth2.googleapis.com/token",
		RevokeURL:  "https://oauth2.googleapis.com/revoke",
		AuthParams: url.Values{"access_type": {"offline"}, "prompt": {"consent", "select_account"}},
		PKCE:       S256,
		Renewal:    ByRefreshToken, Lifetime: time.Hour,
		RevokesSiblings: true,
		Rate:            20, Burst: 20,
		Dialect: Dialect{Revoke: googleRevoke, Judge: googleJudge},
	}
}

const googleUserinfo = "https://openidconnect.googleapis.com/v1/userinfo"

// googleRevoke revokes everything that the person granted to the application.
func googleRevoke(ctx context.Context, p *Provider, t Token) error {
	token := t.Refresh
	if token == "" {
		token = t.Access
	}
	_, err := p.send(ctx,
		ask{op: Revoking, method: http.MethodPost, address: p.RevokeURL, form: url.Values{"token": {token.Reveal()}}})
	return gone(err)
}

// googleError is the error format of Google's APIs.
type googleError struct {
	Error struct {
		Status string `json:"status"`
		Errors []struct {
			Reason string `json:"reason"`
		} `json:"errors"`
		Details []struct {
			Reason string              `json:"reason"` // ErrorInfo
			Errors []map[string]adCode `json:"errors"` // Google Ads
		} `json:"details"`
	} `json:"error"`
}

// adCode is the errorCode member of a Google Ads error, an object with one member; other members are ignored.
type adCode string

func (c *adCode) UnmarshalJSON(raw []byte) error {
	var one map[string]string
	if json.Unmarshal(raw, &one) == nil {
		for _, v := range one {
			*c = adCode(v)
		}
	}
	return nil
}

// reasons returns the names of the error, the most specific first.
func (g googleError) reasons() []string {
	var all []string
	for _, d := range g.Error.Details {
		for _, e := range d.Errors {
			all = append(all, string(e["errorCode"]))
		}
	}
	for _, e := range g.Error.Errors {
		all = append(all, e.Reason)
	}
	for _, d := range g.Error.Details {
		all = append(all, d.Reason)
	}
	return slices.DeleteFunc(append(all, g.Error.Status), func(s string) bool { return s == "" })
}

// googleReasons maps error names to classes.
var googleReasons = map[string]Class{
	"NOT_ADS_USER": Dead, "USER_PERMISSION_DENIED": Dead, "insufficientPermissions": Dead,
	"ACCESS_TOKEN_SCOPE_INSUFFICIENT": Dead, "youtubeSignupRequired": Dead,
	"TWO_STEP_VERIFICATION_NOT_ENROLLED": Dead, "ACCOUNT_STATE_INVALID": Dead,
	"authError": Stale, "OAUTH_TOKEN_EXPIRED": Stale, "OAUTH_TOKEN_INVALID": Stale, "OAUTH_TOKEN_REVOKED": Dead,
	"ACCESS_TOKEN_EXPIRED": Stale, "authorizationRequired": Stale,
	"quotaExceeded": Throttled, "rateLimitExceeded": Throttled, "userRateLimitExceeded": Throttled,
	"dailyLimitExceeded": Throttled, "RESOURCE_EXHAUSTED": Throttled,
	"RATE_LIMIT_EXCEEDED": Throttled,
	"accessNotConfigured": Misconfigured, "SERVICE_DISABLED": Misconfigured,
	"DEVELOPER_TOKEN_NOT_APPROVED": Misconfigured, "DEVELOPER_TOKEN_PROHIBITED": Misconfigured,
	"DEVELOPER_TOKEN_INVALID": Misconfigured, "OAUTH_TOKEN_HEADER_INVALID": Misconfigured,
	"CONSUMER_INVALID": Misconfigured, "UNSUPPORTED_VERSION": Misconfigured,
	"backendError": Transient, "INTERNAL": Transient, "UNAVAILABLE": Transient, "DEADLINE_EXCEEDED": Transient,
}

// googleJudge classifies the errors of the APIs and of the token endpoint.
func googleJudge(r Reply) (Class, string) {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(r.Body, &said) == nil {
		switch said.Error {
		case "deleted_client", "disabled_client", "org_internal", "restricted_client", "redirect_uri_mismatch":
			return Misconfigured, said.Error
		case "admin_policy_enforced", "invalid_rapt", "rapt_required":
			return Dead, said.Error
		case "rate_limit_exceeded":
			return Throttled, said.Error
		case "internal_failure", "backend_error":
			return Transient, said.Error
		}
		return "", ""
	}
	var api googleError
	if json.Unmarshal(r.Body, &api) != nil || r.Status < 400 {
		return "", ""
	}
	reasons := api.reasons()
	for _, name := range reasons {
		if class, ok := googleReasons[name]; ok {
			return class, name
		}
	}
	if slices.Contains(reasons, "UNAUTHENTICATED") {
		return Stale, "UNAUTHENTICATED"
	}
	return "", ""
}
